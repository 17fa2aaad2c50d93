// Jobs while everything around them breaks: the servers that fire are killed at the very moment,
// PostgreSQL crashes, nothing is up for an hour. Afterwards each nominal time has exactly one run,
// by the tables and by what the worker saw (M3), and what was missed is as each policy says.

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/store_under_test.hpp"
#include "load.hpp"
#include "support/long_run.hpp"
#include "support/postgres_cluster.hpp"
#include "tenure/messages/worker.hpp"

namespace tenure::chaos {
namespace {

using api::Engine;
using api::Eventually;
using api::StoreUnderTest;
using testing::IsEmpty;

constexpr std::chrono::seconds kJobPatience{240};

/// Which runs were handled, by job and nominal time.
class RunWitness {
 public:
  using Time = std::pair<std::string, std::int64_t>;

  messages::Handler Handler() {
    return [this](const messages::Delivery& delivery, messages::Context& context) {
      const std::lock_guard lock(mutex_);
      seen_[{delivery.payload, context.nominal_time().value()}].insert(delivery.id);
    };
  }
  std::map<Time, std::set<std::string>> seen() const {
    const std::lock_guard lock(mutex_);
    return seen_;
  }

 private:
  mutable std::mutex mutex_;
  std::map<Time, std::set<std::string>> seen_;
};

/// Three servers, and jobs that are all due at the same moments.
class JobChaos : public testing::Test {
 protected:
  const bool is_long_ = support::IsLongRun();
  const int jobs_ = is_long_ ? 1'000 : 150;
  const int rounds_ = is_long_ ? 10 : 4;
  const std::int64_t period_ms_ = is_long_ ? 60'000 : 5'000;

  support::PostgresCluster cluster_;
  const StoreUnderTest store_{Engine::kPostgres, &cluster_};
  Servers servers_{3, [this] { return store_.Options(); }};

