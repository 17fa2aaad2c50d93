#include "db/postgres/error.hpp"

#include <gtest/gtest.h>

namespace tenure::db::postgres {
namespace {

using base::FaultKind;

TEST(PostgresErrors, WhatEndsTheSessionIsALostConnectionAndIsTriedAgain) {
  // No code: libpq's own. 25P03: paused for longer than idle_in_transaction_session_timeout.
  for (const char* sqlstate : {"", "08006", "57P01", "57P02", "57P03", "25006", "25P03"}) {
    EXPECT_EQ(Judge(sqlstate).kind, FaultKind::kStoreUnavailable) << sqlstate;
    EXPECT_TRUE(Judge(sqlstate).connection_is_lost) << sqlstate;
  }
}

TEST(PostgresErrors, WhatPassesIsToldFromWhatDoesNot) {
  EXPECT_EQ(Judge("40001").kind, FaultKind::kSerialization);
  EXPECT_EQ(Judge("40P01").kind, FaultKind::kSerialization);
  EXPECT_EQ(Judge("55P03").kind, FaultKind::kContended);
  EXPECT_EQ(Judge("57014").kind, FaultKind::kContended);
  EXPECT_EQ(Judge("53300").kind, FaultKind::kStoreUnavailable);
  EXPECT_EQ(Judge("23505").kind, FaultKind::kStatement);
  EXPECT_FALSE(Judge("23505").connection_is_lost);
  EXPECT_TRUE(Judge("26000").connection_is_lost) << "a new connection prepares everything again";
}

}  // namespace
}  // namespace tenure::db::postgres
