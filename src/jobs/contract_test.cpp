// The contract of jobs (M3) on every store.

#include <algorithm>
#include <set>
#include <thread>

#include <gmock/gmock.h>

#include "db/maintenance.hpp"
#include "jobs/contract_fixture.hpp"
#include "store/tables.hpp"

namespace tenure::jobs {
namespace {

using messages::Disposition;
using store::EngineKind;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

const auto* const every_query_runs =
    testing::AddGlobalTestEnvironment(new store::EveryQueryRuns(sql::All()));

INSTANTIATE_TEST_SUITE_P(Stores, JobsContract,
                         testing::Values(EngineKind::kSqlite, EngineKind::kSharedSqlite,
                                         EngineKind::kPostgres, EngineKind::kPooledPostgres),
                         store::EngineName);

TEST_P(JobsContract, APutMakesAJobOnceAndAnIdenticalOneChangesNothing) {
  Definition definition = TestProcess::Of("0 3 * * *");
  definition.payload = R"({"a":1})";
  definition.headers = R"({"type":"x"})";
  definition.zone = "Europe/Berlin";
  EXPECT_EQ(a_.Put("nightly", definition), Kind::kCreated);
  EXPECT_EQ(a_.Put("nightly", definition), Kind::kUnchanged);
  const JobView job = a_.Get("nightly");
  EXPECT_EQ(job.row.definition, definition);
  EXPECT_EQ(job.row.revision, 1);
  EXPECT_EQ(base::UtcText(job.row.next_ms), "2025-12-22T02:00:00.000Z");
  EXPECT_FALSE(job.last_run_ms);
  definition.priority = 2;
  EXPECT_EQ(a_.Put("nightly", definition), Kind::kDone);
  EXPECT_EQ(a_.Get("nightly").row.revision, 2);
  EXPECT_EQ(a_.Do(PutCommand{TestProcess::Key("nightly"), definition, 1}).kind,
            Kind::kOtherRevision);
  EXPECT_EQ(a_.Do(PutCommand{TestProcess::Key("other"), definition, 1}).kind, Kind::kOtherRevision);
  EXPECT_EQ(store_.Number("select count(*) from jobs", "select count(*) from tenure.jobs"), 1);
}

TEST_P(JobsContract, M3_AFireWritesTheRunItsMessageAndTheNextTimeTogether) {
  Definition definition = TestProcess::Of("0 * * * *");
  definition.payload = R"({"a":1})";
  definition.headers = R"({"type":"x"})";
  a_.Put("nightly", definition);
  clock().Advance(kHour / 2 - 1);
  EXPECT_EQ(a_.Fire().next_look_ms, clock().WallMs() + 1);
  EXPECT_THAT(a_.Claim(), IsEmpty());
  clock().Advance(1);
  a_.Fire();
  const auto claimed = a_.Claim();
  ASSERT_THAT(claimed, SizeIs(1));
  const auto runs = a_.Runs("nightly");
  ASSERT_THAT(runs, SizeIs(1));
  EXPECT_EQ(claimed[0].id, runs[0].id);
  EXPECT_EQ(claimed[0].payload, R"({"a":1})");
  EXPECT_EQ(claimed[0].headers, R"({"tenure-job":"nightly","tenure-nominal-time":)"
                                R"("2025-12-21T11:00:00.000Z","tenure-run":")" +
                                    runs[0].id.ToString() + R"(","type":"x"})");
  EXPECT_EQ(runs[0].status, RunStatus::kClaimed);
  EXPECT_EQ(runs[0].owner, "somebody");
  a_.Fire();
  EXPECT_THAT(a_.Claim(), IsEmpty()) << "a time fires once";
}

TEST_P(JobsContract, M3_ANominalTimeThatHasItsRunGetsNoSecondMessage) {
  Put("nightly");
  PassHour();
  const std::int64_t before = MessagesThere();
  if (store_.is_sqlite()) GTEST_SKIP() << "the tables of the file are Tenure's own";
  store::OpenPostgresTables(store_.url())
      ->Ask("update tenure.jobs set next_ms = next_ms - 3600000, look_ms = next_ms - 3600000");
  a_.FireAll();
  EXPECT_EQ(MessagesThere(), before);
  EXPECT_THAT(Runs("nightly"), ElementsAre("11:00 ready"));
}

