// Users' own transactions that called Tenure's functions and stay open (docs/ground.md, Strangers):
// holders of short leases lose none, and what others do to the same topics, jobs and queues is done. How long it
// takes is measured by bench/run --rows strangers.

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "api/calls.hpp"
#include "api/github.hpp"
#include "api/store_under_test.hpp"
#include "support/long_run.hpp"
#include "support/server_process.hpp"

namespace tenure::chaos {
namespace {

/// Holds a lease of 1.5 s and renews it every third of that; counts what it loses.
class Holder {
 public:
  explicit Holder(const api::Api& api)
      : lease_(api), thread_([this](const std::stop_token& stop) { Run(stop); }) {}

  int renewals() const { return renewals_; }
  int lost() const { return lost_; }

 private:
  void Run(const std::stop_token& stop) {
    lease_.Acquire({.ttl_ms = 1'500});
    while (!stop.stop_requested()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
      if (lease_.Renew().status == 200) {
        ++renewals_;
        continue;
      }
      ++lost_;
      lease_.Acquire({.ttl_ms = 1'500});
    }
  }

  api::Lease lease_;
  std::atomic<int> renewals_ = 0;
  std::atomic<int> lost_ = 0;
  std::jthread thread_;
};

TEST(Strangers, OpenTransactionsCostNobodyALeaseAndStopNoMessage) {
  const api::StoreUnderTest store(api::Engine::kPostgres);
  const auto server = store.Serve();
  const api::Api api(*server);
  const api::Topic fresh(api), known(api);
  known.Send();
  std::vector<std::unique_ptr<Holder>> holders;
  for (int i = 0; i < 8; ++i) holders.push_back(std::make_unique<Holder>(api));

  api::SqlSession new_topic(store.url()), new_priority(store.url());
  new_topic.Execute("begin");
  new_topic.Execute("select tenure.enqueue('" + fresh.name() + "', '1')");
  new_priority.Execute("begin");
  new_priority.Execute("select tenure.enqueue('" + known.name() + "', '1', priority => 1)");

  // The capabilities that came later: a job that is triggered, an ordered queue that is sent to.
  const api::GitHub github;
  const std::string bot = R"({"name":"b","events":["*"],"ordering_scope":"entity"})";
  ASSERT_EQ(api.Call("PUT", "/api/v1/bots", github.Bots(bot)).status, 200);
  const std::string job = "/api/v1/jobs/j", definition = R"({"topic":"t","every":"1h"})";
  ASSERT_EQ(api.Call("PUT", job, definition).status, 201);
  api::SqlSession trigger(store.url()), send(store.url());
  trigger.Execute("begin");
  trigger.Execute("select tenure.job_trigger('j')");
  send.Execute("begin");
  send.Execute("select tenure.queue_send('b', 'github.com/r1/thread/7', '1')");

  const auto renewals = [&] {
    int sum = 0;
    for (const auto& each : holders) sum += each->renewals();
    return sum;
  };
  // A few seconds of eight holders; a minute of them.
  const int wanted = support::IsLongRun() ? 8 * 120 : 8 * 6;
  while (renewals() < wanted) {
    ASSERT_EQ(fresh.Enqueue().status, 201);
    ASSERT_EQ(known.Enqueue(R"(,"priority":1)").status, 201);
    ASSERT_EQ(known.Change(R"({"max_attempts":7})").status, 200);
    ASSERT_EQ(api.Put(api::NewKey(), 1).status, 201);
    ASSERT_EQ(api.Call("POST", job + "/trigger", "{}").status, 201);
    ASSERT_EQ(api.Call("PUT", job, definition).status, 200);
    ASSERT_EQ(github.Post(api, {}).status, 200);
    ASSERT_EQ(api.Call("PUT", "/api/v1/bots", github.Bots(bot)).status, 200);
  }
  EXPECT_EQ(api.Call("DELETE", job).status, 204);
  for (const auto& each : holders) EXPECT_EQ(each->lost(), 0);
  new_topic.Execute("commit");
  new_priority.Execute("rollback");
  trigger.Execute("commit");
  send.Execute("commit");
}

}  // namespace
}  // namespace tenure::chaos
