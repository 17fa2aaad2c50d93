#pragma once

#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/uuid.hpp"
#include "client/messages/backend.hpp"
#include "client/messages/test/signal.hpp"
#include "tenure/messages/client.hpp"
#include "tenure/messages/worker.hpp"

/// What every message backend has to do, as a GoogleTest suite: include this in one source file of
/// a test program and instantiate it (INSTANTIATE_TEST_SUITE_P), as the suite of lease providers
/// (tenure/leases/conformance.hpp). Topics are new in each test, so a store may be used for many.
namespace tenure::messages::conformance {

using client::Counter;
using namespace std::chrono_literals;

struct DeadLetter {
  std::string id{};
  std::string error{};
};

/// A store that is reached in one of the library's ways, and a look behind the library.
struct Subject {
  std::string name{};
  std::function<std::string()> url{};
  bool pooled = false;
  /// What failed in this topic is due again at once.
  std::function<void(const std::string& topic)> drop_backoff{};
  std::function<std::vector<DeadLetter>(const std::string& topic)> dead{};
};
inline void PrintTo(const Subject& subject, std::ostream* out) { *out << subject.name; }

class MessageConformance : public ::testing::TestWithParam<Subject> {
 protected:
  WorkerOptions Options(WorkerOptions options = {}) const {
    options.pooled = GetParam().pooled;
    return options;
  }
  std::vector<Enqueued> Enqueue(int count) {
    std::vector<Message> messages;
    for (int i = 0; i < count; ++i)
      messages.push_back({.topic = topic_, .payload = std::to_string(i)});
    return client_.Enqueue(messages);
  }
  std::vector<Delivery> Claim() { return client_.Claim({.topics = {topic_}, .wait = 20s}); }
  std::map<std::string, Handler> With(Handler handler) const {
    return {{topic_, std::move(handler)}};
  }

