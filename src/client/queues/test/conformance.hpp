#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/uuid.hpp"
#include "client/messages/test/signal.hpp"
#include "tenure/queues/client.hpp"
#include "tenure/queues/consumer.hpp"

/// What every backend of ordered queues has to do, as a GoogleTest suite: include this in one source
/// file of a test program and instantiate it (INSTANTIATE_TEST_SUITE_P). Queues are new in each test,
/// so a store may be used for many.
namespace tenure::queues::conformance {

using client::Counter;
using namespace std::chrono_literals;

/// A store that is reached in one of the library's ways.
struct Subject {
  std::string name{};
  std::function<std::string()> url{};
  bool pooled = false;
  /// Makes a queue without a back-off that parks a message at its second failure.
  std::function<void(const std::string& queue)> declare{};
};
inline void PrintTo(const Subject& subject, std::ostream* out) { *out << subject.name; }

class QueueConformance : public ::testing::TestWithParam<Subject> {
 protected:
  static std::string Declared() {
    std::string queue = "q" + base::RandomHex(8);
    GetParam().declare(queue);
    return queue;
  }
  void Send(const std::string& key, int count) {
    std::vector<SessionMessage> messages;
    for (int i = 1; i <= count; ++i)
      messages.push_back({.session_key = key, .payload = std::to_string(i)});
    client_.Send(messages);
  }
  Held Accept(const std::string& key = "") {
    auto held =
        client_.Accept({.consumer = "test", .wait = key.empty() ? 20'000ms : 0ms, .key = key});
    if (held.empty()) throw std::runtime_error("nothing to accept");
    return held.front();
  }
  static std::vector<std::string> Payloads(const std::vector<Delivery>& messages) {
    std::vector<std::string> payloads;
    for (const Delivery& each : messages) payloads.push_back(each.payload);
    return payloads;
  }
  ConsumerOptions Options(ConsumerOptions options = {}) const {
    options.pooled = GetParam().pooled;
    return options;
  }

  const std::string url_ = GetParam().url();
  const std::string queue_ = Declared();
  Client client_{url_, queue_, {.pooled = GetParam().pooled}};
};

TEST_P(QueueConformance, WhatIsSentComesBackAsItWent) {
  const Sent sent = client_.Send({.session_key = "k",
                                  .payload = R"({"n":1.50})",
                                  .correlation_id = "c",
                                  .headers = R"({"a":"b"})",
                                  .dedup_key = "once"});
  EXPECT_EQ(sent.sequence, 1);
  const Sent again = client_.Send({.session_key = "k", .payload = "2", .dedup_key = "once"});
  EXPECT_TRUE(again.duplicate);
  EXPECT_EQ(again.id, sent.id);
  client_.Send({.session_key = "k", .payload = std::string("\0\xff", 2), .is_bytes = true});
  const Held held = Accept();
  EXPECT_EQ(held.session, sent.session);
  EXPECT_EQ(held.key, "k");
  EXPECT_EQ(held.depth, 2);
  EXPECT_FALSE(held.state);
  ASSERT_EQ(held.messages.size(), 2u);
  const Delivery& first = held.messages[0];
  EXPECT_EQ(first.id, sent.id);
  EXPECT_EQ(first.payload, R"({"n":1.50})");
  EXPECT_EQ(first.correlation_id, "c");
  EXPECT_EQ(first.headers, R"({"a":"b"})");
  EXPECT_EQ(first.fence, held.fence);
  EXPECT_EQ(held.messages[1].payload, std::string("\0\xff", 2));
  EXPECT_TRUE(held.messages[1].is_bytes);
}

TEST_P(QueueConformance, Q1_WhatIsCompletedIsFollowedByTheNextAndAFormerHolderChangesNothing) {
  Send("k", 3);
  const Held held = Accept();
  Reported reported = client_.Complete(held, 1, "seen 1", 1);
  EXPECT_EQ(reported.outcome, Outcome::kDone);
  EXPECT_TRUE(reported.held);
  EXPECT_THAT(Payloads(reported.messages), ::testing::ElementsAre("2"));
  EXPECT_EQ(reported.messages[0].key, "k");
  EXPECT_EQ(client_.Complete(held, 1).outcome, Outcome::kGone);
  EXPECT_EQ(client_.Complete(held, 9).outcome, Outcome::kOutOfOrder);
  EXPECT_EQ(client_.Release(held).outcome, Outcome::kDone);
  const Held next = Accept();
  EXPECT_EQ(next.state, "seen 1");
  EXPECT_GT(next.fence, held.fence);
  EXPECT_THAT(client_.Renew(std::vector{held, next}), ::testing::ElementsAre(false, true));
  EXPECT_EQ(client_.Complete(held, 2).outcome, Outcome::kStale);
  reported = client_.Complete(next, 3);
  EXPECT_FALSE(reported.held);
}

TEST_P(QueueConformance, WhatFailsComesAgainAloneAndIsParkedAtItsBudget) {
  Send("k", 2);
  EXPECT_EQ(client_.Abandon(Accept(), 1, "no").outcome, Outcome::kDone);
  const Held second = Accept();
  EXPECT_EQ(second.messages.size(), 1u);
  EXPECT_EQ(second.messages[0].attempt, 2);
  client_.DeadLetter(second, 1, "never");
  EXPECT_TRUE(client_.Accept({.consumer = "test", .key = "k"}).empty()) << "it is parked";
  Send("l", 1);
  client_.Transfer(Accept(), "ann", 60'000ms);
  EXPECT_TRUE(client_.Accept({.consumer = "ben"}).empty());
  EXPECT_EQ(client_.Accept({.consumer = "ann"}).size(), 1u);
}

TEST_P(QueueConformance, AQueueThatIsNoneIsRefused) {
  Client nobody(url_, "nobody", {.pooled = GetParam().pooled});
  EXPECT_THROW(nobody.Accept(), QueueRefused);
  EXPECT_THROW(nobody.Send({.session_key = "k", .payload = "1"}), QueueRefused);
  EXPECT_THROW(client_.Send({.session_key = "", .payload = "1"}), std::invalid_argument);
  EXPECT_THROW(client_.Send({.session_key = "k", .payload = "{"}), std::invalid_argument);
}

TEST_P(QueueConformance, Q1_AConsumerHandlesSessionsInTheirOrderAndSeveralAtATime) {
  constexpr int kSessions = 6, kEach = 25;
  for (int i = 0; i < kSessions; ++i) Send("k" + std::to_string(i), kEach);
  std::mutex mutex;
  std::map<std::string, std::vector<std::int64_t>> handled;
  std::map<std::string, int> under_way;
  Counter count;
  const Consumer consumer(
      url_, queue_,
      [&](const Delivery& delivery, Context& context) {
        EXPECT_TRUE(context.IsHeld());
        EXPECT_EQ(context.fence(), delivery.fence);
        EXPECT_EQ(context.State().value_or("0"), std::to_string(delivery.sequence - 1));
        context.SetState(std::to_string(delivery.sequence));
        {
          const std::lock_guard lock(mutex);
          EXPECT_EQ(++under_way[delivery.key], 1) << "two handlers of one session";
        }
        std::this_thread::yield();
        const std::lock_guard lock(mutex);
        --under_way[delivery.key];
        handled[delivery.key].push_back(delivery.sequence);
        count.Add();
      },
      Options({.sessions = 3, .slice = 4}));
  ASSERT_TRUE(count.Await(kSessions * kEach));
  const std::lock_guard lock(mutex);
  for (const auto& [key, sequences] : handled) {
    ASSERT_EQ(sequences.size(), static_cast<std::size_t>(kEach)) << key;
    for (int i = 0; i < kEach; ++i) EXPECT_EQ(sequences[static_cast<std::size_t>(i)], i + 1);
  }
}

TEST_P(QueueConformance, WhatAHandlerThrowsStopsItsSessionAtThatMessageAndNoOther) {
  Send("bad", 4);
  Send("good", 1);
  Counter good, bad;
  Consumer consumer(
      url_, queue_,
      [&](const Delivery& delivery, Context&) {
        if (delivery.key == "good") return good.Add();
        if (delivery.sequence == 3) {
          bad.Add();
          throw std::runtime_error("no");
        }
      },
      Options({.sessions = 2}));
  ASSERT_TRUE(good.Await(1));
  ASSERT_TRUE(bad.Await(2)) << "it is tried again, and parked then";
  consumer.Stop();
  EXPECT_EQ(bad.value(), 2);
  EXPECT_EQ(consumer.stats().failed, 2);
  EXPECT_EQ(consumer.stats().done, 3) << "what came before it, and the other session";
}

TEST_P(QueueConformance, AStopBeginsNothingMoreAndGivesBackWhatIsLeft) {
  Send("k", 5);
  Counter begun, go_on;
  std::stop_source stop;
  ConsumerOptions options = Options({.sessions = 1});
  options.stop = stop.get_token();
  Consumer consumer(
      url_, queue_,
      [&](const Delivery&, Context&) {
        begun.Add();
        EXPECT_TRUE(go_on.Await(1));
      },
      options);
  ASSERT_TRUE(begun.Await(1));
  stop.request_stop();  // before the handler is let go on
  go_on.Add();
  consumer.Stop();
  const std::int64_t handled = begun.value();
  const Held next = Accept();
  EXPECT_EQ(next.messages.front().sequence, handled + 1);
  EXPECT_EQ(consumer.stats().in_hand, 0);
}

TEST_P(QueueConformance, AHoldThatIsTakenAwayIsToldToItsHandlerAndWhatItMadeIsStale) {
  Send("k", 1);
  Counter begun, stale;
  const Consumer consumer(
      url_, queue_,
      [&](const Delivery& delivery, Context& context) {
        if (begun.value() > 0) return;  // once more, under the next hold
        // Somebody else says that it is over: as an operator would.
        Client other(url_, queue_, {.pooled = GetParam().pooled});
        Held mine;
        mine.session = delivery.session;
        mine.fence = delivery.fence;
        other.Abandon(mine, delivery.sequence, "taken away");
        begun.Add();
        Counter lost;
        const std::stop_callback told(context.stop(), [&] { lost.Add(); });
        EXPECT_TRUE(lost.Await(1)) << "the renewal did not find out";
        EXPECT_FALSE(context.IsHeld());
        context.RetryAfter(0ms);
      },
      Options(
          {.sessions = 2, .lease = 1'500ms, .on_stale = [&](const Delivery&) { stale.Add(); }}));
  ASSERT_TRUE(begun.Await(1));
  EXPECT_TRUE(stale.Await(1));
}

}  // namespace tenure::queues::conformance
