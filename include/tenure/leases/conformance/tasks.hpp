#pragma once

#include "tenure/leases/conformance/fixture.hpp"

/// Reliable tasks, where a store has them.
namespace tenure::leases::conformance {

TEST_P(LeaseConformance, OfManyWhoOfferOneRunsTheTask) {
  if (!guarantees().tasks) GTEST_SKIP() << "no tasks";
  Finish(ClaimDue(NewTerm(), Milliseconds(500), kLong));
  GetParam().advance(Milliseconds(501));
  std::atomic<int> claimed = 0;
  std::vector<std::thread> workers;
  for (int i = 0; i < 6; ++i)
    workers.emplace_back([&, mine = Another()] {
      const auto outcome = mine->ClaimTask({.name = name_,
                                            .interval = Milliseconds(500),
                                            .lock_timeout = kLong,
                                            .term = NewTerm(),
                                            .holder = "h"},
                                           kTimeout);
      if (std::holds_alternative<TaskRun>(outcome)) ++claimed;
    });
  for (auto& worker : workers) worker.join();
  EXPECT_EQ(claimed, 1);
}

TEST_P(LeaseConformance, NominalTimesStayOnTheirGridAndNoneIsLostSilently) {  // T1
  if (!guarantees().tasks) GTEST_SKIP() << "no tasks";
  constexpr Milliseconds kInterval{200};
  TaskRun last = ClaimDue(NewTerm(), kInterval, kLong);
  EXPECT_TRUE(Finish(last).accepted);
  for (int i = 0; i < 4; ++i) {
    const bool pause = i == 2;
    if (pause) GetParam().advance(6 * kInterval);  // nobody offers for a while
    const TaskRun run = ClaimDue(NewTerm(), kInterval, kLong);
    EXPECT_GT(run.nominal_ms, last.nominal_ms);
    EXPECT_EQ((run.nominal_ms - last.nominal_ms) % kInterval.count(), 0);
    if (pause) {
      EXPECT_GE(run.skipped, 4) << "one run for all of them, and they are counted";
    }
    GetParam().advance(kInterval / 7);
    const FinishOutcome end = Finish(run);
    EXPECT_TRUE(end.accepted);
    EXPECT_GT(end.next_ms, run.nominal_ms);
    last = run;
  }
}

TEST_P(LeaseConformance, AFinishedRunIsNotDueAgain) {  // T1
  if (!guarantees().tasks) GTEST_SKIP() << "no tasks";
  const TaskRun run = ClaimDue(NewTerm(), Milliseconds(3'600'000), kLong);
  EXPECT_TRUE(std::holds_alternative<TaskNotDue>(Claim(NewTerm(), Milliseconds(3'600'000), kLong)));
  EXPECT_TRUE(Finish(run).accepted);
  const auto outcome = Claim(NewTerm(), Milliseconds(3'600'000), kLong);
  ASSERT_TRUE(std::holds_alternative<TaskNotDue>(outcome));
  EXPECT_GT(std::get<TaskNotDue>(outcome).retry_after, Milliseconds(0));
}

TEST_P(LeaseConformance, AClaimWithTheLiveTermIsTheSameRun) {
  if (!guarantees().tasks) GTEST_SKIP() << "no tasks";
  const TaskRun run = ClaimDue(a_, Milliseconds(3'600'000), kLong);
  const auto again = Claim(a_, Milliseconds(3'600'000), kLong);
  ASSERT_TRUE(std::holds_alternative<TaskRun>(again));
  EXPECT_EQ(std::get<TaskRun>(again).lock.fence, run.lock.fence);
  EXPECT_EQ(std::get<TaskRun>(again).nominal_ms, run.nominal_ms);
}

TEST_P(LeaseConformance, AFailedRunIsTriedAgainSoon) {
  if (!guarantees().tasks) GTEST_SKIP() << "no tasks";
  constexpr Milliseconds kInterval{3'600'000};
  const TaskRun run = ClaimDue(NewTerm(), kInterval, kLong);
  EXPECT_TRUE(Finish(run, "it failed").accepted);
  const auto outcome = Claim(NewTerm(), kInterval, kLong);
  const auto* later = std::get_if<TaskNotDue>(&outcome);
  EXPECT_TRUE(!later || later->retry_after < kInterval / 10);
  const TaskRun again = later ? ClaimDue(NewTerm(), kInterval, kLong) : std::get<TaskRun>(outcome);
  EXPECT_EQ(again.nominal_ms, run.nominal_ms);
  EXPECT_GT(again.lock.fence, run.lock.fence);
}

TEST_P(LeaseConformance, ACrashIsTakenOverForTheSameTimeAndTheZombieIsRefused) {  // T1
  if (!guarantees().tasks) GTEST_SKIP() << "no tasks";
  constexpr Milliseconds kInterval{3'600'000};
  const TaskRun dead = ClaimDue(a_, kInterval, short_ttl());
  Expire();
  const TaskRun next = ClaimDue(b_, kInterval, kLong);
  EXPECT_EQ(next.nominal_ms, dead.nominal_ms);
  EXPECT_TRUE(next.reclaimed);
  EXPECT_GT(next.lock.fence, dead.lock.fence);
  EXPECT_FALSE(Finish(dead).accepted);
  EXPECT_FALSE(Finish(dead, "late").accepted);
  EXPECT_FALSE(LossOf(Renew(next.lock)).has_value());
  EXPECT_TRUE(Finish(next).accepted);
}

TEST_P(LeaseConformance, ATasksLockIsALeaseThatCanBeRenewed) {
  if (!guarantees().tasks) GTEST_SKIP() << "no tasks";
  const TaskRun run = ClaimDue(a_, Milliseconds(3'600'000), short_ttl());
  EXPECT_EQ(run.lock.name, "task/" + name_);
  for (int i = 0; i < 8; ++i) {
    GetParam().advance(short_ttl() / 4);
    ASSERT_FALSE(LossOf(Renew(run.lock)).has_value());
  }
  EXPECT_TRUE(Finish(run).accepted);
}

}  // namespace tenure::leases::conformance