  const std::string url_ = GetParam().url();
  const std::string topic_ = "test/" + base::RandomHex(8);
  Client client_{url_, {.pooled = GetParam().pooled}};
};

TEST_P(MessageConformance, WorkersHandleEachMessageOnce) {
  constexpr int kHalf = 250;
  Enqueue(kHalf);
  std::mutex mutex;
  std::map<std::string, int> handled;
  Counter count;
  const auto handle = [&](const Delivery& delivery, Context& context) {
    EXPECT_TRUE(context.IsHeld());
    const std::lock_guard lock(mutex);
    ++handled[delivery.id];
    count.Add();
  };
  Worker first(url_, With(handle), Options({.prefetch = 50}));
  Worker second(url_, With(handle), Options({.concurrency = 2}));
  Enqueue(kHalf);  // while they run
  ASSERT_TRUE(count.Await(2 * kHalf));
  first.Stop();
  second.Stop();
  EXPECT_EQ(handled.size(), 2u * kHalf);
  for (const auto& [id, times] : handled) EXPECT_EQ(times, 1) << id;
  EXPECT_EQ(first.stats().done + second.stats().done, 2 * kHalf);
  EXPECT_TRUE(client_.Claim({.topics = {topic_}}).empty());
}

TEST_P(MessageConformance, AWorkerTriesAgainLaterWhatThrew) {
  Enqueue(1);
  GetParam().drop_backoff(topic_);
  Counter done;
  Worker worker(url_, With([&](const Delivery& delivery, Context&) {
                  if (delivery.attempt < 3) throw std::runtime_error("not yet");
                  done.Add();
                }),
                Options());
  ASSERT_TRUE(done.Await(1));
  worker.Stop();
  EXPECT_EQ(worker.stats().retried, 2);
  EXPECT_EQ(worker.stats().done, 1);
}

TEST_P(MessageConformance, AWorkerDoesWhatTheHandlerAsksFor) {
  const std::string id = Enqueue(1).front().id;
  Counter done;
  Worker worker(url_, With([&](const Delivery& delivery, Context& context) {
                  done.Add();
                  if (delivery.attempt == 1) return context.RetryAfter(0ms);
                  context.Fail("never");
                }),
                Options());
  ASSERT_TRUE(done.Await(2));
  worker.Stop();
  EXPECT_EQ(worker.stats().retried, 1);
  EXPECT_EQ(worker.stats().failed, 1);
  const auto dead = GetParam().dead(topic_);
  ASSERT_EQ(dead.size(), 1u);
  EXPECT_EQ(dead.front().id, id);
  EXPECT_EQ(dead.front().error, "never");
}

TEST_P(MessageConformance, AWorkerGivesBackAtOnceWhatItHasNotBegunWhenItStops) {
  Enqueue(20);
  Counter begun, go_on;
  std::stop_source stop;
  Worker worker(url_, With([&](const Delivery&, Context&) {
                  begun.Add();
                  EXPECT_TRUE(go_on.Await(1));
                }),
                Options({.concurrency = 1, .prefetch = 10, .stop = stop.get_token()}));
  ASSERT_TRUE(begun.Await(1));
  stop.request_stop();
  // They come back while the first is still in hand.
  std::set<std::string> others;
  while (others.size() < 19) {
    const auto claimed = Claim();
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
  EXPECT_EQ(worker.stats().given_back, 9);
}

TEST_P(MessageConformance, AWorkerTellsHandlersToEndWhenTheGraceTimeIsOver) {
  Enqueue(1);
  Counter begun;
  Worker worker(url_, With([&](const Delivery&, Context& context) {
                  Counter told;
                  const std::stop_callback tell(context.stop(), [&] { told.Add(); });
                  begun.Add();
                  EXPECT_TRUE(told.Await(1));
                }),
                Options({.grace = 0ms}));
  ASSERT_TRUE(begun.Await(1));
  worker.Stop();
  EXPECT_EQ(worker.stats().done, 1);
}

TEST_P(MessageConformance, AHandlerMayAskForAnyTimeAndTheProcessLives) {
  Enqueue(1);
  Counter begun;
  Worker worker(url_, With([&](const Delivery&, Context& context) {
                  context.RetryAfter(24h * 367);  // a day more than any store takes
                  begun.Add();
                }),
                Options());
  ASSERT_TRUE(begun.Await(1));
  worker.Stop();
  EXPECT_EQ(worker.stats().retried, 1);
}

TEST_P(MessageConformance, AWorkerSaysAtOnceWhatItsStoreWouldRefuse) {
  const auto nothing = [](const Delivery&, Context&) {};
  EXPECT_THROW(Worker(url_, {}, Options()), std::invalid_argument);
  EXPECT_THROW(Worker(url_, With(nothing), Options({.lease = 999ms})), std::invalid_argument);
  EXPECT_THROW(Worker(url_, With(nothing), Options({.owner = std::string(201, 'o')})),
               std::invalid_argument);
  std::map<std::string, Handler> many;
  for (std::size_t i = 0; i <= kMaxClaimTopics; ++i) many[topic_ + std::to_string(i)] = nothing;
  EXPECT_THROW(Worker(url_, many, Options()), std::invalid_argument);
}

TEST_P(MessageConformance, ATimeThatNoCalendarHasIsRefusedAtTheDoor) {
  for (const std::int64_t due_at_ms : {std::int64_t{-1}, std::int64_t{253'402'300'800'000},
                                       std::numeric_limits<std::int64_t>::min()})
    EXPECT_THROW(client_.Enqueue({.topic = topic_, .payload = "1", .due_at_ms = due_at_ms}),
                 std::invalid_argument)
        << due_at_ms;
  EXPECT_THROW(client_.Enqueue({.topic = topic_, .payload = "\xEF\xBB\xBF{}"}),
               std::invalid_argument);
}

TEST_P(MessageConformance, WhatAClientPutsInComesOutAsItWas) {
  const Message message{.topic = topic_,
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
  const auto claimed = Claim();
  ASSERT_EQ(claimed.size(), 1u);
  const Delivery& delivery = claimed.front();
  EXPECT_EQ(delivery.id, sent.id);
  EXPECT_EQ(delivery.payload, message.payload);
  EXPECT_TRUE(delivery.is_bytes);
  EXPECT_EQ(delivery.priority, 3);
  EXPECT_EQ(delivery.correlation_id, "order 7");
  EXPECT_EQ(delivery.traceparent, message.traceparent);
  EXPECT_EQ(client_.Extend({&delivery, 1}, 60s).front(), Outcome::kDone);
  EXPECT_EQ(client_.Abandon(delivery, "once more", 0ms), Outcome::kDone);
  EXPECT_EQ(client_.Acknowledge(delivery), Outcome::kStale);
  const auto again = Claim();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again.front().attempt, 2);
  EXPECT_EQ(client_.Acknowledge(again.front()), Outcome::kDone);
  EXPECT_EQ(client_.Acknowledge(again.front()), Outcome::kGone);
}

TEST_P(MessageConformance, NumbersOfAPayloadKeepTheirDigits) {
  const std::string payload = R"({"n":12345678901234567890.10})";
  client_.Enqueue({.topic = topic_, .payload = payload});
  EXPECT_EQ(Claim().at(0).payload, payload);
}

TEST_P(MessageConformance, AClientRefusesWhatNoStoreWouldTake) {
  EXPECT_THROW(client_.Enqueue({.topic = "", .payload = "1"}), std::invalid_argument);
  EXPECT_THROW(client_.Enqueue({.topic = "a", .payload = "1,2"}), std::invalid_argument);
  EXPECT_THROW(client_.Enqueue({.topic = "a", .payload = "1", .headers = "[]"}),
               std::invalid_argument);
  EXPECT_THROW(client_.Claim({}), std::invalid_argument);
  EXPECT_THROW(client_.Claim({.topics = {topic_}, .lease = 999ms}), std::invalid_argument);
  Enqueue(1);
  EXPECT_THROW(client_.Abandon(Claim().at(0), "later", 24h * 367), std::invalid_argument);
}

/// More than a request may carry, if there are requests.
TEST_P(MessageConformance, LongErrorsOfManyMessagesAreAllTold) {
  constexpr int kMessages = 600;
  Enqueue(kMessages);
  const auto backend = client::OpenMessages(url_, {.pooled = GetParam().pooled});
  const auto claimed =
      backend->Claim({.topics = {topic_}, .max = kMessages, .wait = 20s, .owner = "test"}, 20s, {});
  ASSERT_EQ(claimed.messages.size(), static_cast<std::size_t>(kMessages));
  std::vector<client::Settlement> settlements;
  for (const Delivery& each : claimed.messages)
    settlements.push_back({each.id, each.fence, std::string(kMaxErrorBytes, '"'), {}});
  const auto outcomes = backend->Settle(Disposition::kDead, settlements, {}, 60s);
  EXPECT_EQ(outcomes, std::vector<Outcome>(kMessages, Outcome::kDone));
}

TEST_P(MessageConformance, AClaimThatIsStoppedReturnsSoonAndLosesNothing) {
  Counter begun;
  std::vector<Delivery> claimed;
  std::jthread waiting([&](const std::stop_token& stop) {
    begun.Add();
    claimed = client_.Claim({.topics = {topic_}, .wait = 50s}, stop);
  });
  ASSERT_TRUE(begun.Await(1));
  waiting.request_stop();
  waiting.join();
  EXPECT_TRUE(claimed.empty());
  const std::string id = Enqueue(1).front().id;
  EXPECT_EQ(Claim().at(0).id, id);
}

}  // namespace tenure::messages::conformance
