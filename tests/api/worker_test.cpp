// Workers of the library against real servers, and what becomes of them when the store goes away.
#include "tenure/messages/worker.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include "api/message_calls.hpp"
#include "api/store_under_test.hpp"
#include "couriers/test/signal.hpp"
#include "tenure/messages/client.hpp"

namespace tenure::messages {
namespace {

using couriers::Counter;
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

class HttpWorkers : public testing::TestWithParam<api::Engine> {
 protected:
  const support::ServerProcess& server_ = api::SharedServer(GetParam());
  const api::Topic topic_{api::Api(server_)};
  Client client_{server_.Url()};
  Book book_;
};

INSTANTIATE_TEST_SUITE_P(Engines, HttpWorkers,
                         testing::Values(api::Engine::kSqlite, api::Engine::kPostgres),
                         api::EngineName);

TEST_P(HttpWorkers, HandleEachMessageOnce) {
  client_.Enqueue(Work(topic_.name(), 100));
  const auto handle = [&](const Delivery& delivery, Context& context) {
    EXPECT_TRUE(context.IsHeld());
    book_.Note(delivery);
  };
  Worker first(server_.Url(), {{topic_.name(), handle}}, {.prefetch = 20});
  Worker second(server_.Url(), {{topic_.name(), handle}}, {.concurrency = 2});
  client_.Enqueue(Work(topic_.name(), 100));  // while they run
  ASSERT_TRUE(book_.Await(200));
  first.Stop();
  second.Stop();
  for (const auto& [id, times] : book_.times()) EXPECT_EQ(times, 1) << id;
  EXPECT_EQ(first.stats().done + second.stats().done, 200);
  EXPECT_EQ(topic_.View()["ready"].Int() + topic_.View()["claimed"].Int(), 0);
}

TEST_P(HttpWorkers, TryAgainWhatThrewAndBuryWhatFailed) {
  topic_.Change(R"({"backoff_ms":1})");
  client_.Enqueue(Work(topic_.name(), 1));
  Counter tries;
  Worker worker(server_.Url(), {{topic_.name(), [&](const Delivery& delivery, Context& context) {
                                   tries.Add();
                                   if (delivery.attempt == 1) throw std::runtime_error("not yet");
                                   context.Fail("never");
                                 }}});
  ASSERT_TRUE(tries.Await(2));
  worker.Stop();
  EXPECT_EQ(worker.stats().retried, 1);
  EXPECT_EQ(worker.stats().failed, 1);
  EXPECT_EQ(topic_.View()["dead"].Int(), 1);
}

TEST_P(HttpWorkers, GiveBackWhatTheyHaveNotBegunWhenTheyStop) {
  client_.Enqueue(Work(topic_.name(), 3));
  Counter begun, may_end;
  Worker worker(server_.Url(),
                {{topic_.name(),
                  [&](const Delivery&, Context&) {
                    begun.Add();
                    EXPECT_TRUE(may_end.Await(1));
                  }}},
                {.concurrency = 1, .prefetch = 3});
  ASSERT_TRUE(begun.Await(1));
  std::jthread stopping([&] { worker.Stop(); });
  // They come back while the first is still in hand.
  std::set<std::string> back;
  while (back.size() < 2)
    for (const Delivery& each : client_.Claim({.topics = {topic_.name()}, .wait = 20s}))
      EXPECT_TRUE(back.insert(each.id).second && each.crashes == 0);
  may_end.Add();
  stopping.join();
  EXPECT_EQ(worker.stats().done, 1);
  EXPECT_EQ(worker.stats().given_back, 2);
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