  /// Also while the store comes back.
  void Put(int job, bool enabled) {
    const std::string body =
        fmt::format(R"({{"topic":"t","cron":"{}","payload":{},"overlap":"allow","missed":"all",)"
                    R"("missed_cap":1000,"enabled":{}}})",
                    is_long_ ? "* * * * *" : "*/5 * * * * *", job, enabled);
    Eventually(
        "a job is put",
        [&] {
          return api::Api(servers_[0])
                     .Call("PUT", fmt::format("/api/v1/jobs/job-{}", job), body)
                     .status < 300;
        },
        kJobPatience);
  }
  std::int64_t Number(const std::string& sql) const { return std::stoll(store_.Execute(sql)); }
  void AwaitDone() {
    Eventually(
        "every run has ended",
        [&] {
          return store_.Execute("select count(*) from tenure.job_runs where state < 2") == "0";
        },
        kJobPatience);
  }
};

TEST_F(JobChaos, M3_EachNominalTimeHasOneRunWhileWhoeverFiresIsKilled) {
  for (int job = 0; job < jobs_; ++job) Put(job, true);
  RunWitness witness;
  messages::Worker worker(store_.url(), {{"t", witness.Handler()}}, {.concurrency = 4});
  std::mt19937_64 random(ChooseSeed());
  for (int round = 0; round < rounds_; ++round) {
    const std::int64_t due_ms =
        (api::WallMs() / period_ms_ + 1) * period_ms_ + static_cast<std::int64_t>(random() % 40);
    Eventually(
        "it is time", [&] { return api::WallMs() >= due_ms; }, kJobPatience);
    servers_.Kill(static_cast<std::size_t>(round) % servers_.size());
    if (round == rounds_ / 2) cluster_.Restart(support::PostgresCluster::StopMode::kImmediate);
  }
  for (int job = 0; job < jobs_; ++job) Put(job, false);
  AwaitDone();
  worker.Stop();

  EXPECT_EQ(Number("select count(*) from (select from tenure.job_runs where state <> 4 group by "
                   "job_id, nominal_ms having count(*) > 1) as twice"),
            0)
      << "M3: doubled";
  EXPECT_EQ(Number("select count(*) from tenure.job_runs where state <> 2"), 0);
  const std::string of_job = fmt::format(
      "select count(*) from tenure.jobs j where (select count(*) from tenure.job_runs r where "
      "r.job_id = j.id) <> j.changed_ms / {0} - (j.created_ms + {0} - 1) / {0} + 1",
      period_ms_);
  EXPECT_EQ(Number(of_job), 0) << "M3: lost";
  const auto seen = witness.seen();
  for (const auto& [time, runs] : seen)
    EXPECT_EQ(runs.size(), 1u) << "job " << time.first << " at " << time.second;
  EXPECT_EQ(std::ssize(seen), Number("select count(*) from tenure.job_runs"));
  EXPECT_GE(Number("select count(distinct nominal_ms) from tenure.job_runs"), rounds_);
}

TEST(JobRestart, NothingIsUpForAnHourAndEachPolicyDoesWhatItSays) {
  const StoreUnderTest store(Engine::kPostgres);
  const auto number = [&](const std::string& sql) { return std::stoll(store.Execute(sql)); };
  {
    const auto before = store.Serve();
    for (const char* missed : {"skip", "once", "all"}) {
      const auto answer = api::Api(*before).Call(
          "PUT", fmt::format("/api/v1/jobs/{}", missed),
          fmt::format(R"({{"topic":"t","cron":"*/20 * * * *","overlap":"allow","missed":"{}"}})",
                      missed));
      ASSERT_EQ(answer.status, 201) << answer.body;
    }
    before->Kill();
  }
  // As if everything had stood since then.
  constexpr std::int64_t kAwayMs = 100 * 60'000;  // of the schedule, too
  store.Execute(
      fmt::format("delete from tenure.job_runs; update tenure.jobs set created_ms = "
                  "created_ms - {0}, since_ms = since_ms - {0}, next_ms = next_ms - {0}, "
                  "look_ms = look_ms - {0}; select 1",
                  kAwayMs));
  const std::int64_t next_ms = number("select min(next_ms) from tenure.jobs");
  const auto server = store.Serve();
  Eventually("all are decided", [&] {
    return number("select count(*) from tenure.jobs where look_ms < " +
                  std::to_string(api::WallMs())) == 0;
  });
  for (const std::string missed : {"skip", "once", "all"}) {
    const std::string runs =
        " from tenure.job_runs r join tenure.jobs j on j.id = r.job_id and j.name = '" + missed +
        "' ";
    const std::int64_t made_ms = number("select min(r.made_ms)" + runs);
    std::vector<std::int64_t> due;
    for (std::int64_t at_ms = next_ms; at_ms <= made_ms - 10'000; at_ms += 20 * 60'000)
      due.push_back(at_ms);
    ASSERT_GE(due.size(), 4u);
    std::size_t wanted = 0;
    if (missed == "once") wanted = 1;
    if (missed == "all")
      wanted = static_cast<std::size_t>(std::ranges::count_if(
          due, [&](std::int64_t at_ms) { return at_ms >= made_ms - 3'600'000; }));
    EXPECT_EQ(number("select coalesce(sum(r.number), 0)" + runs + "where r.state = 4"),
              std::ssize(due) - static_cast<std::int64_t>(wanted))
        << missed;
    for (std::size_t i = due.size() - wanted; i < due.size(); ++i)
      EXPECT_EQ(number(fmt::format("select count(*){}where r.state < 4 and r.nominal_ms = {}", runs,
                                   due[i])),
                1)
          << missed;
    EXPECT_EQ(number(fmt::format("select count(*){}where r.state < 4 and r.nominal_ms <= {}", runs,
                                 due.back())),
              static_cast<std::int64_t>(wanted))
        << missed;
  }
}

}  // namespace
}  // namespace tenure::chaos
