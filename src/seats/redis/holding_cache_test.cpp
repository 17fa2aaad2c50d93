#include "seats/redis/holding_cache.hpp"

#include <gtest/gtest.h>

namespace tenure::seats {
namespace {

const base::Uuid kLicense = base::Uuid::V7(1);

HoldingFacts FactsAt(std::int64_t revision, std::int64_t slot = 1) {
  return {.license = kLicense,
          .slot = slot,
          .fence = 10 * slot,
          .tenant = "t",
          .person = "ann",
          .ttl_ms = 60'000 + revision,
          .revision = revision};
}

TEST(HoldingCache, WhatWasRememberedIsFound) {
  HoldingCache cache(100);
  const base::Uuid session = base::Uuid::V7(2);
  EXPECT_FALSE(cache.Find(session));
  cache.Remember(session, FactsAt(1, 7));
  const auto found = cache.Find(session);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->slot, 7);
  EXPECT_EQ(found->fence, 70);
  EXPECT_EQ(found->person, "ann");
  EXPECT_EQ(found->tenant, "t");
}

TEST(HoldingCache, AnotherRevisionOfALicenseForgetsAllOfIt) {
  HoldingCache cache(100);
  const base::Uuid one = base::Uuid::V7(2), other = base::Uuid::V7(3);
  cache.Remember(one, FactsAt(1));
  cache.Remember(other, FactsAt(1, 2));
  cache.Learn(kLicense, 1);
  EXPECT_TRUE(cache.Find(one));
  cache.Learn(kLicense, 2);
  EXPECT_FALSE(cache.Find(one));
  EXPECT_FALSE(cache.Find(other));
  cache.Remember(one, FactsAt(2));
  EXPECT_EQ(cache.Find(one)->ttl_ms, 60'002);
  cache.Remember(other, FactsAt(1, 2));
  EXPECT_FALSE(cache.Find(other)) << "it was read before the change";
  cache.Forget(kLicense);
  EXPECT_FALSE(cache.Find(one));
}

TEST(HoldingCache, WhatNobodyAsksForIsForgottenAfterSoManyOthers) {
  HoldingCache cache(10);
  std::vector<base::Uuid> sessions;
  for (int i = 0; i < 30; ++i) {
    sessions.push_back(base::Uuid::V7(100 + i));
    cache.Remember(sessions.back(), FactsAt(1, i + 1));
    EXPECT_TRUE(cache.Find(sessions.front())) << "it is asked for all the time";
  }
  EXPECT_FALSE(cache.Find(sessions[1]));
  EXPECT_TRUE(cache.Find(sessions[29]));
  EXPECT_EQ(cache.Licenses().size(), 1U);
}

}  // namespace
}  // namespace tenure::seats
