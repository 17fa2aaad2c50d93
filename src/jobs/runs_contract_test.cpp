// The contract of runs on every store: how they end, wait and live again.

#include <gmock/gmock.h>

#include "jobs/contract_fixture.hpp"
#include "store/tables.hpp"

namespace tenure::jobs {
namespace {

using messages::Disposition;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST_P(JobsContract, ARunEndsWithItsMessage) {
  Put("nightly");
  PassHour();
  a_.Ack(a_.Claim().at(0), R"({"rows":3})");
  RunView run = a_.Runs("nightly").at(0);
  EXPECT_EQ(run.status, RunStatus::kDone);
  EXPECT_EQ(run.output, R"({"rows":3})");
  EXPECT_EQ(run.owner, "somebody");
  EXPECT_EQ(run.ended_ms, clock().WallMs());
  PassHour();
  a_.Settle(Disposition::kRetry, a_.Claim().at(0), "no luck");
  run = a_.Runs("nightly").at(0);
  EXPECT_EQ(run.status, RunStatus::kRetrying);
  EXPECT_EQ(run.error, "no luck");
  EXPECT_EQ(a_.Get("nightly").last_status, RunStatus::kRetrying);
  clock().Advance(1'000);
  a_.Call(a_.messages(), &messages::Messages::PromoteSome);
  a_.Settle(Disposition::kDead, a_.Claim().at(0), "never");
  run = a_.Runs("nightly").at(0);
  EXPECT_EQ(run.status, RunStatus::kDead);
  EXPECT_EQ(run.error, "never");
  EXPECT_EQ(run.attempts, 1);
}

TEST_P(JobsContract, WorkOnARunBeganWithItsFirstClaimHoweverOftenItIsTried) {
  Put("nightly");
  PassHour();
  const auto started_ms = [&] { return a_.Runs("nightly").at(0).started_ms; };
  const auto claim = [&] {
    clock().Advance(1'000);
    a_.Call(a_.messages(), &messages::Messages::PromoteSome);
    return a_.Claim().at(0);
  };
  EXPECT_EQ(started_ms(), 0);
  const auto untouched = claim();
  EXPECT_EQ(started_ms(), clock().WallMs());
  a_.Settle(Disposition::kUntouched, untouched);
  EXPECT_EQ(started_ms(), 0) << "it was given back untouched";
  const auto first = claim();
  const std::int64_t begun_ms = clock().WallMs();
  a_.Settle(Disposition::kRetry, first, "no luck");
  EXPECT_EQ(started_ms(), begun_ms);
  const auto second = claim();
  EXPECT_EQ(started_ms(), begun_ms);
  EXPECT_EQ(a_.Runs("nightly").at(0).claimed_ms, clock().WallMs());
  a_.Ack(second);
  EXPECT_EQ(started_ms(), begun_ms);

  PassHour();
  const auto dead = claim();
  const std::int64_t dead_begun_ms = clock().WallMs();
  a_.Settle(Disposition::kDead, dead, "never");
  messages::DeadChangeRequest redrive;
  redrive.filter.tenant = "default";
  a_.Call(a_.messages(), &messages::Messages::ChangeDead, redrive);
  EXPECT_EQ(started_ms(), dead_begun_ms);
  a_.Ack(claim());
  EXPECT_EQ(started_ms(), dead_begun_ms) << "also when it was dead meanwhile";
}

TEST_P(JobsContract, ADeadRunThatIsRedrivenLivesAgain) {
  Put("nightly", Overlap::kSkip);
  PassHour();
  a_.Settle(Disposition::kDead, a_.Claim().at(0), "never");
  messages::DeadChangeRequest redrive;
  redrive.filter.tenant = "default";
  a_.Call(a_.messages(), &messages::Messages::ChangeDead, redrive);
  EXPECT_THAT(Runs("nightly"), ElementsAre("11:00 ready"));
  PassHour();
  EXPECT_THAT(Runs("nightly"), ElementsAre("12:00 skipped", "11:00 ready"));
  a_.Ack(a_.Claim().at(0));
  EXPECT_THAT(Runs("nightly"), ElementsAre("12:00 skipped", "11:00 done"));
}

TEST_P(JobsContract, ARunThatIsRetriedHoldsBackTheNextOne) {
  Put("nightly", Overlap::kSkip);
  PassHour();
  const auto claimed = a_.Claim();
  a_.Settle(Disposition::kRetry, claimed.at(0), "no");
  PassHour();
  const auto runs = a_.Runs("nightly");
  ASSERT_THAT(runs, SizeIs(2));
  EXPECT_EQ(runs[0].status, RunStatus::kSkipped);
  EXPECT_EQ(runs[0].reason, SkipReason::kOverlap);
  EXPECT_EQ(runs[0].blocker, runs[1].id);
  EXPECT_THAT(a_.Runs("nightly", RunStatus::kSkipped), SizeIs(1));
}

TEST_P(JobsContract, ARunThatWaitsIsReadyInTheTransactionThatEndsTheOneBefore) {
  Put("nightly", Overlap::kQueueOne);
  PassHour();
  const auto first = a_.Claim();
  PassHour();
  PassHour();
  EXPECT_THAT(Runs("nightly"), ElementsAre("13:00 skipped", "12:00 waiting", "11:00 claimed"));
  a_.Call(a_.messages(), &messages::Messages::PromoteSome);
  EXPECT_THAT(a_.Claim(), IsEmpty()) << "it cannot be claimed";
  EXPECT_EQ(
      a_.Call(a_.messages(), &messages::Messages::Cancel, {"default", a_.Runs("nightly")[1].id})
          .outcome,
      messages::CancelOutcome::kFired)
      << "nor is it a timer";
  a_.Ack(first.at(0));
  EXPECT_THAT(Runs("nightly"), ElementsAre("13:00 skipped", "12:00 ready", "11:00 done"));
  a_.Settle(Disposition::kDead, a_.Claim().at(0), "never");
  PassHour();
  EXPECT_THAT(Runs("nightly").front(), "14:00 ready") << "dead is not running";
}

TEST_P(JobsContract, ARunThatWaitsForNothingIsFoundByTheNextLook) {
  Put("nightly", Overlap::kQueueOne);
  PassHour();
  const auto first = a_.Claim();
  PassHour();
  clock().Advance(1'000);
  a_.FireAll();
  EXPECT_THAT(Runs("nightly"), ElementsAre("12:00 waiting", "11:00 claimed"));
  if (store_.is_sqlite()) GTEST_SKIP() << "the tables of the file are Tenure's own";
  // As if whoever ended it had not seen the one that waits.
  const auto tables = store::OpenPostgresTables(store_.url());
  tables->Ask("update tenure.job_runs set state = 2, ended_ms = 1 where state = 0");
  clock().Advance(60'000);
  a_.FireAll();
  EXPECT_THAT(Runs("nightly"), ElementsAre("12:00 ready", "11:00 done"));
  EXPECT_THAT(a_.Claim(), SizeIs(1));
}

}  // namespace
}  // namespace tenure::jobs