TEST_P(JobsContract, JobsFireInOrderOfTheirTimesThenTheirNames) {
  for (const char* name : {"b", "a", "c"}) Put(name);
  PassHour();
  std::vector<std::string> order;
  for (const auto& message : a_.Claim()) order.push_back(message.headers.substr(15, 1));
  EXPECT_THAT(order, ElementsAre("a", "b", "c"));
}

TEST_P(JobsContract, WithNothingUpForAnHourEachPolicyDoesWhatItSays) {
  Put("skip", Overlap::kAllow, Missed::kSkip);
  Put("once", Overlap::kAllow, Missed::kOnce);
  Definition all = TestProcess::Of("*/20 * * * *");
  all.missed = Missed::kAll;
  all.overlap = Overlap::kAllow;
  a_.Put("all", all);
  clock().Advance(kHour + kHour / 2 + 90'000);
  a_.FireAll();
  EXPECT_THAT(Runs("skip"), ElementsAre("12:00 skipped"));
  EXPECT_EQ(a_.Runs("skip")[0].number, 2);
  EXPECT_THAT(Runs("once"), ElementsAre("12:00 ready", "11:00 skipped"));
  EXPECT_THAT(Runs("all"),
              ElementsAre("12:00 ready", "11:40 ready", "11:20 ready", "11:00 skipped"));
  EXPECT_EQ(a_.Runs("all")[3].number, 2) << "10:40 and 11:00 lie before the last hour";
}

TEST_P(JobsContract, TriggersAndBackfillsMakeRunsBesideTheSchedule) {
  Put("nightly", Overlap::kSkip);
  PassHour();
  const JobOutcome triggered = a_.Do(TriggerCommand{TestProcess::Key("nightly"), "7"});
  EXPECT_EQ(triggered.kind, Kind::kDone);
  const std::int64_t now_ms = clock().WallMs();
  const JobOutcome filled =
      a_.Do(BackfillCommand{TestProcess::Key("nightly"), now_ms - 3 * kHour, now_ms});
  EXPECT_EQ(filled.backfilled.runs, 3);
  const JobOutcome again =
      a_.Do(BackfillCommand{TestProcess::Key("nightly"), now_ms - 3 * kHour, now_ms});
  EXPECT_EQ(again.kind, Kind::kUnchanged);
  EXPECT_EQ(again.backfilled.skipped, 3);
  const auto claimed = a_.Claim();
  ASSERT_THAT(claimed, SizeIs(5));
  EXPECT_EQ(claimed[1].payload, "7");
  EXPECT_EQ(a_.Do(BackfillCommand{TestProcess::Key("nightly"), now_ms, now_ms + kHour}).kind,
            Kind::kAhead);
  EXPECT_EQ(a_.Do(BackfillCommand{TestProcess::Key("nightly"), now_ms - 31 * kDay, now_ms}).kind,
            Kind::kForgotten);
  EXPECT_EQ(a_.Do(BackfillCommand{TestProcess::Key("nightly"), now_ms - kDay, now_ms, 5}).kind,
            Kind::kTooManyTimes);
  EXPECT_EQ(a_.Do(TriggerCommand{TestProcess::Key("none"), {}}).kind, Kind::kNoJob);
}

TEST_P(JobsContract, ABackfillWhosePayloadsNoServerCouldHoldMakesNothing) {
  Definition definition = TestProcess::Of("* * * * *");
  definition.payload = "\"" + std::string(1 << 20, 'x') + "\"";
  a_.Put("heavy", definition);
  const std::int64_t now_ms = clock().WallMs();
  const auto backfill = [&](std::int64_t minutes) {
    return a_.Do(BackfillCommand{TestProcess::Key("heavy"), now_ms - minutes * 60'000, now_ms});
  };
  EXPECT_EQ(backfill(16).kind, Kind::kTooManyBytes);
  EXPECT_EQ(MessagesThere(), 0);
  EXPECT_EQ(backfill(2).backfilled.runs, 2);
}

TEST_P(JobsContract, ADeletedJobTakesItsPendingRunsAlongAndNotWhatIsUnderWay) {
  Put("nightly");
  PassHour();
  const auto claimed = a_.Claim();
  PassHour();
  EXPECT_EQ(a_.Do(DeleteCommand{TestProcess::Key("nightly")}).kind, Kind::kDone);
  EXPECT_EQ(a_.Do(DeleteCommand{TestProcess::Key("nightly")}).kind, Kind::kNoJob);
  EXPECT_THAT(a_.Claim(), IsEmpty());
  a_.Ack(claimed.at(0));
  Put("nightly");
  EXPECT_THAT(a_.Runs("nightly"), IsEmpty()) << "it is a new job";
}

TEST_P(JobsContract, AJobThatIsDeletedAndPutInOneBatchIsANewOne) {
  Put("nightly");
  const auto before = a_.Get("nightly").row.id;
  std::vector<Kind> kinds;
  const auto note = [&](db::Result<JobOutcome> result) { kinds.push_back(result.value().kind); };
  a_.jobs().Change(DeleteCommand{TestProcess::Key("nightly")}, nullptr, note);
  a_.jobs().Change(PutCommand{TestProcess::Key("nightly"), TestProcess::Of("0 * * * *")}, nullptr,
                   note);
  store::Drive(a_.store());
  EXPECT_THAT(kinds, ElementsAre(Kind::kDone, Kind::kCreated));
  EXPECT_NE(a_.Get("nightly").row.id, before);
}

TEST_P(JobsContract, APausedJobFiresNothingUntilItIsResumed) {
  Put("nightly", Overlap::kAllow, Missed::kSkip);
  EXPECT_EQ(a_.Do(PauseCommand{TestProcess::Key("nightly"), "why", 0}).kind, Kind::kDone);
  EXPECT_EQ(a_.Do(PauseCommand{TestProcess::Key("nightly"), "why", 0}).kind, Kind::kUnchanged);
  PassHour();
  EXPECT_THAT(Runs("nightly"), IsEmpty());
  EXPECT_EQ(a_.Get("nightly").row.paused_reason, "why");
  clock().Advance(1);
  EXPECT_EQ(a_.Do(ResumeCommand{TestProcess::Key("nightly")}).kind, Kind::kDone);
  EXPECT_EQ(a_.Do(ResumeCommand{TestProcess::Key("nightly")}).kind, Kind::kUnchanged);
  PassHour();
  EXPECT_THAT(Runs("nightly"), ElementsAre("12:00 ready", "11:00 skipped"));
}

TEST_P(JobsContract, WhatWasBackfilledInAPauseDoesNotRunAgainNorHoldBackTheOthers) {
  Put("nightly", Overlap::kSkip, Missed::kAll);
  a_.Do(PauseCommand{TestProcess::Key("nightly"), "why", 0});
  PassHour();
  PassHour();
  const std::int64_t now_ms = clock().WallMs();
  EXPECT_EQ(
      a_.Do(BackfillCommand{TestProcess::Key("nightly"), now_ms - kHour, now_ms}).backfilled.runs,
      1);
  a_.Ack(a_.Claim().at(0));
  clock().Advance(1);
  a_.Do(ResumeCommand{TestProcess::Key("nightly")});
  EXPECT_THAT(Runs("nightly"), ElementsAre("12:00 ready", "11:00 done"));
  EXPECT_THAT(a_.Claim(), SizeIs(1));
}

TEST_P(JobsContract, AJobOfTheFileIsChangedByTheFileOnly) {
  EXPECT_EQ(a_.Put("nightly", TestProcess::Of("0 * * * *"), Origin::kFile), Kind::kCreated);
  EXPECT_EQ(a_.Put("nightly", TestProcess::Of("1 * * * *")), Kind::kOwnedByFile);
  EXPECT_EQ(a_.Do(DeleteCommand{TestProcess::Key("nightly")}).kind, Kind::kOwnedByFile);
  EXPECT_THAT(a_.Call(a_.jobs(), &Jobs::FindFromFile).keys,
              ElementsAre(TestProcess::Key("nightly")));
  EXPECT_EQ(a_.Do(TriggerCommand{TestProcess::Key("nightly"), {}}).kind, Kind::kDone);
  EXPECT_EQ(a_.Put("nightly", TestProcess::Of("1 * * * *"), Origin::kFile), Kind::kDone);
  EXPECT_EQ(a_.Do(DeleteCommand{TestProcess::Key("nightly"), Origin::kFile}).kind, Kind::kDone);
}

TEST_P(JobsContract, ATenantHasAsManyJobsAsItMay) {
  if (GetParam() == EngineKind::kSqlite) GTEST_SKIP() << "one process has the file";
  TestProcess few(store_, "few", {.most_jobs = 2});
  EXPECT_EQ(few.Put("a", TestProcess::Of("0 * * * *")), Kind::kCreated);
  EXPECT_EQ(few.Put("b", TestProcess::Of("0 * * * *")), Kind::kCreated);
  EXPECT_EQ(few.Put("c", TestProcess::Of("0 * * * *")), Kind::kTooManyJobs);
  EXPECT_EQ(few.Put("a", TestProcess::Of("1 * * * *")), Kind::kDone);
  EXPECT_EQ(store_.Number("select count(*) from jobs", "select count(*) from tenure.jobs"), 2);
}

TEST_P(JobsContract, RunsAreKeptForTheirTimeAndTheLastOfEachJobStays) {
  Put("nightly", Overlap::kSkip);
  for (int i = 0; i < 3; ++i) {
    PassHour();
    a_.Ack(a_.Claim().at(0));
  }
  PassHour();
  PassHour();
  EXPECT_THAT(Runs("nightly"), ElementsAre("15:00 skipped", "14:00 ready", "13:00 done",
                                           "12:00 done", "11:00 done"));
  a_.Ack(a_.Claim().at(0));
  clock().Advance(8 * kDay);
  const auto forget = [&] { return a_.Call(a_.jobs(), &Jobs::ForgetSome, ForgetRequest()).rows; };
  EXPECT_EQ(forget(), 1) << "the note";
  clock().Advance(23 * kDay);
  EXPECT_EQ(forget(), 4);
  EXPECT_THAT(Runs("nightly"), ElementsAre("14:00 done"));
  EXPECT_EQ(forget(), 0) << "it is not looked at each time";
}

TEST_P(JobsContract, WhatIsWatchedAndWhatFailsIsCounted) {
  Definition definition = TestProcess::Of("0 * * * *");
  definition.watch = true;
  definition.overlap = Overlap::kAllow;
  a_.Put("nightly", definition);
  PassHour();
  a_.Ack(a_.Claim().at(0));
  const auto watched = a_.Call(a_.jobs(), &Jobs::Watch).jobs;
  ASSERT_THAT(watched, SizeIs(1));
  EXPECT_EQ(watched[0].success_ms, clock().WallMs());
  EXPECT_EQ(watched[0].success_for_ms, clock().WallMs());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(a_.Call(a_.jobs(), &Jobs::Count).failing, 0);
    PassHour();
    a_.Settle(Disposition::kDead, a_.Claim().at(0), "never");
  }
  clock().Advance(kHour + 1);
  const Figures figures = a_.Call(a_.jobs(), &Jobs::Count);
  EXPECT_EQ(figures.failing, 1);
  EXPECT_EQ(figures.jobs, 1);
  EXPECT_GT(figures.overdue_ms, 0);
}

TEST_P(JobsContract, NewerTzdataIsAskedForJobByJob) {
  Put("nightly");
  const auto future = a_.Call(a_.jobs(), &Jobs::FindFuture).jobs;
  ASSERT_THAT(future, SizeIs(1));
  EXPECT_EQ(future[0].key, TestProcess::Key("nightly"));
  EXPECT_EQ(a_.Do(RecomputeCommand{TestProcess::Key("nightly")}).kind, Kind::kUnchanged);
}

TEST_P(JobsContract, WhatWasDecidedStaysSoWhenTheClockGoesBackAndNextTimesAreComputedAnew) {
  Put("nightly", Overlap::kSkip);
  PassHour();
  PassHour();
  EXPECT_THAT(Runs("nightly"), ElementsAre("12:00 skipped", "11:00 ready"));
  clock().StepWall(-3 * kHour / 2);
  EXPECT_EQ(a_.Do(RecomputeCommand{TestProcess::Key("nightly")}).kind, Kind::kUnchanged);
  for (int half = 0; half < 3; ++half) {
    clock().Advance(kHour / 2);
    a_.FireAll();
  }
  const auto runs = Runs("nightly");
  for (const char* run : {"12:00 skipped", "11:00 ready"})
    EXPECT_EQ(std::ranges::count(runs, run), 1) << run;
}

TEST_P(JobsContract, ThousandJobsOfOneInstantAreFiredInAFewTransactions) {
  for (int i = 0; i < 1'000; ++i)
    a_.jobs().Change(
        PutCommand{TestProcess::Key("job-" + std::to_string(i)), TestProcess::Of("0 * * * *")},
        nullptr, [](const auto& result) { EXPECT_TRUE(result.ok()); });
  store::Drive(a_.store());
  PassHour();
  EXPECT_EQ(MessagesThere(), 1'000);
  EXPECT_LE(store_.Executions("jobs.lock_due"), 4u);
}

class JobsOfMany : public JobsContract {};
INSTANTIATE_TEST_SUITE_P(Stores, JobsOfMany,
                         testing::Values(EngineKind::kSharedSqlite, EngineKind::kPostgres),
                         store::EngineName);

TEST_P(JobsOfMany, M3_TwoProcessesThatFindAJobDueWriteOneRun) {
  TestProcess b(store_, "q");
  Put("nightly");
  clock().Advance(kHour / 2);
  int answers = 0;
  a_.jobs().Fire([&](const auto& result) { answers += result.ok() ? 1 : 0; });
  b.jobs().Fire([&](const auto& result) { answers += result.ok() ? 1 : 0; });
  store::Drive(a_.store());
  store::Drive(b.store());
  EXPECT_EQ(answers, 2);
  EXPECT_THAT(Runs("nightly"), ElementsAre("11:00 ready"));
  EXPECT_EQ(MessagesThere(), 1);
}

/// Where users have transactions of their own.
class JobsInTransactions : public JobsContract {
 protected:
  std::unique_ptr<store::Tables> user_ = store::OpenPostgresTables(store_.url());
};
INSTANTIATE_TEST_SUITE_P(Stores, JobsInTransactions, testing::Values(EngineKind::kPostgres),
                         store::EngineName);

TEST_P(JobsInTransactions, ATriggerIsTheUsersOwnTransaction) {
  Definition definition = TestProcess::Of("0 * * * *");
  definition.payload = R"({"a":1})";
  definition.headers = R"({"type":"x"})";
  a_.Put("nightly", definition);
  // The function goes by PostgreSQL's own clock.
  clock().Advance(base::SystemClock().WallMs() + kHour - clock().WallMs());
  user_->Ask("begin");
  user_->Ask("select tenure.job_trigger('nightly')");
  user_->Ask("rollback");
  EXPECT_THAT(a_.Runs("nightly"), IsEmpty());
  user_->Ask("select tenure.job_trigger('nightly')");
  user_->Ask("select tenure.job_trigger('nightly', '{\"b\": 2}')");
  a_.Call(a_.messages(), &messages::Messages::SortSome);
  const auto claimed = a_.Claim();
  ASSERT_THAT(claimed, SizeIs(2));
  EXPECT_EQ(claimed[0].payload, R"({"a":1})");
  EXPECT_EQ(claimed[1].payload, R"({"b": 2})");
  EXPECT_TRUE(claimed[0].headers.starts_with(R"({"tenure-job":"nightly","tenure-nominal-time":")"));
  EXPECT_TRUE(claimed[0].headers.ends_with(R"("tenure-run":")" + claimed[0].id.ToString() +
                                           R"(","type":"x"})"));
  a_.Ack(claimed[0]);
  const auto runs = a_.Runs("nightly");
  ASSERT_THAT(runs, SizeIs(2));
  EXPECT_EQ(runs[0].kind, RunKind::kTrigger);
  user_->Ask(
      "do $$ begin perform tenure.job_trigger('none'); raise 'it was there'; "
      "exception when sqlstate 'TN003' then null; end $$");
}

TEST_P(JobsInTransactions, APutThatWaitedForTheJobsDeletionMakesItAnew) {
  a_.Put("nightly", TestProcess::Of("0 * * * *"));
  user_->Ask("begin");
  user_->Ask("delete from tenure.jobs where name = 'nightly'");
  std::thread deletion([&] {
    const auto observer = store::OpenPostgresTables(store_.url());
    while (observer->Number("select count(*) from pg_stat_activity where wait_event_type = 'Lock' "
                            "and datname = current_database()") == 0) {
    }
    user_->Ask("commit");
  });
  EXPECT_EQ(a_.Put("nightly", TestProcess::Of("0 * * * *")), Kind::kCreated);
  deletion.join();
  EXPECT_EQ(a_.Get("nightly").row.revision, 1);
}

TEST_P(JobsInTransactions, ARunThatIsPutAsideGoesWithItsJob) {
  a_.Put("nightly", TestProcess::Of("0 * * * *"));
  user_->Ask("select tenure.job_trigger('nightly')");
  EXPECT_EQ(a_.Do(DeleteCommand{TestProcess::Key("nightly")}).kind, Kind::kDone);
  a_.Call(a_.messages(), &messages::Messages::SortSome);
  EXPECT_THAT(a_.Claim(), IsEmpty());
}

/// Both take the run that waits and its message; who removes the job takes them in the other order.
TEST_P(JobsInTransactions, AFireDoesNotWaitForWhoWithdrawsARunThatWaits) {
  Put("nightly", Overlap::kQueueOne);
  PassHour();
  a_.Claim();
  PassHour();
  EXPECT_THAT(Runs("nightly"), ElementsAre("12:00 waiting", "11:00 claimed"));
  user_->Ask("update tenure.job_runs set state = 2, ended_ms = 1 where state = 0");
  user_->Ask("begin");
  user_->Ask("select 1 from tenure.messages where pos = 0 for update");
  clock().Advance(60'000);
  a_.FireAll();
  EXPECT_THAT(Runs("nightly"), ElementsAre("12:00 waiting", "11:00 done"));
  user_->Ask("rollback");
  a_.FireAll();
  EXPECT_THAT(Runs("nightly"), ElementsAre("12:00 ready", "11:00 done"));
}

TEST_P(JobsInTransactions, ARunEndsWithTheUsersAcknowledgementAndTheNextOneFollows) {
  Put("nightly", Overlap::kQueueOne);
  PassHour();
  const auto claimed = a_.Claim();
  PassHour();
  const std::string acknowledge = "select tenure.acknowledge('" + claimed.at(0).id.ToString() +
                                  "', " + std::to_string(claimed.at(0).fence) + ", '{\"n\": 1}')";
  user_->Ask("begin");
  user_->Ask(acknowledge);
  PassHour();
  EXPECT_THAT(Runs("nightly").back(), "11:00 claimed") << "nobody waits for the user";
  user_->Ask("rollback");
  EXPECT_THAT(Runs("nightly"), ElementsAre("13:00 skipped", "12:00 waiting", "11:00 claimed"));
  user_->Ask(acknowledge);
  EXPECT_THAT(Runs("nightly"), ElementsAre("13:00 skipped", "12:00 ready", "11:00 done"));
  EXPECT_EQ(a_.Runs("nightly")[2].output, R"({"n": 1})");
  EXPECT_THAT(a_.Claim(), SizeIs(1));
}

TEST_P(JobsInTransactions, ARunThatIsBeingEndedDoesNotLeaveTheNextOneWaiting) {
  Put("nightly", Overlap::kQueueOne);
  PassHour();
  const auto claimed = a_.Claim();
  user_->Ask("begin");
  user_->Ask("select tenure.acknowledge('" + claimed.at(0).id.ToString() + "', " +
             std::to_string(claimed.at(0).fence) + ")");
  PassHour();  // it cannot see that the run before it is over
  EXPECT_THAT(Runs("nightly"), ElementsAre("12:00 waiting", "11:00 claimed"));
  user_->Ask("commit");
  clock().Advance(50);
  a_.FireAll();
  EXPECT_THAT(Runs("nightly"), ElementsAre("12:00 ready", "11:00 done"));
}

}  // namespace
}  // namespace tenure::jobs
