// Waiting for a lease: first come first served, pushed on release, exact at expiry; on every store.

#include "leases/test_process.hpp"

namespace tenure::leases {
namespace {

using store::EngineKind;

class LeasesWaiting : public testing::TestWithParam<EngineKind> {
 protected:
  /// Time passes in steps, as it does for a process that runs.
  void Pass(std::int64_t ms, std::initializer_list<TestProcess*> processes) {
    for (std::int64_t step = 0; step < ms; step += 50) {
      store_.clock().Advance(50);
      for (auto* process : processes) process->Drive();
    }
  }

  store::TestStore store_{GetParam(), sql::All()};
  TestProcess a_{store_, "a"};
};

INSTANTIATE_TEST_SUITE_P(Stores, LeasesWaiting,
                         testing::Values(EngineKind::kSqlite, EngineKind::kPostgres,
                                         EngineKind::kPooledPostgres),
                         store::EngineName);

TEST_P(LeasesWaiting, WhoWaitsIsServedAtTheReleaseWithoutTimePassing) {
  Granted(a_.Acquire("job", 1, {.ttl_ms = 60'000}));
  const auto waiting = a_.Wait("job", 2, 30'000);
  EXPECT_FALSE(waiting->outcome);
  a_.Release("job", 1);
  a_.Drive();
  ASSERT_TRUE(waiting->outcome);
  EXPECT_EQ(Granted(waiting->outcome->value()).fence, 2);
}

TEST_P(LeasesWaiting, WhoWaitsIsServedAtTheVeryMillisecondOfTheDeadline) {
  Granted(a_.Acquire("job", 1, {.ttl_ms = 700}));
  const auto waiting = a_.Wait("job", 2, 30'000);
  store_.clock().Advance(699);
  a_.Drive();
  EXPECT_FALSE(waiting->outcome);
  store_.clock().Advance(1);
  a_.Drive();
  ASSERT_TRUE(waiting->outcome);
  EXPECT_EQ(Granted(waiting->outcome->value()).waited, Milliseconds(700));
}

TEST_P(LeasesWaiting, ThoseWhoWaitAreServedInOrderOfArrival) {
  Granted(a_.Acquire("job", 1, {.ttl_ms = 60'000}));
  std::vector<std::shared_ptr<TestProcess::Waiting>> line;
  for (int term = 2; term <= 6; ++term) line.push_back(a_.Wait("job", term, 30'000));
  int holder = 1;
  for (const auto& next : line) {
    EXPECT_FALSE(next->outcome);
    a_.Release("job", holder++);
    a_.Drive();
    ASSERT_TRUE(next->outcome);
    Granted(next->outcome->value());
  }
}

TEST_P(LeasesWaiting, NobodyJumpsTheLine) {
  Granted(a_.Acquire("job", 1, {.ttl_ms = 1'000}));
  const auto waiting = a_.Wait("job", 2, 30'000);
  store_.clock().Advance(1'000);  // free, and the one who waits has not asked yet
  const auto held = Held(a_.Acquire("job", 3));
  EXPECT_EQ(held.reason, HeldReason::kQueued);
  a_.Drive();
  Granted(waiting->outcome->value());
}

TEST_P(LeasesWaiting, WhoseTimeIsOverIsToldWhoHoldsItAndLeavesTheLine) {
  Granted(a_.Acquire("job", 1, {.ttl_ms = 60'000, .holder = "first"}));
  const auto waiting = a_.Wait("job", 2, 500);
  store_.clock().Advance(499);
  a_.Drive();
  EXPECT_FALSE(waiting->outcome);
  store_.clock().Advance(1);
  a_.Drive();
  ASSERT_TRUE(waiting->outcome);
  EXPECT_EQ(Held(waiting->outcome->value()).holder, "first");
  EXPECT_EQ(a_.Find("job")->waiters, 0);
}

TEST_P(LeasesWaiting, WhoLeavesLetsTheNextOneIn) {
  Granted(a_.Acquire("job", 1, {.ttl_ms = 60'000}));
  const auto gone = a_.Wait("job", 2, 30'000);
  const auto next = a_.Wait("job", 3, 30'000);
  a_.leases().Abandon(gone->id);
  a_.Drive();
  EXPECT_EQ(a_.Find("job")->waiters, 1);
  a_.Release("job", 1);
  a_.Drive();
  EXPECT_FALSE(gone->outcome);
  Granted(next->outcome->value());
}

TEST_P(LeasesWaiting, AGrantToSomebodyWhoHasGoneIsGivenBack) {
  Granted(a_.Acquire("job", 1, {.ttl_ms = 60'000}));
  const auto gone = a_.Wait("job", 2, 30'000);
  a_.leases().Release({{"default", "job"}, Term(1), {}}, nullptr, [](const auto&) {});
  store::Drive(a_.store());
  a_.wake().RunDue();  // its question is under way now
  a_.leases().Abandon(gone->id);
  a_.Drive();
  EXPECT_EQ(a_.Find("job")->state, LeaseState::kFree);
}

TEST_P(LeasesWaiting, L3_ABrokenConnectionThatIsNoticedLateEndsNoGrant) {
  Granted(a_.Acquire("job", 1, {.ttl_ms = 700}));
  const auto broken = a_.Wait("job", 2, 30'000);
  store_.clock().Advance(700);
  // Its client has asked again with the same term, and holds the lease now.
  const auto grant = Granted(a_.Acquire("job", 2, {.ttl_ms = 60'000}));
  a_.leases().Abandon(broken->id);
  a_.Drive();
  EXPECT_EQ(a_.Find("job")->state, LeaseState::kHeld);
  Renewed(a_.Renew("job", grant.fence, 2));
}

TEST_P(LeasesWaiting, L3_AQuestionOfABrokenConnectionGivesNoGrantBackThatItsClientHas) {
  Granted(a_.Acquire("job", 1, {.ttl_ms = 60'000}));
  const auto broken = a_.Wait("job", 2, 30'000);
  a_.leases().Release({{"default", "job"}, Term(1), {}}, nullptr, [](const auto&) {});
  store::Drive(a_.store());
  a_.wake().RunDue();  // its question is under way, and will be granted
  a_.leases().Abandon(broken->id);
  Granted(a_.Acquire("job", 2));  // the same term again, behind it in the same millisecond
  a_.Drive();
  EXPECT_EQ(a_.Find("job")->state, LeaseState::kHeld);
}

TEST_P(LeasesWaiting, ARepeatedRequestIsAnsweredWithTheGrantOfTheFirst) {
  Granted(a_.Acquire("job", 1, {.ttl_ms = 60'000}));
  const auto first = a_.Wait("job", 2, 30'000);
  const auto repeated = a_.Wait("job", 2, 30'000);
  a_.Release("job", 1);
  a_.Drive();
  ASSERT_TRUE(first->outcome);
  ASSERT_TRUE(repeated->outcome);
  EXPECT_EQ(Granted(first->outcome->value()).fence, Granted(repeated->outcome->value()).fence);
}

TEST_P(LeasesWaiting, ATermThatIsOverDoesNotWait) {
  Granted(a_.Acquire("job", 1));
  a_.Release("job", 1);
  Granted(a_.Acquire("job", 2));
  const auto waiting = a_.Wait("job", 1, 30'000);
  ASSERT_TRUE(waiting->outcome);
  EXPECT_EQ(Ended(waiting->outcome->value()), LossReason::kReleased);
}

TEST_P(LeasesWaiting, StoppingAnswersEverybody) {
  Granted(a_.Acquire("job", 1, {.ttl_ms = 60'000}));
  const auto waiting = a_.Wait("job", 2, 30'000);
  a_.leases().StopWaiting();
  ASSERT_TRUE(waiting->outcome);
  EXPECT_EQ(waiting->outcome->fault().kind(), base::FaultKind::kStopping);
  a_.Drive();
  EXPECT_EQ(a_.Find("job")->waiters, 0);
}

TEST_P(LeasesWaiting, ATicketIsKeptAliveForAsLongAsItsRequestWaits) {
  Granted(a_.Acquire("job", 1, {.ttl_ms = 60'000}));
  const auto waiting = a_.Wait("job", 2, 30'000);
  Pass(10'000, {&a_});
  EXPECT_EQ(a_.Find("job")->waiters, 1);
  a_.Release("job", 1);
  a_.Drive();
  Granted(waiting->outcome->value());
}

// What follows needs two processes on one store.
class LeasesAcrossProcesses : public LeasesWaiting {
 protected:
  TestProcess b_{store_, "b"};
};

INSTANTIATE_TEST_SUITE_P(Stores, LeasesAcrossProcesses,
                         testing::Values(EngineKind::kSharedSqlite, EngineKind::kPostgres,
                                         EngineKind::kPooledPostgres),
                         store::EngineName);

TEST_P(LeasesAcrossProcesses, TheLineIsOneForAllProcesses) {
  Granted(a_.Acquire("job", 1, {.ttl_ms = 60'000}));
  const auto in_b = b_.Wait("job", 2, 30'000);
  const auto in_a = a_.Wait("job", 3, 30'000);
  a_.Release("job", 1);
  a_.Drive();
  EXPECT_FALSE(in_a->outcome);
  b_.wake().SignalAll(WakeKey({"default", "job"}));  // what the feed does with the notification
  b_.Drive();
  Granted(in_b->outcome->value());
}

TEST_P(LeasesAcrossProcesses, ANotificationIsSentOnlyWhenItIsAnothersTurn) {
  if (store_.is_sqlite()) GTEST_SKIP() << "its feed looks at the file instead";
  const auto notifications = [&] { return store_.Executions("db.notify"); };
  Granted(a_.Acquire("job", 1, {.ttl_ms = 60'000}));
  a_.Release("job", 1);
  Granted(a_.Acquire("job", 2, {.ttl_ms = 60'000}));
  const auto in_a = a_.Wait("job", 3, 30'000);
  const auto in_b = b_.Wait("job", 4, 30'000);
  a_.Release("job", 2);
  a_.Drive();
  Granted(in_a->outcome->value());
  EXPECT_EQ(notifications(), 0u);
  a_.Release("job", 3);
  EXPECT_EQ(notifications(), 1u);
}

TEST_P(LeasesAcrossProcesses, ALostWakeUpIsMadeGoodWithinASecond) {
  Granted(a_.Acquire("job", 1, {.ttl_ms = 60'000}));
  const auto in_b = b_.Wait("job", 2, 30'000);
  a_.Release("job", 1);  // and nobody tells b
  Pass(1'000, {&b_});
  Granted(in_b->outcome->value());
}

TEST_P(LeasesAcrossProcesses, ADeadWaiterCostsAtMostItsTicket) {
  Granted(a_.Acquire("job", 1, {.ttl_ms = 60'000}));
  const auto dead = b_.Wait("job", 2, 30'000);
  const auto alive = a_.Wait("job", 3, 30'000);
  a_.Release("job", 1);
  Pass(kTicketMs - 100, {&a_});  // b does not run any more
  EXPECT_FALSE(alive->outcome);
  Pass(1'100, {&a_});
  ASSERT_TRUE(alive->outcome);
  Granted(alive->outcome->value());
}

}  // namespace
}  // namespace tenure::leases
