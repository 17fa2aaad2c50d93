#pragma once

#include "tenure/leases/conformance/fixture.hpp"

/// How a grant ends: released, broken, or with a store that crashed.
namespace tenure::leases::conformance {

// ---- crashes of the store

TEST_P(LeaseConformance, AGrantSurvivesAKilledStore) {  // L1
  if (!GetParam().kill) GTEST_SKIP() << "it is not killed here";
  if (!guarantees().durable_grant) GTEST_SKIP() << "it may forget";
  const Grant grant = Take(a_);
  GetParam().kill();
  EXPECT_TRUE(Refused(AskUntilAnswered(b_)));
  const auto renewed = Renew(grant);
  ASSERT_FALSE(LossOf(renewed).has_value());
  EXPECT_EQ(std::get<Grant>(renewed).fence, grant.fence);
}

TEST_P(LeaseConformance, NothingIsGrantedUntilWhatWasForgottenHasExpired) {  // L1
  if (!GetParam().kill) GTEST_SKIP() << "it is not killed here";
  if (guarantees().durable_grant) GTEST_SKIP() << "it forgets nothing";
  Take(a_, short_ttl());
  GetParam().kill();
  // Its holder, of whom the store knows nothing any more, still believes in it.
  const AcquireOutcome outcome = AskUntilAnswered(b_, short_ttl());
  ASSERT_TRUE(Refused(outcome));
  EXPECT_GT(std::get<HeldByAnother>(outcome).retry_after, Milliseconds(0));
}

TEST_P(LeaseConformance, FencesRiseAlsoWhenTheStoreForgotEverything) {  // L2
  if (!GetParam().forget) GTEST_SKIP() << "it forgets nothing here";
  const Grant before = Take(a_);
  GetParam().forget();
  const AcquireOutcome after = AskUntilAnswered(b_, short_ttl());
  ASSERT_TRUE(Granted(after));
  EXPECT_GT(std::get<Grant>(after).fence, before.fence);
}

// ---- releases

TEST_P(LeaseConformance, AReleaseFreesTheNameAndKeepsTheFence) {
  const Grant grant = Take(a_);
  EXPECT_TRUE(Release(grant).released);
  const auto view = Look();
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(view->state, LeaseState::kFree);
  EXPECT_EQ(view->fence, grant.fence);
  EXPECT_EQ(LossOf(Renew(grant)), LossReason::kReleased);
  EXPECT_GT(Take(b_).fence, grant.fence);
}

TEST_P(LeaseConformance, ASecondReleaseIsAHarmlessNoOp) {  // L4
  const Grant grant = Take(a_);
  EXPECT_TRUE(Release(grant).released);
  const auto again = Release(grant);
  EXPECT_FALSE(again.released);
  EXPECT_EQ(again.reason, LossReason::kReleased);
  const Grant next = Take(b_);
  EXPECT_FALSE(Release(grant).released);
  EXPECT_FALSE(LossOf(Renew(next)).has_value());
}

TEST_P(LeaseConformance, AReleaseByAStrangerChangesNothingAndSaysSo) {  // L4
  const Grant grant = Take(a_);
  const auto outcome = connection().Release({.name = name_, .term = b_}, kTimeout);
  EXPECT_FALSE(outcome.released);
  EXPECT_EQ(outcome.reason, LossReason::kUnknown);
  EXPECT_FALSE(connection()
                   .Release({.name = name_, .term = a_, .fence = grant.fence + 1}, kTimeout)
                   .released);
  EXPECT_FALSE(connection().Release({.name = name_ + "/no", .term = a_}, kTimeout).released);
  EXPECT_FALSE(LossOf(Renew(grant)).has_value());
}

TEST_P(LeaseConformance, TheTermAloneReleases) {  // the reply with the fence was lost
  Take(a_);
  EXPECT_TRUE(connection().Release({.name = name_, .term = a_}, kTimeout).released);
  EXPECT_TRUE(Granted(Ask(b_)));
}

// ---- breaks

TEST_P(LeaseConformance, ABreakRefusesRenewalsAtOnceAndGrantsAfterTheDeadline) {
  const Grant grant = Take(a_, short_ttl());
  const auto outcome = connection().Break({.name = name_, .reason = "stuck"}, kTimeout);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_TRUE(outcome->broken);
  EXPECT_EQ(outcome->fence, grant.fence);
  EXPECT_EQ(outcome->holder, "h-" + a_);
  EXPECT_EQ(LossOf(Renew(grant)), LossReason::kBroken);
  Expire();
  EXPECT_GT(Take(b_).fence, grant.fence);
}

TEST_P(LeaseConformance, ABrokenLeaseIsNotGrantedBeforeItsDeadline) {
  Take(a_);
  connection().Break({.name = name_, .reason = "stuck"}, kTimeout);
  EXPECT_TRUE(Refused(Ask(b_)));
  EXPECT_EQ(Look()->state, LeaseState::kBroken);
  EXPECT_EQ(Look()->break_reason, "stuck");
}

TEST_P(LeaseConformance, ADrainTimeDelaysTheNextGrant) {
  Take(a_, short_ttl());
  connection().Break({.name = name_, .reason = "stuck", .drain = kLong}, kTimeout);
  Expire();
  EXPECT_TRUE(Refused(Ask(b_)));
}

TEST_P(LeaseConformance, AForcedBreakGrantsAtOnce) {
  const Grant grant = Take(a_);
  ASSERT_TRUE(
      connection().Break({.name = name_, .reason = "dead", .force = true}, kTimeout)->broken);
  EXPECT_GT(Take(b_).fence, grant.fence);
  EXPECT_TRUE(LossOf(Renew(grant)).has_value());
}

TEST_P(LeaseConformance, ABreakOfAnotherFenceBreaksNothing) {
  const Grant grant = Take(a_);
  const auto outcome = connection().Break(
      {.name = name_, .reason = "late", .force = true, .fence = grant.fence + 1}, kTimeout);
  EXPECT_FALSE(outcome && outcome->broken);
  EXPECT_FALSE(LossOf(Renew(grant)).has_value());
}

TEST_P(LeaseConformance, BreakingWhatNobodyHoldsBreaksNothing) {
  EXPECT_FALSE(connection().Break({.name = name_, .reason = "?"}, kTimeout).has_value());
  Release(Take(a_));
  const auto outcome = connection().Break({.name = name_, .reason = "?"}, kTimeout);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_FALSE(outcome->broken);
  EXPECT_TRUE(Granted(Ask(b_)));
}

}  // namespace tenure::leases::conformance
