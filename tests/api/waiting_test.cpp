// Requests that wait, over HTTP: for leases and for messages. Who is served when, leaving, and what
// a stop does.
#include <signal.h>

#include <deque>

#include <gtest/gtest.h>

#include "api/calls.hpp"
#include "api/store_under_test.hpp"

namespace tenure::api {
namespace {

using support::HttpResponse;

constexpr std::int64_t kLongMs = 60'000;

class LeaseWaiting : public testing::TestWithParam<Engine> {
 protected:
  Api api_{SharedServer(GetParam())};
  Lease lease_{api_};
};

TEST_P(LeaseWaiting, WhoWaitsIsGrantedTheLeaseOnItsRelease) {
  lease_.Acquire();
  WaitingAcquire waiting(api_, lease_, {.holder = "next", .wait_ms = kLongMs});
  AwaitLine(lease_, 1);
  EXPECT_TRUE(lease_.Release().Json()["released"].Bool());
  const HttpResponse answer = waiting.Answer();
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.Json()["holder"].Text(), "next");
  EXPECT_GT(answer.Json()["fence"].Int(), lease_.fence());
  EXPECT_EQ(answer.Json()["remaining_ms"].Int(), answer.Json()["ttl_ms"].Int())
      << "the time in line is not taken off";
  EXPECT_EQ(lease_.Look()["waiters"].Int(), 0);
}

TEST_P(LeaseWaiting, AWaitThatIsOverIsAnOrdinaryRefusal) {
  lease_.Acquire({.holder = "somebody"});
  const HttpResponse answer = Lease(lease_).Acquire({.wait_ms = 50});
  EXPECT_EQ(answer.status, 409);
  EXPECT_EQ(answer.Json()["reason"].Text(), "held");
  EXPECT_EQ(answer.Json()["holder"].Text(), "somebody");
  EXPECT_EQ(lease_.Look()["waiters"].Int(), 0) << "it has left the line";
}

TEST_P(LeaseWaiting, AClientThatHangsUpLeavesTheLine) {
  lease_.Acquire();
  WaitingAcquire gone(api_, lease_, {.wait_ms = kLongMs});
  AwaitLine(lease_, 1);
  WaitingAcquire patient(api_, lease_, {.holder = "patient", .wait_ms = kLongMs});
  AwaitLine(lease_, 2);
  gone.Leave();
  AwaitLine(lease_, 1);
  lease_.Release();
  EXPECT_EQ(patient.Answer().Json()["holder"].Text(), "patient");
}

TEST_P(LeaseWaiting, AStopAnswersAllWhoWaitAtOnceAndTheyLeaveTheLine) {
  const StoreUnderTest store(GetParam());
  auto server = store.Serve();
  Lease lease{Api(*server)};
  lease.Acquire();
  WaitingAcquire one(Api(*server), lease, {.wait_ms = kLongMs});
  WaitingAcquire two(Api(*server), lease, {.wait_ms = kLongMs});
  AwaitLine(lease, 2);
  server->process().Kill(SIGTERM);
  for (WaitingAcquire* waiting : {&one, &two}) {
    const HttpResponse answer = waiting->Answer();
    EXPECT_EQ(answer.status, 503);
    EXPECT_EQ(ProblemType(answer), "stopping");
  }
  EXPECT_EQ(server->process().Wait(), 0);

  server = store.Serve();
  const Lease again = lease.SeenBy(Api(*server));
  EXPECT_EQ(again.Look()["waiters"].Int(), 0);
  EXPECT_EQ(again.Post("renew", lease.FenceAndTerm()).status, 200) << "who held it still does";
}

INSTANTIATE_TEST_SUITE_P(Engines, LeaseWaiting, EachEngine(), EngineName);

TEST(ManyWaiting, ThousandsThatHangUpTogetherTakeNobodysPlaceInTheQueues) {
  constexpr int kMany = 1'500;
  const StoreUnderTest store(Engine::kSqlite);
  const auto server =
      store.Serve({"--set", "lanes.queue_items=600", "--set", "lanes.batch_items=256"});
  const Api api(*server);
  Lease lease{api};
  ASSERT_EQ(lease.Acquire().status, 200);
  std::deque<WaitingAcquire> waiting;
  for (int i = 1; i <= kMany; ++i) {
    waiting.emplace_back(api, lease, Ask{.wait_ms = kLongMs});
    if (i % 100 == 0)
      Eventually("they wait", [&] { return Metric(api, "tenure_leasing_waiting_requests") == i; });
  }
  for (WaitingAcquire& each : waiting) each.Leave();
  for (int i = 0; i < 50; ++i) EXPECT_EQ(api.Put(NewKey(), 1).status, 201);
  EXPECT_EQ(lease.Renew().status, 200);
  AwaitLine(lease, 0);
  EXPECT_EQ(Metric(api, "tenure_leasing_waiting_requests"), 0);
}

TEST(ManyWaiting, WhatAllWaitForTogetherHasABound) {
  const StoreUnderTest store(Engine::kSqlite);
  const auto server = store.Serve();
  const Api api(*server);
  std::string topics;
  for (int i = 0; i < 100; ++i)
    topics += (i ? ",\"" : "\"") + std::string("t") + std::to_string(i) + "\"";
  const std::string body = R"({"topics":[)" + topics + R"(],"owner":"test","wait_ms":60000})";
  std::deque<WaitingCall> waiting;
  for (int i = 0; i < 200; ++i) waiting.emplace_back(api, "/api/v1/messages/claim", body);
  Eventually(
      "200 claims wait", [&] { return Metric(api, "tenure_messages_waiting_claims") == 200; },
      std::chrono::seconds(120));
  const HttpResponse refused = api.Call("POST", "/api/v1/messages/claim", body);
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(ProblemType(refused), "overloaded");
  EXPECT_NE(refused.FindHeader("Retry-After"), std::nullopt);
  waiting.front().Leave();
  AwaitWaiting(api, 199);
  WaitingCall again(api, "/api/v1/messages/claim", body);
  AwaitWaiting(api, 200);
}

class LeaseEnsemble : public testing::Test {
 protected:
  StoreUnderTest store_{Engine::kPostgres};
  std::unique_ptr<support::ServerProcess> one_ = store_.Serve();
  std::unique_ptr<support::ServerProcess> two_ = store_.Serve();
  Lease lease_{Api(*one_)};
};

TEST_F(LeaseEnsemble, WhoWaitsAtAnotherProcessIsGrantedTheLeaseOnItsRelease) {
  for (int round = 0; round < 5; ++round) {
    EXPECT_EQ(lease_.Acquire().status, 200);
    const Ask ask{.wait_ms = kLongMs};
    WaitingAcquire waiting(Api(*two_), lease_, ask);
    AwaitLine(lease_, 1);
    lease_.Release();
    const HttpResponse answer = waiting.Answer();
    ASSERT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(answer.Json()["fence"].Int(), lease_.fence() + 1);
    lease_.Post("release", R"({"term":")" + ask.term + "\"}");
  }
}

