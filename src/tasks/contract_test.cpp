// The contract of reliable tasks (T1) on every store.

#include <optional>

#include <gtest/gtest.h>

#include "leases/leases.hpp"
#include "leases_sql/queries.hpp"
#include "store/process.hpp"
#include "tasks/tasks.hpp"
#include "tasks_sql/queries.hpp"

namespace tenure::tasks {
namespace {

using leases::FinishOutcome;
using leases::TaskNotDue;
using leases::TaskRun;
using store::EngineKind;

constexpr std::int64_t kInterval = 60'000;
constexpr std::int64_t kLock = 120'000;

std::vector<const db::Query*> Queries() {
  std::vector<const db::Query*> all;
  for (const auto module : {leases::sql::All(), sql::All()})
    all.insert(all.end(), module.begin(), module.end());
  return all;
}

class TasksContract : public testing::TestWithParam<EngineKind> {
 protected:
  leases::ClaimOutcome Offer(int term, std::int64_t interval_ms = kInterval) {
    ClaimCommand command;
    command.key = {"default", "bill"};
    command.interval_ms = interval_ms;
    command.lock_timeout_ms = kLock;
    command.term.bytes[15] = static_cast<std::uint8_t>(term);
    command.holder = "p" + std::to_string(term);
    command.received_boot_ms = store_.clock().BootMs();
    return process_.Call(tasks_, &Tasks::Claim, command);
  }
  TaskRun Claim(int term) {
    const auto outcome = Offer(term);
    EXPECT_TRUE(std::holds_alternative<TaskRun>(outcome)) << "not due";
    return std::get<TaskRun>(outcome);
  }
  std::int64_t NotDue(int term) {
    const auto outcome = Offer(term);
    EXPECT_TRUE(std::holds_alternative<TaskNotDue>(outcome)) << "a run was handed out";
    return std::get<TaskNotDue>(outcome).retry_after.count();
  }
  FinishOutcome Finish(int term, const TaskRun& run, std::optional<std::string> error = {}) {
    FinishCommand command;
    command.key = {"default", "bill"};
    command.fence = run.lock.fence;
    command.term.bytes[15] = static_cast<std::uint8_t>(term);
    command.error = std::move(error);
    return process_.Call(tasks_, &Tasks::Finish, command);
  }
  TriggerOutcome Trigger() { return process_.Call(tasks_, &Tasks::Trigger, {{"default", "bill"}}); }
  std::int64_t Forget(const ForgetTasksRequest& request) {
    return process_.Call(tasks_, &Tasks::ForgetUnused, request).rows;
  }
  std::size_t Count() { return process_.Call(tasks_, &Tasks::List, "default").tasks.size(); }
  TaskView View() {
    const auto reply = process_.Call(tasks_, &Tasks::List, "default");
    return reply.tasks.at(0);
  }
  base::ManualClock& clock() { return store_.clock(); }
  Probe& probe() { return tasks_.probe(); }

