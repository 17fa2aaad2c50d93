// Subscriptions of ordered queues, on every store: one message of each session under way, in order.

#include <gmock/gmock.h>

#include "push/test_process.hpp"

namespace tenure::push {
namespace {

using queues::State;
using store::EngineKind;
using testing::ElementsAre;
using testing::IsEmpty;

class PushedQueue : public testing::TestWithParam<EngineKind> {
 protected:
  base::ManualClock& clock() { return store_.clock(); }
  void Settle(TestProcess& process) { process.Pass(3'000, 500); }

  void Declare(const queues::QueueSettings& settings = {}, const std::string& rule = "") {
    a_.Call(a_.queues(), &queues::Queues::Declare, {"default", "q", {settings, rule, false}});
  }
  /// `count` messages, numbered from `first`.
  void Send(const std::string& key, int count, int first = 1) {
    queues::SendRequest request{"default", "q", {}, true};
    for (int i = 0; i < count; ++i) {
      queues::NewMessage message;
      message.key = key;
      message.payload = '"' + key + std::to_string(first + i) + '"';
      request.messages.push_back(std::move(message));
    }
    a_.Call(a_.queues(), &queues::Queues::Send, std::move(request));
    a_.Drive();
  }
  PutCommand Wish(std::int64_t max_in_flight = 16) {
    PutCommand put = a_.Wish("s", "queue:q");
    put.max_in_flight = max_in_flight;
    return put;
  }
  void Begin(std::int64_t max_in_flight = 16) {
    a_.Change(Wish(max_in_flight));
    a_.deliverer().Start();
    Settle(a_);
  }
  static std::vector<std::string> UnderWay(TestProcess& process) {
    std::vector<std::string> payloads;
    for (const auto& request : process.requests()) payloads.push_back(request.payload);
    std::ranges::sort(payloads);
    return payloads;
  }
  queues::SessionView Session(const std::string& key) {
    queues::SessionsRequest request{.tenant = "default", .queue = "q"};
    request.key = key;
    return a_.Call(a_.queues(), &queues::Queues::ListSessions, std::move(request)).rows.at(0);
  }
  queues::QueueView Queue() {
    return a_.Call(a_.queues(), &queues::Queues::List, {.tenant = "default", .name = "q"})
        .rows.at(0);
  }

  const std::vector<const db::Query*> queries_ = QueriesOfPush();
  store::TestStore store_{GetParam(), queries_};
  TestProcess a_{store_, "a"};
};
INSTANTIATE_TEST_SUITE_P(Stores, PushedQueue,
                         testing::Values(EngineKind::kSqlite, EngineKind::kPostgres),
                         store::EngineName);

TEST_P(PushedQueue, OneMessageOfEachSessionIsUnderWayAndTheNextWhenItIsAnswered) {
  Declare();
  Send("x", 3);
  Send("y", 2);
  Begin();
  EXPECT_THAT(UnderWay(a_), ElementsAre(R"("x1")", R"("y1")"));
  const Turn turn = *a_.requests()[0].turn;
  EXPECT_EQ(turn.queue, "q");
  EXPECT_EQ(turn.sequence, 1);
  EXPECT_EQ(Session("x").session.consumer, "push:s");
  std::vector<std::string> seen;
  for (int i = 0; i < 5; ++i) {
    ASSERT_FALSE(a_.requests().empty());
    seen.push_back(a_.requests()[0].payload);
    a_.Answer(204);
    EXPECT_LE(a_.requests().size(), 2u);
  }
  std::erase_if(seen, [](const std::string& each) { return each[1] != 'x'; });
  EXPECT_THAT(seen, ElementsAre(R"("x1")", R"("x2")", R"("x3")"));
  Settle(a_);
  EXPECT_THAT(a_.requests(), IsEmpty());
  EXPECT_EQ(Session("x").session.state, State::kIdle);
  EXPECT_EQ(Queue().sums.messages, 0);
  EXPECT_EQ(a_.Find("s")->delivered, 5);
}

TEST_P(PushedQueue, NoMoreSessionsThanMaxInFlightAreHeld) {
  Declare();
  for (const char* key : {"a", "b", "c", "d", "e"}) Send(key, 2);
  Begin(2);
  EXPECT_EQ(a_.requests().size(), 2u);
  for (int i = 0; i < 10; ++i) {
    EXPECT_LE(Queue().sums.held, 2);
    ASSERT_FALSE(a_.requests().empty()) << i;
    a_.Answer(200);
  }
  Settle(a_);
  EXPECT_EQ(a_.Find("s")->delivered, 10);
}

TEST_P(PushedQueue, AFaultOfTheMessageIsAnAttemptAndParksItsSessionAlone) {
  queues::QueueSettings settings;
  settings.max_delivery_count = 2;
  settings.backoff_ms = 0;
  Declare(settings);
  Send("x", 2);
  Begin(1);
  a_.Answer(500);
  Settle(a_);
  EXPECT_EQ(Session("x").session.attempts, 1);
  ASSERT_THAT(UnderWay(a_), ElementsAre(R"("x1")"));
  a_.Answer(422);
  Settle(a_);
  EXPECT_EQ(Session("x").session.state, State::kParked);
  EXPECT_THAT(Session("x").session.error, testing::HasSubstr("422"));
  EXPECT_THAT(a_.requests(), IsEmpty());
  EXPECT_EQ(a_.Find("s")->circuit.failures, 0);
  Send("y", 1);
  Settle(a_);
  EXPECT_THAT(UnderWay(a_), ElementsAre(R"("y1")"));
}

TEST_P(PushedQueue, AFaultOfTheEndpointCountsNoAttemptAndGivesTheSessionsBack) {
  queues::QueueSettings settings;
  settings.max_delivery_count = 2;
  settings.max_concurrent_sessions = 3;
  Declare(settings);
  for (const char* key : {"a", "b", "c"}) Send(key, 1);
  Begin();
  ASSERT_EQ(a_.requests().size(), 3u);
  for (int failures = 0; failures < 12; ++failures) {
    for (int second = 0; second < 70 && a_.requests().empty(); ++second) a_.Pass(1'000, 500);
    while (!a_.requests().empty()) a_.Answer(502);
    a_.Drive();
    EXPECT_EQ(Queue().sums.held, 0) << "no place is taken while nothing is sent";
  }
  for (const char* key : {"a", "b", "c"}) {
    EXPECT_EQ(Session(key).session.attempts, 0);
    EXPECT_EQ(Session(key).session.state, State::kReady);
  }
  EXPECT_EQ(StateText(*a_.Find("s"), clock().WallMs()), "open");
}

TEST_P(PushedQueue, GoneDisablesAndTheSessionsWait) {
  Declare();
  Send("x", 1);
  Send("y", 1);
  Begin();
  a_.Answer(410);
  a_.Answer(200);
  Settle(a_);
  EXPECT_EQ(StateText(*a_.Find("s"), clock().WallMs()), "disabled");
  EXPECT_EQ(Queue().sums.held, 0);
  EXPECT_EQ(Queue().sums.ready, 1);
  EXPECT_EQ(Session("x").session.attempts, 0);
}

TEST_P(PushedQueue, AHoldIsRenewedForAsLongAsItsMessageIsUnderWay) {
  queues::QueueSettings settings;
  settings.session_timeout_ms = 2'000;  // shorter than what is asked for
  settings.max_duration_ms = 0;
  Declare(settings);
  Send("x", 2);
  Begin();
  ASSERT_EQ(a_.requests().size(), 1u);
  a_.Pass(30'000, 500);
  ASSERT_EQ(a_.requests().size(), 1u);
  EXPECT_TRUE(a_.requests()[0].may_begin());
  const queues::SessionView view = Session("x");
  EXPECT_EQ(view.session.state, State::kHeld);
  EXPECT_GT(view.session.lease_until_ms, view.now_ms);
  a_.Answer(200);
  EXPECT_THAT(UnderWay(a_), ElementsAre(R"("x2")"));
}

TEST_P(PushedQueue, WhatAnOperatorTookAwayIsNotBegunAndItsReportIsStale) {
  Declare();
  Send("x", 1);
  Begin();
  ASSERT_EQ(a_.requests().size(), 1u);
  queues::Report take{.kind = queues::Report::Kind::kBreak, .session = Session("x").session.id};
  a_.Await<queues::ReportReply>([&](auto done) {
    a_.queues().Report({"default", "q", {take}}, nullptr, std::move(done));
  });
  a_.Pass(4'000, 500);
  EXPECT_FALSE(a_.requests()[0].may_begin());
  ASSERT_EQ(a_.requests().size(), 2u) << "it was accepted again, under another fence";
  EXPECT_LT(a_.requests()[0].turn->fence, a_.requests()[1].turn->fence);
  a_.Answer(500);
  EXPECT_EQ(Session("x").session.attempts, 0) << "that was the old fence";
  a_.Answer(200);
  Settle(a_);
  EXPECT_EQ(Session("x").session.state, State::kIdle);
}

TEST_P(PushedQueue, AQueueWithoutOrderIsItsTopicUntilItIsOrdered) {
  queues::QueueSettings none;
  none.scope = queues::Scope::kNone;
  Declare(none);
  a_.Enqueue("queue:q", 2);
  Begin();
  EXPECT_THAT(UnderWay(a_), ElementsAre("0", "1"));
  EXPECT_FALSE(a_.requests()[0].turn);
  a_.Answer(200);
  a_.Answer(200);
  Settle(a_);
  Declare({}, "another");
  Send("x", 1);
  a_.Pass(25'000, 500);
  EXPECT_THAT(UnderWay(a_), ElementsAre(R"("x1")"));
  EXPECT_TRUE(a_.requests()[0].turn);
}

TEST_P(PushedQueue, WhatIsParkedOfATimeWithAnOrderKeepsNoMessageOfTheTopicWaiting) {
  queues::QueueSettings settings;
  settings.max_delivery_count = 1;
  Declare(settings);
  Send("x", 1);
  Begin();
  a_.Answer(500);
  Settle(a_);
  EXPECT_EQ(Session("x").session.state, State::kParked);
  settings.scope = queues::Scope::kNone;
  Declare(settings, "none");
  a_.Enqueue("queue:q", 1);
  a_.Pass(25'000, 500);
  EXPECT_THAT(UnderWay(a_), ElementsAre("0"));
  a_.Answer(200);
  a_.Enqueue("queue:q", 1);
  Settle(a_);
  EXPECT_THAT(UnderWay(a_), ElementsAre("0")) << "at once, from now on";
}

TEST_P(PushedQueue, AQueueThatIsNotThereIsAskedForNowAndThen) {
  Begin();
  EXPECT_THAT(a_.requests(), IsEmpty());
  Declare();
  Send("x", 1);
  a_.Pass(6'000, 500);
  EXPECT_THAT(UnderWay(a_), ElementsAre(R"("x1")"));
}

TEST_P(PushedQueue, ASubscriptionThatEndsFinishesWhatIsUnderWayAndKeepsNoSession) {
  Declare();
  Send("x", 2);
  Begin();
  ASSERT_EQ(a_.requests().size(), 1u);
  a_.Change(RemoveCommand{{"default", "s"}});
  Settle(a_);
  a_.Answer(200);
  Settle(a_);
  EXPECT_THAT(a_.requests(), IsEmpty());
  EXPECT_EQ(Session("x").session.head, 2) << "the first is done";
  EXPECT_EQ(Session("x").session.state, State::kReady);
}

class PushedQueueEnsemble : public PushedQueue {
 protected:
  TestProcess b_{store_, "b"};
};
INSTANTIATE_TEST_SUITE_P(Stores, PushedQueueEnsemble, testing::Values(EngineKind::kPostgres),
                         store::EngineName);

TEST_P(PushedQueueEnsemble, WhoDiesCostsNoMessageAnAttempt) {
  queues::QueueSettings settings;
  settings.max_delivery_count = 1;
  Declare(settings);
  Send("x", 2);
  Begin();
  ASSERT_EQ(a_.requests().size(), 1u);
  b_.deliverer().Start();
  // `a` is paused from here on.
  int steps = 0;
  for (; steps < 20 && b_.requests().empty(); ++steps) b_.Pass(500, 500);
  ASSERT_THAT(UnderWay(b_), ElementsAre(R"("x1")")) << "within 10 s";
  EXPECT_EQ(Session("x").session.attempts, 0);
  EXPECT_GT(b_.requests()[0].turn->fence, a_.requests()[0].turn->fence);
  EXPECT_FALSE(a_.requests()[0].may_begin());
  a_.Drive();
  EXPECT_THAT(a_.requests(), IsEmpty()) << "it cut off what it had";
  b_.Answer(200);
  b_.Answer(200);
  Settle(b_);
  EXPECT_EQ(Session("x").session.state, State::kIdle);
}

}  // namespace
}  // namespace tenure::push
