// A manager without threads, driven by hand on a virtual clock: what it does when.

#include "tenure/leases/manager.hpp"

#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/leases/test/world.hpp"

namespace tenure::leases {
namespace {

using client::test::Call;
using client::test::MemoryStore;
using client::test::Op;
using client::test::World;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;

class ManagerTest : public ::testing::Test {
 protected:
  World world;
};

const LeaseOptions kTenSeconds{.ttl = Milliseconds(10'000)};

TEST_F(ManagerTest, AHeldLeaseIsHeldFromTheFirstMoment) {  // nothing runs before all stands
  const Lease lease = world.Get("a", kTenSeconds);
  EXPECT_TRUE(lease.Held());
  EXPECT_EQ(lease.state(), HoldState::kHeld);
  EXPECT_EQ(lease.fence(), 1);
  EXPECT_EQ(lease.name(), "a");
  EXPECT_EQ(lease.Remaining(), Milliseconds(9'000));
  EXPECT_EQ(lease.grant().ttl, Milliseconds(10'000));
  EXPECT_FALSE(lease.token().stop_requested());
  EXPECT_NO_THROW(lease.ThrowIfLost());
}

TEST(Manager, ADefaultLeaseHoldsNothing) {
  Lease lease;
  EXPECT_FALSE(lease.Held());
  EXPECT_FALSE(lease.TryRenewNow());
  EXPECT_FALSE(lease.Close().released);
  EXPECT_EQ(lease.Remaining(), Milliseconds(0));
  EXPECT_THROW(lease.ThrowIfLost(), LostError);
}

TEST_F(ManagerTest, SomebodyElsesLeaseIsAValueAndNotAnError) {
  const Lease lease = world.Get("a", kTenSeconds);
  const auto outcome = world.manager->TryAcquire("a");
  const auto& held = std::get<HeldByAnother>(outcome);
  EXPECT_EQ(held.fence, 1);
  EXPECT_EQ(held.reason, HeldReason::kHeld);
  EXPECT_EQ(held.retry_after, Milliseconds(10'000));
  EXPECT_THROW(world.manager->Acquire("a", Milliseconds(0)), ConflictError);
}

TEST_F(ManagerTest, ADayOfRenewalsKeepsTheLease) {
  int renewed = 0;
  const Lease lease = world.Get("a", kTenSeconds, {.renewed = [&](const Renewed&) { ++renewed; }});
  for (int minute = 0; minute < 24 * 60; ++minute) {
    world.Run(60'000);
    ASSERT_TRUE(lease.Held());
    ASSERT_EQ(lease.state(), HoldState::kHeld);
  }
  EXPECT_EQ(lease.fence(), 1);
  const int renewals = world.store->Count(Op::kRenew);
  EXPECT_EQ(renewed, renewals);
  // One per third of the ttl, up to 15 % earlier.
  EXPECT_THAT(renewals, AllOf(Ge(86'400 / 3.334), Le(86'400 / 2.8)));
  EXPECT_EQ(world.Look("a").expires_at_ms - world.Look("a").renewed_at_ms, 10'000);
}

TEST_F(ManagerTest, TwoRenewalsInARowHappenAndNoneIsSkipped) {
  const Lease lease = world.Get("a", kTenSeconds);
  world.store->after = [&](const Call& call) {
    if (call.op == Op::kRenew) world.clock.Advance(30);  // answers take their time
  };
  world.Run(3'400);
  EXPECT_EQ(world.store->Count(Op::kRenew), 1);
  world.Run(3'400);
  EXPECT_EQ(world.store->Count(Op::kRenew), 2);
  world.Run(3'400);
  EXPECT_EQ(world.store->Count(Op::kRenew), 3);
  EXPECT_TRUE(lease.Held());
}

TEST_F(ManagerTest, WhatARoundAnsweredInPartCountsForEachByItself) {
  const Lease lost = world.Get("a", kTenSeconds);
  const Lease failed = world.Get("b", kTenSeconds);
  world.store->before = World::First(Op::kRenew, 1, [](const Call& call) {
    PartlyRenewed::Answers answers(call.names.size());
    for (std::size_t i = 0; i < call.names.size(); ++i)
      if (call.names[i] == "a") answers[i] = Loss{LossReason::kBroken};
    throw PartlyRenewed("one of them", {.lease = "b"}, std::move(answers));
  });
  while (world.store->Count(Op::kRenew) == 0) world.Run(10);
  EXPECT_EQ(lost.state(), HoldState::kLost);
  EXPECT_EQ(failed.state(), HoldState::kJeopardy);
  world.Run(5'000);
  EXPECT_EQ(failed.state(), HoldState::kHeld);
}

TEST_F(ManagerTest, ALossIsToldOnceWithItsReasonAndTheTokenIsRequested) {
  std::vector<Lost> told;
  const Lease lease =
      world.Get("a", kTenSeconds, {.lost = [&](const Lost& lost) { told.push_back(lost); }});
  world.store->before = [](const Call& call) { call.Fail(); };
  world.Run(8'999);
  EXPECT_TRUE(lease.Held());
  EXPECT_EQ(lease.state(), HoldState::kJeopardy);
  EXPECT_FALSE(lease.token().stop_requested());
  world.Run(1);
  EXPECT_FALSE(lease.Held());
  EXPECT_TRUE(lease.token().stop_requested());
  world.Run(60'000);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].verdict, std::nullopt);
  EXPECT_EQ(told[0].since_last_success, Milliseconds(9'000));
  EXPECT_EQ(lease.state(), HoldState::kLost);
  EXPECT_THROW(lease.ThrowIfLost(), LostError);
}

TEST_F(ManagerTest, ADefiniteLossIsToldWithOneRoundTrip) {
  std::vector<Lost> told;
  const Lease lease =
      world.Get("a", kTenSeconds, {.lost = [&](const Lost& lost) { told.push_back(lost); }});
  ASSERT_TRUE(world.manager->Break({.name = "a", .reason = "stuck"})->broken);
  world.Run(3'400);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].verdict, LossReason::kBroken);
  EXPECT_FALSE(lease.Held());
  EXPECT_EQ(world.store->Count(Op::kRenew), 1) << "a definite loss is not tried again";
}

TEST_F(ManagerTest, OneBlipDoesNotCostTheLease) {
  std::vector<RenewalFailed> failures;
  const Lease lease = world.Get(
      "a", kTenSeconds, {.renewal_failed = [&](const RenewalFailed& f) { failures.push_back(f); }});
  world.FailFirst(Op::kRenew, 2);
  world.Run(5'000);
  EXPECT_EQ(lease.state(), HoldState::kHeld);
  ASSERT_EQ(failures.size(), 2U);
  EXPECT_EQ(failures[1].attempt, 2);
  EXPECT_THAT(failures[0].error, HasSubstr("does not answer"));
  EXPECT_EQ(world.store->Count(Op::kRenew), 3);
}

TEST(Manager, EveryTryToRenewIsToldToWhoeverTraces) {
  std::vector<AutoRenewal> told;
  World world;
  world.manager->OnAutoRenewal([&](const AutoRenewal& renewal) { told.push_back(renewal); });
  const Lease lease = world.Get("a", kTenSeconds);
  int blips = 1;
  world.store->before = [&](const Call& call) {
    if (call.op != Op::kRenew) return;
    world.clock.Advance(20);
    if (blips-- > 0) call.Fail();
  };
  const std::int64_t start_ms = world.clock.NowMs();
  world.Run(4'000);
  ASSERT_TRUE(world.manager->Break({.name = "a", .reason = "stuck"})->broken);
  world.Run(4'000);
  ASSERT_EQ(told.size(), 3U);
  EXPECT_EQ(told[0].result, "failed");
  EXPECT_THAT(told[0].error, HasSubstr("does not answer"));
  EXPECT_EQ(told[1].result, "renewed");
  EXPECT_EQ(told[1].error, "");
  EXPECT_EQ(told[2].result, "lost:broken");
  for (const AutoRenewal& renewal : told) {
    EXPECT_EQ(renewal.lease, "a");
    EXPECT_EQ(renewal.fence, 1);
    EXPECT_EQ(renewal.term, lease.term());
    EXPECT_EQ(renewal.duration, Milliseconds(20));
    EXPECT_GT(renewal.started_ms, start_ms);
  }
}

TEST_F(ManagerTest, ALostReplyOfARenewalIsNoLoss) {
  const Lease lease = world.Get("a", kTenSeconds);
  world.LoseFirst(Op::kRenew, 1);
  world.Run(60'000);
  EXPECT_EQ(lease.state(), HoldState::kHeld);
  EXPECT_EQ(lease.fence(), 1);
}

TEST_F(ManagerTest, ASuccessThatArrivesAfterTheDeadlineDoesNotResurrect) {
  int told = 0;
  const Lease lease = world.Get("a", kTenSeconds, {.lost = [&](const Lost&) { ++told; }});
  world.store->after = [&](const Call& call) {
    if (call.op == Op::kRenew) world.clock.Advance(7'000);
  };
  world.Run(20'000);
  EXPECT_FALSE(lease.Held());
  EXPECT_EQ(lease.state(), HoldState::kLost);
  EXPECT_EQ(told, 1);
}

TEST_F(ManagerTest, HeldTurnsFalseBeforeTheStoreGrantsToAnother) {  // L3
  World other;
  const Lease lease = world.Get("a", kTenSeconds);
  // Nobody runs the manager: the process hangs. The comparison alone must do.
  world.clock.Advance(8'999);
  EXPECT_TRUE(lease.Held());
  world.clock.Advance(1);
  EXPECT_FALSE(lease.Held());
  EXPECT_THROW(lease.ThrowIfLost(), LostError);
  EXPECT_TRUE(std::holds_alternative<HeldByAnother>(world.manager->TryAcquire("a")));
  world.clock.Advance(1'000);
  EXPECT_TRUE(std::holds_alternative<Lease>(world.manager->TryAcquire("a")));
}

TEST_F(ManagerTest, DestructionReleasesInTheBackground) {
  { const Lease lease = world.Get("a", kTenSeconds); }
  EXPECT_EQ(world.store->Count(Op::kRelease), 0) << "the destructor makes no call";
  world.manager->RunDue();
  EXPECT_EQ(world.Look("a").state, LeaseState::kFree);
}

TEST_F(ManagerTest, AReleaseThatFailsIsTriedAgainUntilTheLeaseHasEnded) {
  world.FailFirst(Op::kRelease, 3);
  { const Lease lease = world.Get("a", kTenSeconds); }
  world.Run(2'000);
  EXPECT_EQ(world.store->Count(Op::kRelease), 4);
  EXPECT_EQ(world.Look("a").state, LeaseState::kFree);
  world.FailFirst(Op::kRelease);
  { const Lease lease = world.Get("b", kTenSeconds); }
  world.Run(60'000);
  EXPECT_LT(world.store->Count(Op::kRelease), 20);
}

TEST_F(ManagerTest, DestroyingTheManagerSendsTheReleasesThatWait) {
  { const Lease lease = world.Get("a", kTenSeconds); }
  world.manager = nullptr;
  EXPECT_EQ(world.Look("a").state, LeaseState::kFree);
}

TEST_F(ManagerTest, ALeaseOutlivesItsManagerUntilItsDeadline) {
  Lease lease = world.Get("a", kTenSeconds);
  world.manager = nullptr;
  EXPECT_TRUE(lease.token().stop_requested()) << "nobody watches the deadline any more";
  EXPECT_TRUE(lease.Held());
  EXPECT_FALSE(lease.TryRenewNow());
  EXPECT_TRUE(lease.Held());
  world.clock.Advance(9'000);
  EXPECT_FALSE(lease.Held());
  EXPECT_EQ(lease.state(), HoldState::kLost);
  EXPECT_THROW(lease.Close(), ProviderUnavailable);
}

TEST_F(ManagerTest, CloseReleasesAndReports) {
  Lease lease = world.Get("a", kTenSeconds);
  EXPECT_TRUE(lease.Close().released);
  EXPECT_FALSE(lease.Held());
  EXPECT_EQ(lease.state(), HoldState::kReleased);
  EXPECT_TRUE(lease.token().stop_requested());
  EXPECT_EQ(lease.loss(), std::nullopt);
  const auto again = lease.Close();
  EXPECT_FALSE(again.released);
  EXPECT_EQ(again.reason, LossReason::kReleased);
  world.Run(60'000);
  EXPECT_EQ(world.store->Count(Op::kRenew), 0);
  EXPECT_EQ(world.store->Count(Op::kRelease), 1);
}

TEST_F(ManagerTest, CloseCanBeRepeatedWhenTheStoreDidNotAnswer) {
  Lease lease = world.Get("a", kTenSeconds);
  world.FailFirst(Op::kRelease, 1);
  EXPECT_THROW(lease.Close(), ProviderUnavailable);
  EXPECT_FALSE(lease.Held()) << "nothing is held, whatever the store knows";
  EXPECT_TRUE(lease.Close().released);
}

TEST_F(ManagerTest, ARenewalBesideAReleaseIsNoLoss) {
  int told = 0;
  Lease lease = world.Get("a", kTenSeconds, {.lost = [&](const Lost&) { ++told; }});
  world.store->before = [&](const Call& call) {
    if (call.op == Op::kRenew) lease.Close();  // the release overtakes a renewal on the wire
  };
  world.Run(20'000);
  EXPECT_EQ(told, 0);
  EXPECT_EQ(lease.state(), HoldState::kReleased);
  EXPECT_EQ(world.store->Count(Op::kRenew), 1);
}

TEST_F(ManagerTest, ActiveLeasesAreCountedRightAfterALoss) {
  const Lease a = world.Get("a", kTenSeconds);
  {
    const Lease b = world.Get("b", kTenSeconds);
    EXPECT_EQ(world.manager->stats().active, 2);
  }
  EXPECT_EQ(world.manager->stats().active, 1);
  world.store->before = [](const Call& call) { call.Fail(); };
  world.Run(9'000);
  EXPECT_EQ(world.manager->stats().active, 0);
  EXPECT_EQ(world.manager->stats().lost, 1);
  EXPECT_EQ(world.manager->stats().acquired, 2);
}

TEST_F(ManagerTest, ALateLossIsStillReleasedByTheDestructor) {
  {
    const Lease lease = world.Get("a", kTenSeconds);
    world.store->after = [&](const Call& call) {
      if (call.op == Op::kRenew) world.clock.Advance(7'000);  // renewed, and too late for us
    };
    world.Run(10'000);
    EXPECT_FALSE(lease.Held());
    EXPECT_EQ(world.Look("a").state, LeaseState::kHeld);
  }
  world.manager->RunDue();
  EXPECT_EQ(world.Look("a").state, LeaseState::kFree);
}

TEST_F(ManagerTest, ALostReplyOfAnAcquisitionIsRepeatedWithTheSameTerm) {
  world.LoseFirst(Op::kAcquire, 1);
  EXPECT_EQ(world.Get("a", kTenSeconds).fence(), 1);
  const auto terms = world.store->acquired_terms();
  ASSERT_EQ(terms.size(), 2U);
  EXPECT_EQ(terms[0], terms[1]);
}

TEST_F(ManagerTest, AnAcquisitionThatWasGivenUpLeavesNoOrphan) {
  world.LoseFirst(Op::kAcquire);
  EXPECT_THROW(world.manager->TryAcquire("a", kTenSeconds), ProviderUnavailable);
  EXPECT_EQ(world.Look("a").state, LeaseState::kHeld);
  world.manager->RunDue();
  EXPECT_EQ(world.Look("a").state, LeaseState::kFree);
}

TEST_F(ManagerTest, ATermThatEndedUnheardOfIsReplacedByANewOne) {
  int losses = 1;
  world.store->after = [&](const Call& call) {
    if (call.op != Op::kAcquire || losses-- <= 0) return;
    world.clock.Advance(60'000);  // the grant expires before we hear of it
    call.LoseReply();
  };
  const auto outcome = world.manager->TryAcquire("a", kTenSeconds);
  EXPECT_EQ(std::get<Lease>(outcome).fence(), 2);
  const auto terms = world.store->acquired_terms();
  ASSERT_EQ(terms.size(), 3U);
  EXPECT_EQ(terms[0], terms[1]);
  EXPECT_NE(terms[1], terms[2]);
}

TEST_F(ManagerTest, AGrantThatArrivesTooLateIsAskedForAgain) {
  int slow = 1;
  world.store->after = [&](const Call& call) {
    if (call.op == Op::kAcquire && slow-- > 0) world.clock.Advance(9'500);
  };
  const auto lease = world.Get("a", kTenSeconds);
  EXPECT_EQ(lease.fence(), 1);
  EXPECT_EQ(lease.Remaining(), Milliseconds(9'000));
}

TEST_F(ManagerTest, AStoreThatIsAlwaysSlowerThanTheLeaseIsAnErrorAndNoLease) {
  world.store->after = [&](const Call& call) {
    if (call.op == Op::kAcquire) world.clock.Advance(9'500);
  };
  EXPECT_THROW(world.manager->TryAcquire("a", kTenSeconds), AcquisitionError);
  world.manager->RunDue();
  EXPECT_EQ(world.Look("a").state, LeaseState::kFree);
}

TEST_F(ManagerTest, LeasesThatBeganTogetherAreRenewedTogether) {
  std::vector<Lease> leases;
  for (int i = 0; i < 50; ++i) leases.push_back(world.Get("a" + std::to_string(i), kTenSeconds));
  world.Run(3'400);
  EXPECT_THAT(world.store->rounds(), ElementsAre(50));
  world.Run(3'400);
  EXPECT_THAT(world.store->rounds(), ElementsAre(50, 50));
}

TEST_F(ManagerTest, ACallForPatientLeasesLeavesTimeForAnImpatientOne) {
  const Lease patient = world.Get("patient", {.ttl = kMaxTtl, .renew_at = 1e-6, .jitter = 0});
  const Lease impatient = world.Get("impatient", {.ttl = Milliseconds(1'000)});
  world.store->before = [&](const Call& call) {
    if (call.op != Op::kRenew || call.names != std::vector<std::string>{"patient"}) return;
    EXPECT_LE(call.timeout, Milliseconds(125));
    world.clock.Advance(call.timeout.count());
    call.Fail();
  };
  world.Run(10'000);
  EXPECT_TRUE(impatient.Held());
  EXPECT_TRUE(patient.Held());
}

TEST_F(ManagerTest, TryRenewNowRestartsTheDeadline) {
  Lease lease = world.Get("a", {.ttl = Milliseconds(10'000), .auto_renew = false});
  world.Run(8'000);
  EXPECT_TRUE(lease.TryRenewNow());
  EXPECT_EQ(lease.Remaining(), Milliseconds(9'000));
  world.store->before = [](const Call& call) { call.Fail(); };
  EXPECT_FALSE(lease.TryRenewNow());
  EXPECT_EQ(lease.state(), HoldState::kJeopardy);
  world.Run(9'000);
  EXPECT_FALSE(lease.TryRenewNow());
  EXPECT_EQ(lease.state(), HoldState::kLost);
}

TEST_F(ManagerTest, AJumpOfTheStoresClockIsJeopardyForAllItsLeases) {
  const Lease soon = world.Get("a", kTenSeconds);
  world.clock.Advance(2'000);
  const Lease later = world.Get("b", kTenSeconds);
  world.store->StepClock(700);
  world.Run(1'400);  // "a" is renewed, and its answer shows the jump
  EXPECT_GE(world.manager->stats().clock_gains, 2);
  EXPECT_TRUE(later.Held());
  world.Run(200);
  EXPECT_EQ(soon.state(), HoldState::kHeld);
  EXPECT_EQ(later.state(), HoldState::kHeld) << "renewed at once";
}

TEST_F(ManagerTest, AThrowingHandlerHarmsNobody) {
  int told = 0;
  const Lease a = world.Get("a", kTenSeconds, {.renewed = [](const Renewed&) { throw 42; }});
  const Lease b = world.Get("b", kTenSeconds, {.renewed = [&](const Renewed&) {
                              ++told;
                              throw std::runtime_error("no");
                            }});
  world.Run(60'000);
  EXPECT_TRUE(a.Held());
  EXPECT_TRUE(b.Held());
  EXPECT_GT(told, 15);
}

TEST_F(ManagerTest, AHandlerMayEndItsOwnLease) {
  Lease lease;
  lease = world.Get("a", kTenSeconds, {.lost = [&](const Lost&) { lease = Lease(); }});
  world.store->before = [](const Call& call) { call.Fail(); };
  world.Run(20'000);
  EXPECT_EQ(lease.name(), "");
}

TEST_F(ManagerTest, MovingALeaseReleasesWhatWasThere) {
  Lease a = world.Get("a", kTenSeconds);
  a = world.Get("b", kTenSeconds);
  world.manager->RunDue();
  EXPECT_EQ(world.Look("a").state, LeaseState::kFree);
  EXPECT_EQ(world.Look("b").state, LeaseState::kHeld);
  Lease c = std::move(a);
  EXPECT_TRUE(c.Held());
  EXPECT_FALSE(a.Held());  // NOLINT(bugprone-use-after-move): it holds nothing
}

TEST(Manager, AProviderThatGivesLessThanNeededIsRefusedAtTheStart) {
  testing::VirtualClock clock;
  const auto store = std::make_shared<MemoryStore>(clock);
  store->guarantees.durable_fence = false;
  try {
    const Manager manager(store->Open(), {.threads = false, .clock = &clock});
    FAIL();
  } catch (const ProviderUnavailable& e) {
    EXPECT_THAT(e.what(), HasSubstr("fences that rise for ever"));
  }
  EXPECT_NO_THROW(
      Manager(store->Open(), {.require_durable_fence = false, .threads = false, .clock = &clock}));
}

TEST(Manager, AStoreThatMayForgetIsRefusedUntilTheProgramAcceptsThat) {
  testing::VirtualClock clock;
  const auto store = std::make_shared<MemoryStore>(clock);
  store->guarantees.durable_grant = false;
  try {
    const Manager manager(store->Open(), {.threads = false, .clock = &clock});
    FAIL();
  } catch (const UnfitStore& e) {
    EXPECT_THAT(e.what(), HasSubstr("grants that outlive a crash of the store"));
  }
  EXPECT_NO_THROW(
      Manager(store->Open(), {.require_durable_grant = false, .threads = false, .clock = &clock}));
}

TEST_F(ManagerTest, ARenewalWaitsAsLongAsTheStoreAsksItTo) {
  const Lease lease = world.Get("a", kTenSeconds);
  int times = 1;
  world.store->before = [&](const Call& call) {
    if (call.op == Op::kRenew && times-- > 0)
      throw ProviderUnavailable("busy", {.lease = "a", .retry_after = Milliseconds(3'000)});
  };
  world.Run(5'500);  // the first try came after 2.8 to 3.4 s
  EXPECT_EQ(world.store->Count(Op::kRenew), 1);
  world.Run(1'500);
  EXPECT_EQ(world.store->Count(Op::kRenew), 2);
  EXPECT_EQ(lease.state(), HoldState::kHeld);
}

TEST_F(ManagerTest, BadNamesAndOptionsAreRefusedBeforeTheStoreIsAsked) {
  for (const std::string& name : {std::string(), std::string("a b"), std::string(201, 'x')})
    EXPECT_THROW(world.manager->TryAcquire(name), std::invalid_argument);
  EXPECT_THROW(world.manager->TryAcquire("a", {.ttl = Milliseconds(1)}), std::invalid_argument);
  EXPECT_EQ(world.store->Count(Op::kAcquire), 0);
}

TEST(Types, TextsOfReasonsAreReadBack) {
  for (const auto reason : {LossReason::kReleased, LossReason::kExpired, LossReason::kTakenOver,
                            LossReason::kBroken, LossReason::kUnknown})
    EXPECT_EQ(ParseLossReason(ToText(reason)), reason);
  for (const auto reason :
       {HeldReason::kHeld, HeldReason::kQueued, HeldReason::kGuarded, HeldReason::kFrozen})
    EXPECT_EQ(ParseHeldReason(ToText(reason)), reason);
  EXPECT_EQ(ParseLossReason("no"), std::nullopt);
  EXPECT_NE(NewTerm(), NewTerm());
  EXPECT_EQ(NewTerm().size(), 36U);
}

}  // namespace
}  // namespace tenure::leases
