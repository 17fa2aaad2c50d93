#pragma once

#include "tenure/leases/conformance/fixture.hpp"

/// Who is granted a name, and who is not.
namespace tenure::leases::conformance {

TEST_P(LeaseConformance, AGrantSaysWhatWasAskedFor) {
  const auto outcome = connection().Acquire(
      {.name = name_, .term = a_, .ttl = kLong, .holder = "host:1", .metadata = R"({"zone":"b"})"},
      kTimeout);
  ASSERT_TRUE(Granted(outcome));
  const auto& grant = std::get<Grant>(outcome);
  EXPECT_EQ(grant.name, name_);
  EXPECT_EQ(grant.term, a_);
  EXPECT_EQ(grant.holder, "host:1");
  EXPECT_EQ(grant.ttl, kLong);
  EXPECT_GT(grant.fence, 0);
  EXPECT_GT(grant.remaining, Milliseconds(0));
  EXPECT_LE(grant.remaining, kLong);
  EXPECT_GE(grant.waited, Milliseconds(0));
  EXPECT_EQ(grant.expires_at_ms - grant.now_ms, grant.remaining.count());
}

TEST_P(LeaseConformance, WhatIsHeldIsNotGrantedToAnother) {  // L1
  const Grant first = Take(a_);
  const auto outcome = Ask(b_);
  ASSERT_TRUE(Refused(outcome));
  const auto& held = std::get<HeldByAnother>(outcome);
  EXPECT_EQ(held.reason, HeldReason::kHeld);
  EXPECT_EQ(held.holder, "h-" + a_);
  EXPECT_EQ(held.fence, first.fence);
  EXPECT_GT(held.retry_after, Milliseconds(0));
}

TEST_P(LeaseConformance, OfManyWhoAskAtOnceOneIsGranted) {  // L1
  constexpr int kAskers = 8;
  std::atomic<int> granted = 0;
  std::vector<std::thread> askers;
  for (int i = 0; i < kAskers; ++i)
    askers.emplace_back([&, mine = Another()] {
      if (Granted(mine->Acquire({.name = name_, .term = NewTerm(), .ttl = kLong}, kTimeout)))
        ++granted;
    });
  for (auto& asker : askers) asker.join();
  EXPECT_EQ(granted, 1);
}

TEST_P(LeaseConformance, TwoProcessesOfOneHostAreTwoHolders) {
  const auto other = GetParam().open();
  const auto theirs = other->Connect();
  const AcquireRequest ours{.name = name_, .term = a_, .ttl = kLong, .holder = "same-host"};
  AcquireRequest second = ours;
  second.term = b_;
  const auto grant = std::get<Grant>(connection().Acquire(ours, kTimeout));
  EXPECT_TRUE(Refused(theirs->Acquire(second, kTimeout)));
  const RenewRequest stolen{.name = name_, .fence = grant.fence, .term = b_};
  EXPECT_TRUE(LossOf(theirs->Renew({&stolen, 1}, kTimeout).at(0)).has_value());
  EXPECT_FALSE(theirs->Release({.name = name_, .term = b_}, kTimeout).released);
  EXPECT_FALSE(LossOf(Renew(grant)).has_value());
}

TEST_P(LeaseConformance, FencesRiseOverReleaseExpiryAndBreak) {  // L2
  const Grant released = Take(a_);
  Release(released);
  const Grant expired = Take(b_, short_ttl());
  EXPECT_GT(expired.fence, released.fence);
  Expire();
  const Grant broken = Take(c_);
  EXPECT_GT(broken.fence, expired.fence);
  connection().Break({.name = name_, .reason = "test", .force = true}, kTimeout);
  EXPECT_GT(Take(NewTerm()).fence, broken.fence);
}

TEST_P(LeaseConformance, ARenewalKeepsTheFence) {
  const Grant grant = Take(a_);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(std::get<Grant>(Renew(grant)).fence, grant.fence);
}

TEST_P(LeaseConformance, AcquiringAgainWithTheLiveTermIsTheSameGrant) {  // a lost reply is repeated
  const Grant first = Take(a_);
  const Grant again = Take(a_);
  EXPECT_EQ(again.fence, first.fence);
  EXPECT_EQ(again.granted_at_ms, first.granted_at_ms);
  EXPECT_TRUE(Refused(Ask(b_)));
}

TEST_P(LeaseConformance, AcquiringAgainRestartsTheDeadline) {
  Take(a_, short_ttl());
  for (int i = 0; i < 4; ++i) {
    GetParam().advance(short_ttl() / 2);
    ASSERT_TRUE(Granted(Ask(a_, short_ttl())));
  }
}

TEST_P(LeaseConformance, ATermThatWasReleasedIsNeverGrantedAgain) {
  Release(Take(a_));
  EXPECT_TRUE(Ended(Ask(a_)));
  Release(Take(b_));
  EXPECT_TRUE(Ended(Ask(a_)));
}

TEST_P(LeaseConformance, ATermThatExpiredIsNeverGrantedAgain) {
  Take(a_, short_ttl());
  Expire();
  EXPECT_TRUE(Ended(Ask(a_)));
  Take(b_);
  EXPECT_FALSE(Granted(Ask(a_)));
}

TEST_P(LeaseConformance, ATermThatWasBrokenIsNeverGrantedAgain) {
  Take(a_, short_ttl());
  connection().Break({.name = name_, .reason = "test"}, kTimeout);
  EXPECT_FALSE(Granted(Ask(a_)));
  Expire();
  EXPECT_FALSE(Granted(Ask(a_)));
}

TEST_P(LeaseConformance, WhatExpiredIsGrantedToAnother) {
  const Grant first = Take(a_, short_ttl());
  Expire();
  const Grant second = Take(b_);
  EXPECT_GT(second.fence, first.fence);
  const auto loss = LossOf(Renew(first));
  ASSERT_TRUE(loss.has_value());
  EXPECT_TRUE(*loss == LossReason::kTakenOver || *loss == LossReason::kExpired);
  EXPECT_FALSE(LossOf(Renew(second)).has_value()) << "the zombie has changed nothing";
}

}  // namespace tenure::leases::conformance
