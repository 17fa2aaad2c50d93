// The conformance suites of leases and of messages over HTTP, on a server of each store; and
// workers whose store goes away.
#include "client/jobs/test/conformance.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include "api/calls.hpp"
#include "api/store_under_test.hpp"
#include "client/messages/test/conformance.hpp"
#include "client/queues/test/conformance.hpp"
#include "tenure/leases/conformance.hpp"
#include "tenure/messages/worker.hpp"

namespace tenure::messages {
namespace {

using client::Counter;
using namespace std::chrono_literals;

/// How often each message was handled.
class Book {
 public:
  void Note(const Delivery& delivery) {
    const std::lock_guard lock(mutex_);
    if (++times_[delivery.id] == 1) different_.Add();
  }
  [[nodiscard]] bool Await(std::int64_t messages) { return different_.Await(messages); }
  std::int64_t different() const { return different_.value(); }
  std::map<std::string, int> times() const {
    const std::lock_guard lock(mutex_);
    return times_;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, int> times_;
  Counter different_;
};

std::vector<Message> Work(const std::string& topic, int count) {
  std::vector<Message> messages;
  for (int i = 0; i < count; ++i)
    messages.push_back({.topic = topic, .payload = std::to_string(i)});
  return messages;
}

/// PostgreSQL goes away while handlers are under way, and comes back.
class Outage : public testing::TestWithParam<bool> {
 protected:
  bool is_direct() const { return GetParam(); }

  support::PostgresCluster cluster_;
  const api::StoreUnderTest store_{api::Engine::kPostgres, &cluster_};
  const std::unique_ptr<support::ServerProcess> server_ = store_.Serve();
  const std::string url_ = is_direct() ? store_.url() : server_->Url();
};

INSTANTIATE_TEST_SUITE_P(Ways, Outage, testing::Bool(),
                         [](const auto& one) { return one.param ? "Direct" : "OverHttp"; });

TEST_P(Outage, M1_NothingIsLostAndTheWorkerGoesOnByItself) {
  constexpr int kBefore = 100, kUntroubled = 20, kAfter = 50;
  Client client(url_);
  client.Enqueue(Work("work", kBefore));
  Book book;
  Counter outage, troubles;
  Worker worker(url_,
                {{"work",
                  [&](const Delivery& delivery, Context&) {
                    if (book.different() >= kUntroubled && !outage.Await(1))
                      throw std::runtime_error("PostgreSQL was not stopped");
                    book.Note(delivery);
                  }}},
                {.prefetch = 30, .on_trouble = [&](const std::string&) { troubles.Add(); }});
  ASSERT_TRUE(book.Await(kUntroubled));
  cluster_.Stop(support::PostgresCluster::StopMode::kImmediate);
  outage.Add();  // the handlers end, and what they made of their messages cannot be told
  ASSERT_TRUE(troubles.Await(1));
  cluster_.Start();
  ASSERT_TRUE(book.Await(kBefore)) << "of " << kBefore << " " << book.different();

  for (bool sent = false; !sent;) try {
      client.Enqueue(Work("work", kAfter));
      sent = true;
    } catch (const Unavailable&) {  // a connection may still be of before
    }
  ASSERT_TRUE(book.Await(kBefore + kAfter));
  // Until everything was told: then nothing is left, whatever was done twice.
  while (cluster_.IsRunning() && store_.Execute("select count(*) from tenure.messages") != "0") {
  }
  worker.Stop();
  EXPECT_EQ(store_.Execute("select count(*) from tenure.dead_letters"), "0");
  EXPECT_GE(worker.stats().done, kBefore + kAfter - worker.stats().stale);
}

}  // namespace
}  // namespace tenure::messages

namespace tenure::messages::conformance {
namespace {

Subject ServerSubject(api::Engine engine) {
  const auto api = [engine] { return api::Api(api::SharedServer(engine)); };
  return {.name = testing::PrintToString(engine),
          .url = [engine] { return api::SharedServer(engine).Url(); },
          .drop_backoff =
              [api](const std::string& topic) {
                api::Topic(api(), topic).Change(R"({"backoff_ms":1})");
              },
          .dead =
              [api](const std::string& topic) {
                std::vector<DeadLetter> letters;
                const auto listed =
                    api().Get("/api/v1/dead-letters?topic=test%2F" + topic.substr(5)).Json();
                for (const auto& each : listed["items"].Elements())
                  letters.push_back({each["id"].Text(), each["last_error"].Text()});
                return letters;
              }};
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Servers, MessageConformance,
                         ::testing::Values(ServerSubject(api::Engine::kSqlite),
                                           ServerSubject(api::Engine::kPostgres)),
                         [](const auto& one) { return one.param.name; });

}  // namespace tenure::messages::conformance

namespace tenure::queues::conformance {
namespace {

Subject ServerSubject(api::Engine engine) {
  return {.name = testing::PrintToString(engine),
          .url = [engine] { return api::SharedServer(engine).Url(); },
          .declare =
              [engine](const std::string& queue) {
                const auto applied =
                    api::Api(api::SharedServer(engine))
                        .Call("PUT", "/api/v1/bots",
                              R"({"sources":[],"bots":[{"name":")" + queue +
                                  R"(","events":[],"ordering_scope":"custom",)"
                                  R"("max_delivery_count":2,"retry_backoff":"0s"}]})");
                EXPECT_EQ(applied.status, 200) << applied.body;
              }};
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Servers, QueueConformance,
                         ::testing::Values(ServerSubject(api::Engine::kSqlite),
                                           ServerSubject(api::Engine::kPostgres)),
                         [](const auto& one) { return one.param.name; });

}  // namespace tenure::queues::conformance

namespace tenure::leases::conformance {
namespace {

Subject ServerSubject(const std::string& name, api::Engine engine) {
  return {.name = name,
          .open = [engine] { return OpenProvider(api::SharedServer(engine).Url()); },
          .advance = [](Milliseconds time) { std::this_thread::sleep_for(time); }};
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Servers, LeaseConformance,
                         ::testing::Values(ServerSubject("sqlite", api::Engine::kSqlite),
                                           ServerSubject("postgres", api::Engine::kPostgres)),
                         [](const auto& one) { return one.param.name; });

}  // namespace tenure::leases::conformance

namespace tenure::jobs::conformance {
namespace {

Subject JobsOfServer(const std::string& name, api::Engine engine) {
  return {.name = name, .url = [engine] { return api::SharedServer(engine).Url(); }};
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Servers, JobConformance,
                         ::testing::Values(JobsOfServer("sqlite", api::Engine::kSqlite),
                                           JobsOfServer("postgres", api::Engine::kPostgres)),
                         [](const auto& one) { return one.param.name; });

}  // namespace tenure::jobs::conformance