TEST_F(LeaseEnsemble, L3_AConnectionThatBreaksLateDoesNotReleaseWhatItsRepetitionWasGranted) {
  lease_.Acquire();
  const Ask ask{.wait_ms = kLongMs};
  const auto owner = [&] { return store_.Execute("select process from tenure.lease_tickets"); };
  WaitingAcquire first(Api(*one_), lease_, ask);
  AwaitLine(lease_, 1);
  const std::string first_owner = owner();
  WaitingAcquire again(Api(*two_), lease_, ask);
  Eventually("the other process waits for it too", [&] { return owner() != first_owner; });
  lease_.SeenBy(Api(*two_)).Post("release", lease_.FenceAndTerm());
  const HttpResponse granted = again.Answer();
  ASSERT_EQ(granted.status, 200) << granted.body;
  first.Leave();
  Eventually("the first request is gone",
             [&] { return Metric(Api(*one_), "tenure_leasing_waiting_requests") == 0; });
  const HttpResponse renewed = lease_.Post("renew", GrantJson(granted.Json()));
  EXPECT_EQ(renewed.status, 200) << renewed.body;
}

/// So seldom that a look by itself would be noticed: only a wake-up ends a wait in time.
constexpr const char* kSeldom = "messages.poll_max=60s";

class MessageWaiting : public testing::TestWithParam<Engine> {
 protected:
  Api api_{SharedServer(GetParam())};
  Topic topic_{api_};
};

