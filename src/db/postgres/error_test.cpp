#include "db/postgres/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::db::postgres {
namespace {

using base::FaultKind;

TEST(PostgresErrors, WhatEndsTheSessionIsALostConnectionAndIsTriedAgain) {
  // No code: libpq's own. 25P03: paused for longer than idle_in_transaction_session_timeout.
  for (const char* sqlstate : {"", "08006", "57P01", "57P02", "57P03", "25006", "25P03"}) {
    EXPECT_EQ(Classify(sqlstate).kind, FaultKind::kStoreUnavailable) << sqlstate;
    EXPECT_TRUE(Classify(sqlstate).connection_is_lost) << sqlstate;
  }
}

TEST(PostgresErrors, WhatPassesIsToldFromWhatDoesNot) {
  EXPECT_EQ(Classify("40001").kind, FaultKind::kSerialization);
  EXPECT_EQ(Classify("40P01").kind, FaultKind::kSerialization);
  EXPECT_EQ(Classify("55P03").kind, FaultKind::kContended);
  EXPECT_EQ(Classify("57014").kind, FaultKind::kContended);
  EXPECT_EQ(Classify("53300").kind, FaultKind::kStoreUnavailable);
  EXPECT_EQ(Classify("23505").kind, FaultKind::kStatement);
  EXPECT_FALSE(Classify("23505").connection_is_lost);
  EXPECT_TRUE(Classify("26000").connection_is_lost) << "a new connection prepares everything again";
}

TEST(PostgresErrors, WhoLacksARightIsToldWhichAndHowItIsGiven) {
  EXPECT_EQ(Classify("42501").kind, FaultKind::kDenied);
  EXPECT_FALSE(Classify("42501").connection_is_lost);
  using testing::HasSubstr;
  using testing::Not;
  const std::string function = DeniedText("ERROR:  permission denied for function enqueue", "shop");
  EXPECT_THAT(function, HasSubstr("permission denied for function enqueue\nThe role shop lacks"));
  EXPECT_THAT(function, HasSubstr("`tenure migrate --grant shop`"));
  EXPECT_THAT(function, Not(HasSubstr("on all tables")));
  const std::string table = DeniedText("ERROR:  permission denied for table leases", "shop");
  EXPECT_THAT(table, HasSubstr("update, delete on all tables in schema tenure to shop"));
  EXPECT_THAT(DeniedText("ERROR:  permission denied for database app", "shop"),
              HasSubstr("`tenure migrate`, run once"));
}

}  // namespace
}  // namespace tenure::db::postgres