  store::TestStore store_{GetParam(), Queries()};
  store::Process process_{store_};
  Tasks tasks_{process_.store(), process_.wake(), "p", store_.clock(), store_.metrics()};
};

INSTANTIATE_TEST_SUITE_P(Stores, TasksContract,
                         testing::Values(EngineKind::kSqlite, EngineKind::kSharedSqlite,
                                         EngineKind::kPostgres, EngineKind::kPooledPostgres),
                         store::EngineName);

TEST_P(TasksContract, ANewTaskIsDueAtOnceForTheLastGridTime) {
  clock().Advance(17'000);  // the clock begins on a full minute
  const auto run = Claim(1);
  EXPECT_EQ(run.nominal_ms % kInterval, 0);
  EXPECT_EQ(run.nominal_ms, clock().WallMs() - 17'000);
  EXPECT_EQ(run.skipped, 0);
}

TEST_P(TasksContract, T1_OfManyWhoOfferOneRunsIt) {
  Claim(1);
  for (int term = 2; term < 5; ++term) EXPECT_GT(NotDue(term), 0);
}

TEST_P(TasksContract, T1_TheNextRunIsTheFirstGridTimeAfterTheCompletion) {  // no drift
  auto run = Claim(1);
  const std::int64_t grid_ms = run.nominal_ms;
  for (int i = 1; i <= 5; ++i) {
    clock().Advance(7'000);  // what the work takes
    EXPECT_TRUE(Finish(i, run).accepted);
    EXPECT_GT(NotDue(100), 0);
    clock().Advance(grid_ms + i * kInterval - clock().WallMs());
    run = Claim(i + 1);
    EXPECT_EQ(run.nominal_ms, grid_ms + i * kInterval);
  }
}

TEST_P(TasksContract, T1_AfterAnHourDownItRunsOnceAndTellsWhatItStandsFor) {
  Finish(1, Claim(1));
  clock().Advance(kInterval);
  const std::int64_t due_ms = clock().WallMs();
  clock().Advance(59 * kInterval);
  const auto run = Claim(2);
  EXPECT_EQ(run.nominal_ms, due_ms);
  EXPECT_EQ(run.skipped, 59);
  Finish(2, run);
  EXPECT_GT(NotDue(3), 0);
  EXPECT_EQ(View().row.skipped, 59);
}

TEST_P(TasksContract, T1_ARunThatWasFinishedMeanwhileIsNotHandedOutAgain) {
  Finish(1, Claim(1));
  EXPECT_GT(NotDue(2), 0) << "whoever saw it due before asks in vain";
}

TEST_P(TasksContract, T1_ACrashIsTakenOverAfterTheLockTimeoutWithTheSameNominalTime) {
  const auto crashed = Claim(1);
  clock().Advance(kLock - 1);
  NotDue(2);
  clock().Advance(1);
  const auto run = Claim(2);
  EXPECT_EQ(run.nominal_ms, crashed.nominal_ms);
  EXPECT_TRUE(run.reclaimed);
  EXPECT_GT(run.lock.fence, crashed.lock.fence);
}

TEST_P(TasksContract, TheAgeOfALockIsCounted) {
  Claim(1);
  clock().Advance(2'000);
  probe().LockAge("bill", clock().WallMs() - View().locked_ms);
  EXPECT_EQ(store_.metrics().GetGauge("task_lock_age_seconds", "", {{"task", "bill"}}).value(), 2);
}

TEST_P(TasksContract, T1_AZombieNeitherCompletesNorFailsAnothersRun) {
  const auto zombie = Claim(1);
  clock().Advance(kLock);
  const auto run = Claim(2);
  EXPECT_FALSE(Finish(1, zombie).accepted);
  EXPECT_FALSE(Finish(1, zombie, "late").accepted);
  EXPECT_EQ(View().holder, "p2");
  EXPECT_TRUE(Finish(2, run).accepted);
}

TEST_P(TasksContract, T1_ASecondCompletionChangesNothing) {
  const auto run = Claim(1);
  EXPECT_TRUE(Finish(1, run).accepted);
  EXPECT_FALSE(Finish(1, run).accepted);
  EXPECT_EQ(View().row.runs, 1);
}

TEST_P(TasksContract, AClaimWhoseReplyWasLostIsRepeatedWithTheSameRun) {
  const auto run = Claim(1);
  const auto again = Claim(1);
  EXPECT_EQ(again.lock.fence, run.lock.fence);
  EXPECT_EQ(again.nominal_ms, run.nominal_ms);
}

TEST_P(TasksContract, AFailedRunIsRetriedSoonAndNotOneIntervalLater) {
  auto run = Claim(1);
  const std::int64_t nominal_ms = run.nominal_ms;
  EXPECT_TRUE(Finish(1, run, "no network").accepted);
  EXPECT_EQ(View().row.last_error, "no network");
  EXPECT_EQ(NotDue(2), 1'000);
  clock().Advance(1'000);
  run = Claim(2);
  EXPECT_EQ(run.nominal_ms, nominal_ms);
  Finish(2, run, "no network");
  EXPECT_EQ(NotDue(3), 2'000);
  EXPECT_EQ(View().row.failures, 2);
  clock().Advance(2'000);
  Finish(3, Claim(3));
  EXPECT_EQ(View().row.failures, 0);
}

TEST_P(TasksContract, AnErrorIsCutBetweenCharactersAndTheFailedRunIsKept) {
  const std::string kept(499, 'x');
  EXPECT_TRUE(Finish(1, Claim(1), kept + "\u00e9 and more").accepted);
  EXPECT_EQ(View().row.last_error, kept);
  EXPECT_EQ(View().row.failures, 1);
}

TEST_P(TasksContract, WhatWaitsForAnIdempotencyKeyStandsInNoLaneOfRenewals) {
  if (store_.is_sqlite()) GTEST_SKIP() << "one lane writes";
  Finish(1, Claim(1));
  bool answered = false;
  tasks_.TriggerOnce({TriggerCommand{{"default", "bill"}}, {"k", "h"}}, nullptr,
                     [&](const auto&) { answered = true; });
  for (const std::size_t lane : {0u, 1u}) process_.store().WriteLane(lane).RunOnce();
  EXPECT_FALSE(answered);
  process_.Drive();
  EXPECT_TRUE(answered);
}

TEST_P(TasksContract, ATriggeredTaskRunsNowAndGoesOnWithItsGrid) {
  const auto first = Claim(1);
  Finish(1, first);
  clock().Advance(5'000);
  EXPECT_TRUE(Trigger().known);
  const auto run = Claim(2);
  EXPECT_EQ(run.nominal_ms, clock().WallMs());
  Finish(2, run);
  clock().Advance(kInterval - 5'000);
  EXPECT_EQ(Claim(3).nominal_ms, first.nominal_ms + kInterval);
}

TEST_P(TasksContract, ATriggerDuringARunHasOneMoreFollow) {
  const auto run = Claim(1);
  clock().Advance(10);
  EXPECT_TRUE(Trigger().under_way);
  NotDue(2);
  Finish(1, run);
  Finish(2, Claim(2));
  EXPECT_GT(NotDue(3), 0);
}

TEST_P(TasksContract, T1_ATriggeredRunSurvivesACrash) {
  Finish(1, Claim(1));
  clock().Advance(5'000);
  Trigger();
  const auto crashed = Claim(2);
  clock().Advance(kLock);
  EXPECT_EQ(Claim(3).nominal_ms, crashed.nominal_ms);
}

TEST_P(TasksContract, AnUnknownTaskCannotBeTriggered) { EXPECT_FALSE(Trigger().known); }

TEST_P(TasksContract, AnOfferThatComesTooEarlyWritesNothing) {
  Finish(1, Claim(1));
  const auto locks = store_.Executions("leases.read_limits");
  NotDue(2);
  EXPECT_EQ(store_.Executions("leases.read_limits"), locks);
}

[[maybe_unused]] const auto* const every_query_runs =
    testing::AddGlobalTestEnvironment(new store::EveryQueryRuns(sql::All()));

TEST_P(TasksContract, ATaskThatNobodyRunsAnyMoreGoes) {
  Claim(1);
  const ForgetTasksRequest month{30LL * 86'400'000};
  clock().Advance(month.retention_ms);
  EXPECT_EQ(Forget(month), 0) << "its run may have lasted a while";
  clock().Advance(kLock);
  EXPECT_EQ(Forget(month), 1) << "its run never ended, and is over long since";
  EXPECT_EQ(Count(), 0U);
  Finish(2, Claim(2));
  clock().Advance(month.retention_ms);
  EXPECT_EQ(Forget(month), 0) << "it was due a minute after that";
  clock().Advance(kInterval);
  EXPECT_EQ(Forget(month), 1);
  EXPECT_EQ(Claim(3).skipped, 0) << "whoever comes back begins anew";
}

TEST_P(TasksContract, AnOddRowIsFinishedLikeAnyOther) {
  const auto run = Claim(1);
  store_.Number("update tasks set interval_ms = 0, next_ms = -1, failures = -9 returning 1",
                "update tenure.tasks set interval_ms = 0, next_ms = -1, failures = -9 returning 1");
  EXPECT_TRUE(Finish(1, run, "no").accepted);
  EXPECT_EQ(View().row.failures, 1);
}

}  // namespace
}  // namespace tenure::tasks