TEST_P(MessageWaiting, WhoWaitsIsHandedWhatIsEnqueued) {
  WaitingClaim waiting(topic_);
  AwaitWaiting(api_, 1);
  const std::string id = topic_.Send();
  const HttpResponse answer = waiting.Answer();
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.Json()["messages"][0]["id"].Text(), id);
}

TEST_P(MessageWaiting, AWaitThatIsOverIsAnEmptyAnswer) {
  EXPECT_EQ(topic_.Claim(R"(,"wait_ms":50)").Json().Dump(), R"({"messages":[]})");
}

TEST_P(MessageWaiting, AClientThatHangsUpIsHandedNothing) {
  WaitingClaim gone(topic_);
  AwaitWaiting(api_, 1);
  gone.Leave();
  AwaitWaiting(api_, 0);
  topic_.Send();
  EXPECT_EQ(topic_.Claim().Json()["messages"].Size(), 1U);
}

TEST_P(MessageWaiting, AStopAnswersAllWhoWaitAtOnce) {
  const StoreUnderTest store(GetParam());
  const auto server = store.Serve();
  const Topic topic{Api(*server)};
  WaitingClaim one(topic);
  WaitingClaim two(topic);
  AwaitWaiting(topic.api(), 2);
  server->process().Kill(SIGTERM);
  for (WaitingClaim* waiting : {&one, &two}) {
    const HttpResponse answer = waiting->Answer();
    EXPECT_EQ(answer.status, 503);
    EXPECT_EQ(ProblemType(answer), "stopping");
  }
  EXPECT_EQ(server->process().Wait(), 0);
}

INSTANTIATE_TEST_SUITE_P(Engines, MessageWaiting, EachEngine(), EngineName);

class MessageEnsemble : public testing::Test {
 protected:
  StoreUnderTest store_{Engine::kPostgres};
  std::unique_ptr<support::ServerProcess> one_ = store_.Serve({"--set", kSeldom});
  std::unique_ptr<support::ServerProcess> two_ = store_.Serve({"--set", kSeldom});
  Topic topic_{Api(*one_)};
};

TEST_F(MessageEnsemble, ATimerThatAnotherProcessSetFiresHere) {
  WaitingClaim waiting(topic_);
  AwaitWaiting(topic_.api(), 1);
  const std::string id = topic_.SeenBy(Api(*two_)).SetTimer(100);
  EXPECT_EQ(waiting.Answer().Json()["messages"][0]["id"].Text(), id);
}

/// A server died of the like: the refusal was there before anybody waited for its client to go.
TEST(StoreAway, WhoWantsToWaitForALeaseOrAMessageIsRefusedAndTheServerLivesOn) {
  support::PostgresCluster postgres;
  const StoreUnderTest store(Engine::kPostgres, &postgres);
  const auto server = store.Serve();
  const Api api(*server);
  Lease lease(api);
  const Topic topic(api);
  ASSERT_EQ(lease.Acquire().status, 200);
  // These wait already; those below come when the lanes refuse at once.
  WaitingAcquire waiting(api, lease, {.wait_ms = kLongMs});
  WaitingClaim claiming(topic);
  AwaitLine(lease, 1);
  AwaitWaiting(api, 1);
  postgres.Stop(support::PostgresCluster::StopMode::kFast);
  Eventually("the server knows", [&] { return api.Get("/readyz").status == 503; });
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(lease.SeenBy(api).Acquire({.wait_ms = kLongMs}).status, 503);
    EXPECT_EQ(topic.Claim(R"(,"wait_ms":60000)").status, 503);
  }
  EXPECT_EQ(api.Get("/livez").status, 200);
  waiting.Leave();
  claiming.Leave();
  EXPECT_EQ(api.Get("/livez").status, 200);
  postgres.Start();
  Eventually("it is ready again", [&] { return api.Get("/readyz").status == 200; });
  EXPECT_EQ(lease.Release().status, 200);
}

}  // namespace
}  // namespace tenure::api
