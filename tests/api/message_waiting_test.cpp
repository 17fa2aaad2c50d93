// Waiting for messages over HTTP: who is woken by what, leaving, and what a stop does.
#include <signal.h>

#include <gtest/gtest.h>

#include "api/message_calls.hpp"
#include "api/sql_session.hpp"
#include "api/store_under_test.hpp"

namespace tenure::api {
namespace {

using support::HttpResponse;

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

INSTANTIATE_TEST_SUITE_P(Engines, MessageWaiting,
                         testing::Values(Engine::kSqlite, Engine::kPostgres), EngineName);

class MessageEnsemble : public testing::Test {
 protected:
  StoreUnderTest store_{Engine::kPostgres};
  std::unique_ptr<support::ServerProcess> one_ = store_.Serve({"--set", kSeldom});
  std::unique_ptr<support::ServerProcess> two_ = store_.Serve({"--set", kSeldom});
  Topic topic_{Api(*one_)};
};

TEST_F(MessageEnsemble, WhoWaitsIsWokenByAnEnqueueAtAnotherProcess) {
  for (int round = 0; round < 3; ++round) {
    WaitingClaim waiting(topic_);
    AwaitWaiting(topic_.api(), 1);
    const std::string id = topic_.SeenBy(Api(*two_)).Send();
    EXPECT_EQ(waiting.Answer().Json()["messages"][0]["id"].Text(), id);
  }
}

TEST_F(MessageEnsemble, WhoWaitsIsWokenByAUsersOwnTransaction) {
  SqlSession database(store_.url());
  WaitingClaim waiting(topic_);
  AwaitWaiting(topic_.api(), 1);
  database.Execute("begin");
  const std::string id =
      database.Execute("select tenure.enqueue('" + topic_.name() + "', '{\"a\": 1}')");
  EXPECT_EQ(topic_.SeenBy(Api(*two_)).Claim().Json()["messages"].Size(), 0U) << "not committed";
  database.Execute("commit");
  EXPECT_EQ(waiting.Answer().Json()["messages"][0]["id"].Text(), id);
}

TEST_F(MessageEnsemble, ATimerThatAnotherProcessSetFiresHere) {
  WaitingClaim waiting(topic_);
  AwaitWaiting(topic_.api(), 1);
  const std::string id = topic_.SeenBy(Api(*two_)).SetTimer(100);
  EXPECT_EQ(waiting.Answer().Json()["messages"][0]["id"].Text(), id);
}

TEST_F(MessageEnsemble, WhatOneProcessHandedOutAnotherFinishes) {
  topic_.Send();
  const Claimed claimed = topic_.Take();
  EXPECT_EQ(OutcomeOf(topic_.SeenBy(Api(*two_)).Report("ack", claimed)), "done");
}

}  // namespace
}  // namespace tenure::api
