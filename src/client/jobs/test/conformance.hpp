#pragma once

#include <algorithm>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/uuid.hpp"
#include "client/messages/test/signal.hpp"
#include "tenure/jobs/client.hpp"
#include "tenure/messages/worker.hpp"

/// What jobs do in each of the library's ways, as a GoogleTest suite (as that of messages,
/// client/messages/test/conformance.hpp). Names are new in each test.
namespace tenure::jobs::conformance {

using namespace std::chrono_literals;

struct Subject {
  std::string name{};
  std::function<std::string()> url{};
  bool pooled = false;
};
inline void PrintTo(const Subject& subject, std::ostream* out) { *out << subject.name; }

class JobConformance : public ::testing::TestWithParam<Subject> {
 protected:
  Job Hourly() const {
    Job job;
    job.name = name_;
    job.topic = name_;
    job.when.cron = "0 * * * *";
    return job;
  }
  messages::WorkerOptions Options() const {
    messages::WorkerOptions options;
    options.pooled = GetParam().pooled;
    return options;
  }
  /// Until the job's latest run stands so.
  [[nodiscard]] bool AwaitLatest(RunStatus status) {
    for (int i = 0; i < 600; ++i) {
      const auto runs = jobs_.Runs(name_);
      if (runs && !runs->empty() && runs->front().status == status) return true;
      std::this_thread::sleep_for(100ms);
    }
    return false;
  }

