#pragma once

#include "tenure/leases/conformance/fixture.hpp"

/// Renewals, and what they never do.
namespace tenure::leases::conformance {

TEST_P(LeaseConformance, TheTtlIsConstantAfterTwentyRenewals) {
  const Grant grant = Take(a_);
  for (int i = 0; i < 20; ++i) {
    const auto renewed = std::get<Grant>(Renew(grant));
    EXPECT_EQ(renewed.ttl, kLong);
    EXPECT_LE(renewed.remaining, kLong);
    EXPECT_LE(renewed.expires_at_ms - renewed.now_ms, kLong.count());
  }
  EXPECT_EQ(Look()->ttl, kLong);
}

TEST_P(LeaseConformance, RenewalsKeepALeaseBeyondItsTtl) {
  const Grant grant = Take(a_, short_ttl());
  for (int i = 0; i < 6; ++i) {
    GetParam().advance(short_ttl() / 2);
    ASSERT_FALSE(LossOf(Renew(grant)).has_value());
  }
  EXPECT_TRUE(Refused(Ask(b_)));
}

TEST_P(LeaseConformance, AnExpiredLeaseCannotBeRenewed) {
  const Grant grant = Take(a_, short_ttl());
  Expire();
  EXPECT_EQ(LossOf(Renew(grant)), LossReason::kExpired);
}

TEST_P(LeaseConformance, OnlyNameFenceAndTermTogetherRenew) {  // L4
  const Grant grant = Take(a_);
  Grant wrong = grant;
  wrong.fence += 1;
  EXPECT_TRUE(LossOf(Renew(wrong)).has_value());
  wrong = grant;
  wrong.term = b_;
  EXPECT_TRUE(LossOf(Renew(wrong)).has_value());
  wrong = grant;
  wrong.name = name_ + "/other";
  EXPECT_EQ(LossOf(Renew(wrong)), LossReason::kUnknown);
  EXPECT_FALSE(LossOf(Renew(grant)).has_value());
}

TEST_P(LeaseConformance, BulkRenewalAnswersEachInItsOrder) {
  const std::string names[] = {name_ + "/3", name_ + "/1", name_ + "/2"};
  std::vector<RenewRequest> requests;
  for (const std::string& name : names) {
    const auto grant = std::get<Grant>(
        connection().Acquire({.name = name, .term = NewTerm(), .ttl = kLong}, kTimeout));
    requests.push_back({.name = name, .fence = grant.fence, .term = grant.term});
  }
  requests[1].term = NewTerm();
  const auto outcomes = connection().Renew(requests, kTimeout);
  ASSERT_EQ(outcomes.size(), 3U);
  EXPECT_EQ(std::get<Grant>(outcomes[0]).name, names[0]);
  EXPECT_TRUE(LossOf(outcomes[1]).has_value());
  EXPECT_EQ(std::get<Grant>(outcomes[2]).name, names[2]);
  EXPECT_TRUE(connection().Renew({}, kTimeout).empty());
}

TEST_P(LeaseConformance, ALostReplyOfARenewalIsNoLoss) {
  const Grant grant = Take(a_);
  const RenewRequest request{.name = name_, .fence = grant.fence, .term = a_};
  // A renewal over another connection is to this one what a reply is that never came: the store
  // has moved on by our own doing. Whoever compares versions has to see whose write it was.
  const auto other = Another();
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(LossOf(other->Renew({&request, 1}, kTimeout).at(0)).has_value());
    EXPECT_FALSE(LossOf(Renew(grant)).has_value());
  }
  EXPECT_EQ(Look()->fence, grant.fence);
}

TEST_P(LeaseConformance, ADelayedRenewalGivesNobodyTwo) {  // L1
  const Grant late = Take(a_, short_ttl());
  Expire();
  // A renewal that arrives after the deadline is refused, or it is granted while nobody else is.
  const bool renewed = !LossOf(Renew(late)).has_value();
  const AcquireOutcome next = Ask(b_);
  EXPECT_NE(renewed, Granted(next));
  if (!Granted(next)) return;
  EXPECT_GT(std::get<Grant>(next).fence, late.fence);
  EXPECT_TRUE(LossOf(Renew(late)).has_value()) << "and never after a takeover";
  EXPECT_FALSE(LossOf(Renew(std::get<Grant>(next))).has_value());
}

}  // namespace tenure::leases::conformance
