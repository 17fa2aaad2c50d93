// The public library for messages on stores of our own. (Over HTTP: tests/api.)

#include "tenure/messages/worker.hpp"

#include <map>
#include <mutex>
#include <set>

#include <gtest/gtest.h>

#include "couriers/test/place.hpp"
#include "couriers/test/signal.hpp"
#include "tenure/messages/client.hpp"

namespace tenure::messages {
namespace {

using couriers::Counter;
using couriers::Place;
using couriers::PlaceKind;
using namespace std::chrono_literals;

class Workers : public testing::TestWithParam<PlaceKind> {
 protected:
  WorkerOptions Options(WorkerOptions options = {}) const {
    options.pooled = place_.pooled();
    return options;
  }
  std::vector<Enqueued> Enqueue(int count) {
    std::vector<Message> messages(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i)
      messages[static_cast<std::size_t>(i)] = {.topic = "work", .payload = std::to_string(i)};
    return client_.Enqueue(messages);
  }

  Place place_{GetParam()};
  Client client_{place_.url(), {.pooled = place_.pooled()}};
};

INSTANTIATE_TEST_SUITE_P(Stores, Workers,
                         testing::Values(PlaceKind::kSqlite, PlaceKind::kPostgres,
                                         PlaceKind::kPooledPostgres),
                         [](const auto& one) {
                           return one.param == PlaceKind::kSqlite     ? "Sqlite"
                                  : one.param == PlaceKind::kPostgres ? "Postgres"
                                                                      : "PooledPostgres";
                         });

TEST_P(Workers, HandleEachMessageOnce) {
  const auto sent = Enqueue(500);
  std::mutex mutex;
  std::map<std::string, int> handled;
  Counter count;
  const auto handle = [&](const Delivery& delivery, Context& context) {
    EXPECT_TRUE(context.IsHeld());
    const std::lock_guard lock(mutex);
    ++handled[delivery.id];
    count.Add();
  };
  Worker first(place_.url(), {{"work", handle}}, Options());
  Worker second(place_.url(), {{"work", handle}}, Options({.concurrency = 2}));
  Enqueue(500);  // while they run
  ASSERT_TRUE(count.Await(1'000));
  first.Stop();
  second.Stop();
  EXPECT_EQ(handled.size(), 1'000u);
  for (const auto& [id, times] : handled) EXPECT_EQ(times, 1) << id;
  EXPECT_EQ(first.stats().done + second.stats().done, 1'000);
  EXPECT_TRUE(client_.Claim({.topics = {"work"}}).empty());
}

TEST_P(Workers, TryAgainLaterWhatThrew) {
  place_.ChangeTopic({.name = "work", .backoff_ms = 1});
  Enqueue(1);
  Counter done;
  Worker worker(place_.url(),
                {{"work",
                  [&](const Delivery& delivery, Context&) {
                    if (delivery.attempt < 3) throw std::runtime_error("not yet");
                    done.Add();
                  }}},
                Options());
  ASSERT_TRUE(done.Await(1));
  worker.Stop();
  EXPECT_EQ(worker.stats().retried, 2);
  EXPECT_EQ(worker.stats().done, 1);
}

TEST_P(Workers, DoWhatTheHandlerAsksFor) {
  const std::string id = Enqueue(1).front().id;
  Counter done;
  Worker worker(place_.url(),
                {{"work",
                  [&](const Delivery& delivery, Context& context) {
                    done.Add();
                    if (delivery.attempt == 1) return context.RetryAfter(0ms);
                    context.Fail("never");
                  }}},
                Options());
  ASSERT_TRUE(done.Await(2));
  worker.Stop();
  EXPECT_EQ(worker.stats().failed, 1);
  const auto dead = place_.Dead();
  ASSERT_EQ(dead.letters.size(), 1u);
  EXPECT_EQ(dead.letters.front().id.ToString(), id);
  EXPECT_EQ(dead.letters.front().reason, DeathReason::kFailed);
  EXPECT_EQ(dead.letters.front().error, "never");
}

TEST_P(Workers, GiveBackAtOnceWhatTheyHaveNotBegunWhenTheyStop) {
  Enqueue(20);
  Counter begun, go_on;
  std::stop_source stop;
  Worker worker(place_.url(),
                {{"work",
                  [&](const Delivery&, Context&) {
                    begun.Add();
                    EXPECT_TRUE(go_on.Await(1));
                  }}},
                Options({.concurrency = 1, .stop = stop.get_token()}));
  ASSERT_TRUE(begun.Await(1));
  stop.request_stop();
  std::set<std::string> others;
  while (others.size() < 19) {
    const auto claimed = client_.Claim({.topics = {"work"}, .wait = 20s});
    ASSERT_FALSE(claimed.empty());
    for (const Delivery& each : claimed) {
      EXPECT_EQ(each.attempt, 1);
      EXPECT_EQ(each.crashes, 0);
      EXPECT_TRUE(others.insert(each.id).second);
    }
  }
  go_on.Add();
  worker.Stop();
  EXPECT_EQ(begun.value(), 1);
  EXPECT_EQ(worker.stats().done, 1);
}

TEST_P(Workers, TellHandlersToEndWhenTheGraceTimeIsOver) {
  Enqueue(1);
  Counter begun;
  Worker worker(place_.url(),
                {{"work",
                  [&](const Delivery&, Context& context) {
                    Counter told;
                    const std::stop_callback tell(context.stop(), [&] { told.Add(); });
                    begun.Add();
                    EXPECT_TRUE(told.Await(1));
                  }}},
                Options({.grace = 0ms}));
  ASSERT_TRUE(begun.Await(1));
  worker.Stop();
  EXPECT_EQ(worker.stats().done, 1);
}

TEST_P(Workers, AreToldWhenTheyLostAMessageAndWhenTheyReportItAllTheSame) {
  if (GetParam() == PlaceKind::kSqlite) GTEST_SKIP() << "nobody looks into the file from outside";
  const std::string id = Enqueue(1).front().id;
  Counter begun, told, again, stale;
  Worker worker(place_.url(),
                {{"work",
                  [&](const Delivery& delivery, Context& context) {
                    if (delivery.crashes > 0) return again.Add();
                    const std::stop_callback tell(context.stop(), [&] { told.Add(); });
                    begun.Add();
                    EXPECT_TRUE(told.Await(1));
                    EXPECT_FALSE(context.IsHeld());
                  }}},
                Options({.on_stale = [&](const Delivery& delivery) {
                  EXPECT_EQ(delivery.id, id);
                  stale.Add();
                }}));
  ASSERT_TRUE(begun.Await(1));
  while (place_.GiveUpWorkers() == 0) {
  }  // a heartbeat may have come between
  ASSERT_TRUE(told.Await(1));
  ASSERT_TRUE(stale.Await(1));
  ASSERT_TRUE(again.Await(1));  // under a new number
  worker.Stop();
  EXPECT_GE(worker.stats().lost, 1);
  EXPECT_EQ(worker.stats().stale, 1);
  EXPECT_EQ(worker.stats().done, 1);
}

TEST_P(Workers, ShareTheLineWithClients) {
  const Message message{.topic = "by hand",
                        .payload = std::string("\0\xff", 2),
                        .is_bytes = true,
                        .priority = 3,
                        .correlation_id = "order 7",
                        .headers = R"({"a":1})",
                        .traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                        .dedup_key = "once"};
  const Enqueued sent = client_.Enqueue(message);
  const Enqueued same = client_.Enqueue(message);
  EXPECT_FALSE(sent.duplicate);
  EXPECT_TRUE(same.duplicate);
  EXPECT_EQ(same.id, sent.id);
  const auto claimed = client_.Claim({.topics = {"by hand"}, .wait = 20s});
  ASSERT_EQ(claimed.size(), 1u);
  const Delivery& delivery = claimed.front();
  EXPECT_EQ(delivery.id, sent.id);
  EXPECT_EQ(delivery.payload, message.payload);
  EXPECT_TRUE(delivery.is_bytes);
  EXPECT_EQ(delivery.priority, 3);
  EXPECT_EQ(delivery.correlation_id, "order 7");
  EXPECT_EQ(delivery.headers, R"({"a":1})");
  EXPECT_EQ(delivery.traceparent, message.traceparent);
  EXPECT_EQ(client_.Extend({&delivery, 1}, 60s).front(), Outcome::kDone);
  EXPECT_EQ(client_.Abandon(delivery, "once more", 0ms), Outcome::kDone);
  EXPECT_EQ(client_.Acknowledge(delivery), Outcome::kStale);
  const auto again = client_.Claim({.topics = {"by hand"}, .wait = 20s});
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again.front().attempt, 2);
  EXPECT_EQ(client_.Acknowledge(again.front()), Outcome::kDone);
  EXPECT_EQ(client_.Acknowledge(again.front()), Outcome::kGone);
}

TEST_P(Workers, RefuseWhatNoStoreWouldTake) {
  EXPECT_THROW(client_.Enqueue({.topic = "", .payload = "1"}), std::invalid_argument);
  EXPECT_THROW(client_.Enqueue({.topic = "a", .payload = "1,2"}), std::invalid_argument);
  EXPECT_THROW(client_.Enqueue({.topic = "a", .payload = "1", .headers = "[]"}),
               std::invalid_argument);
  EXPECT_THROW(client_.Claim({}), std::invalid_argument);
  EXPECT_THROW(Worker(place_.url(), {}), std::invalid_argument);
}

TEST(OpenMessages, SaysWhatItTakes) {
  EXPECT_THROW(Client("redis://localhost"), std::invalid_argument);
  EXPECT_THROW(Client("postgres://127.0.0.1:1/nobody"), Unavailable);
}

}  // namespace
}  // namespace tenure::messages