  const std::string url_ = GetParam().url();
  const std::string name_ = "job-" + base::RandomHex(8);
  Client jobs_{url_, {.pooled = GetParam().pooled}};
};

TEST_P(JobConformance, AJobIsMadeChangedLookedAtAndRemoved) {
  Job job = Hourly();
  job.when.time_zone = "Europe/Berlin";
  job.payload = R"({"a":1})";
  job.headers = R"({"type":"x"})";
  job.missed = Missed::kAll;
  job.overlap = Overlap::kQueueOne;
  job.jitter = 5ms;
  job.ends_at_ms = 4'102'444'800'000;
  const PutResult made = jobs_.Put(job);
  EXPECT_TRUE(made.created);
  EXPECT_EQ(made.job.when.cron, job.when.cron);
  EXPECT_EQ(made.job.when.time_zone, "Europe/Berlin");
  EXPECT_EQ(made.job.payload, job.payload);
  EXPECT_EQ(made.job.headers, job.headers);
  EXPECT_EQ(made.job.missed, Missed::kAll);
  EXPECT_EQ(made.job.overlap, Overlap::kQueueOne);
  EXPECT_EQ(made.job.ends_at_ms, job.ends_at_ms);
  EXPECT_EQ(made.job.upcoming.size(), 20u);
  EXPECT_EQ(made.job.upcoming.front().time_ms, made.job.next_run_ms);
  const PutResult again = jobs_.Put(job);
  EXPECT_FALSE(again.created);
  EXPECT_EQ(again.job.revision, made.job.revision);
  job.priority = 1;
  EXPECT_GT(jobs_.Put(job, made.job.revision).job.revision, made.job.revision);
  try {
    jobs_.Put(job, made.job.revision);
    ADD_FAILURE() << "the revision is another one";
  } catch (const Refused& refused) {
    EXPECT_EQ(refused.reason(), "job-changed");
  }
  EXPECT_EQ(jobs_.Get(name_)->priority, 1);
  EXPECT_EQ(jobs_.List(name_.substr(0, name_.size() - 1), 1).front().name, name_);
  EXPECT_TRUE(jobs_.Delete(name_));
  EXPECT_FALSE(jobs_.Delete(name_));
  EXPECT_FALSE(jobs_.Get(name_));
  EXPECT_FALSE(jobs_.Runs(name_));
  EXPECT_FALSE(jobs_.Trigger(name_));
  EXPECT_FALSE(jobs_.Pause(name_));
}

TEST_P(JobConformance, WhatCannotBeMeantIsRefusedByItsField) {
  const auto refusal = [&](const std::function<void(Job&)>& spoil) -> std::string {
    Job job = Hourly();
    spoil(job);
    try {
      jobs_.Put(job);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "was taken";
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(refusal([](Job& job) { job.when.cron = "0 25 * * *"; }), HasSubstr("cron"));
  EXPECT_THAT(refusal([](Job& job) { job.when.time_zone = "Europe/Berln"; }),
              HasSubstr("Europe/Berlin"));
  EXPECT_THAT(refusal([](Job& job) { job.when.every = 1s; }), HasSubstr("every"));
  EXPECT_THAT(refusal([](Job& job) { job.priority = 10; }), HasSubstr("priority"));
  EXPECT_THAT(refusal([](Job& job) { job.payload = R"(1,"enabled":false)"; }),
              HasSubstr("payload"));
  EXPECT_THAT(refusal([](Job& job) { job.name = "a/b"; }), HasSubstr("name"));
}

TEST_P(JobConformance, ARunIsHandledOnceForItsNominalTimeAndEndsWithItsMessage) {
  jobs_.Put(Hourly());
  const auto run = jobs_.Trigger(name_, {.payload = "7", .key = name_});
  ASSERT_TRUE(run);
  EXPECT_EQ(jobs_.Trigger(name_, {.payload = "7", .key = name_}), run) << "the same key";
  EXPECT_THROW(jobs_.Trigger(name_, {.payload = "8", .key = name_}), Refused);
  client::Counter handled;
  std::optional<std::int64_t> nominal_ms;
  messages::Worker worker(url_,
                          {{name_,
                            [&](const messages::Delivery& delivery, messages::Context& context) {
                              EXPECT_EQ(delivery.payload, "7");
                              nominal_ms = context.nominal_time();
                              handled.Add();
                            }}},
                          Options());
  ASSERT_TRUE(handled.Await(1));
  ASSERT_TRUE(AwaitLatest(RunStatus::kDone)) << "who acknowledges ends the run";
  const auto runs = jobs_.Runs(name_);
  ASSERT_EQ(runs->size(), 1u);
  EXPECT_EQ(runs->front().id, *run);
  EXPECT_EQ(runs->front().kind, RunKind::kTrigger);
  EXPECT_EQ(runs->front().nominal_ms, nominal_ms);
  EXPECT_EQ(jobs_.Get(name_)->last_status, RunStatus::kDone);
}

TEST_P(JobConformance, AFailedRunIsDead) {
  jobs_.Put(Hourly());
  ASSERT_TRUE(jobs_.Trigger(name_));
  messages::Worker worker(
      url_,
      {{name_, [](const messages::Delivery&, messages::Context& context) { context.Fail("no"); }}},
      Options());
  ASSERT_TRUE(AwaitLatest(RunStatus::kDead));
  EXPECT_EQ(jobs_.Runs(name_, {.status = RunStatus::kDead})->front().error, "no");
}

TEST_P(JobConformance, WhatIsDueFires) {
  Job job = Hourly();
  job.when = {.every = 1s};
  job.overlap = Overlap::kAllow;
  jobs_.Put(job);
  client::Counter handled;
  std::mutex mutex;
  std::set<std::int64_t> nominal;
  messages::Worker worker(url_,
                          {{name_,
                            [&](const messages::Delivery&, messages::Context& context) {
                              const std::lock_guard lock(mutex);
                              EXPECT_TRUE(nominal.insert(context.nominal_time().value()).second);
                              handled.Add();
                            }}},
                          Options());
  EXPECT_TRUE(handled.Await(2));
  worker.Stop();
  EXPECT_TRUE(jobs_.Delete(name_));
  EXPECT_EQ((*nominal.rbegin() - *nominal.begin()) % 1'000, 0);
}

TEST_P(JobConformance, PausesBackfillsAndPreviews) {
  Job job = Hourly();
  job.when = {.every = 1h};
  job.starts_at_ms = 1'600'000'000'000;
  const JobState made = jobs_.Put(job).job;
  EXPECT_TRUE(jobs_.Pause(name_, "why"));
  EXPECT_TRUE(jobs_.Get(name_)->paused);
  EXPECT_EQ(jobs_.Get(name_)->paused_reason, "why");
  EXPECT_TRUE(jobs_.Resume(name_));
  EXPECT_FALSE(jobs_.Get(name_)->paused);
  const std::int64_t to_ms = made.next_run_ms - 3'600'000 + 1;
  const auto filled = jobs_.Backfill(name_, to_ms - 2 * 3'600'000, to_ms);
  ASSERT_TRUE(filled);
  EXPECT_EQ(filled->runs + filled->skipped, 2);
  EXPECT_THROW(jobs_.Backfill(name_, 0, to_ms), std::invalid_argument);
  const auto night = jobs_.Preview({.cron = "30 2 * * *", .time_zone = "Europe/Berlin"}, 2,
                                   1'774'720'800'000);  // 2026-03-28T18:00:00Z
  ASSERT_EQ(night.size(), 2u);
  EXPECT_EQ(night[0].local_time, "2026-03-29T03:00:00");
  EXPECT_EQ(night[0].offset, "+02:00");
  EXPECT_EQ(night[0].flag, "gap");
  EXPECT_EQ(night[1].flag, "");
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(JobConformance);

}  // namespace tenure::jobs::conformance
