// Idempotency-Key (spec 05, Doing it once), over HTTP. That every action takes one: routes_test.
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/message_calls.hpp"
#include "api/store_under_test.hpp"

namespace tenure::api {
namespace {

using support::HttpResponse;

class Idempotency : public testing::TestWithParam<Engine> {
 protected:
  HttpResponse Put(const Key& key, int kind, const std::string& once) {
    return api_.Call("PUT", "/sessions", PutBody(key, kind), {{"Idempotency-Key", once}});
  }

  Api api_{SharedServer(GetParam())};
  const Key key_ = NewKey();
};

TEST_P(Idempotency, TheFirstAnswerIsGivenAgainWhateverHappenedSince) {
  const std::string once = NewUuid();
  const HttpResponse first = Put(key_, 1, once);
  EXPECT_EQ(first.status, 201);
  EXPECT_EQ(api_.Put(key_, 3).Json()["status"].Text(), "upgraded");

  const HttpResponse again = Put(key_, 1, once);
  EXPECT_EQ(again.status, 201);
  EXPECT_EQ(again.body, first.body);
  EXPECT_EQ(again.FindHeader("Location"), first.FindHeader("Location"));
}

TEST_P(Idempotency, AnotherBodyUnderTheSameKeyIsRefused) {
  const std::string once = NewUuid();
  Put(key_, 1, once);
  const HttpResponse other = Put(key_, 2, once);
  EXPECT_EQ(other.status, 422);
  EXPECT_EQ(ProblemType(other), "idempotency-key-reused");
  EXPECT_EQ(api_.Put(key_, 1).Json()["sessionKind"].Int(), 1) << "nothing happened";
}

TEST_P(Idempotency, ARefusalIsKeptToo) {
  api_.Put(key_, 1);
  const Key foreign{key_.user, NewUuid(), key_.capacity};
  const std::string once = NewUuid();
  EXPECT_EQ(Put(foreign, 1, once).status, 409);
  EXPECT_EQ(Put(foreign, 1, once).status, 409);
}

TEST_P(Idempotency, AKeyThatIsNoKeyIsNamed) {
  for (const std::string& once : {std::string(256, 'k'), std::string("a b"), std::string("")}) {
    const HttpResponse response = Put(key_, 1, once);
    EXPECT_EQ(response.status, 400) << once;
    EXPECT_EQ(response.Json()["errors"][0]["field"].Text(), "Idempotency-Key");
  }
}

TEST_P(Idempotency, ManyAtOnceUnderOneKeyAreCarriedOutOnce) {
  const std::string once = NewUuid();
  std::vector<HttpResponse> answers(16);
  {
    std::vector<std::jthread> clients;
    for (auto& answer : answers)
      clients.emplace_back([&] {
        // Those that meet the first one under way are told to come again.
        do answer = Put(key_, 1, once);
        while (answer.status == 409);
      });
  }
  std::set<std::string> bodies;
  for (const auto& answer : answers) {
    EXPECT_EQ(answer.status, 201);
    bodies.insert(answer.body);
  }
  EXPECT_EQ(bodies.size(), 1u);
}

TEST_P(Idempotency, ARepeatedRedriveLeavesAloneWhatDiedSince) {
  const Topic topic(api_);
  const auto die = [&] {
    topic.Send();
    EXPECT_EQ(OutcomeOf(topic.Report("fail", topic.Take())), "done");
  };
  for (const std::string action : {"redrive", "discard"}) {
    const std::string once = NewUuid();
    const auto change = [&] {
      return api_.Call("POST", "/api/v1/dead-letters/" + action,
                       R"({"topic":")" + topic.name() + "\"}", {{"Idempotency-Key", once}});
    };
    die();
    const HttpResponse first = change();
    EXPECT_EQ(first.Json()["found"].Int(), 1) << first.body;
    if (action == "redrive") topic.Report("ack", topic.Take());
    die();
    EXPECT_EQ(change().body, first.body);
    const auto dead = api_.Get("/api/v1/dead-letters?topic=test%2F" + topic.name().substr(5));
    EXPECT_EQ(dead.Json()["items"].Size(), 1u) << "of " << action;
    api_.Call("POST", "/api/v1/dead-letters/discard", R"({"topic":")" + topic.name() + "\"}");
  }
}

TEST_P(Idempotency, ARepeatedPauseDoesNotUndoWhatCameSince) {
  const Topic topic(api_);
  const std::string once = NewUuid();
  const auto pause = [&] {
    return api_
        .Call("PATCH", topic.Path(), R"({"paused":true,"reason":"a test"})",
              {{"Idempotency-Key", once}})
        .Json()["paused"]
        .Bool();
  };
  EXPECT_TRUE(pause());
  topic.Change(R"({"paused":false})");
  EXPECT_FALSE(pause()) << "it is told how things stand";
  EXPECT_FALSE(topic.View()["paused"].Bool());
}

TEST_P(Idempotency, TheSameKeyAndBodyForAnotherPathIsAnotherRequest) {
  const std::string once = NewUuid();
  const auto change = [&] {
    return api_.Call("PATCH", Topic(api_).Path(), R"({"max_attempts":3})",
                     {{"Idempotency-Key", once}});
  };
  EXPECT_EQ(change().status, 200);
  EXPECT_EQ(change().status, 422);
}

INSTANTIATE_TEST_SUITE_P(Engines, Idempotency, testing::Values(Engine::kSqlite, Engine::kPostgres),
                         EngineName);

}  // namespace
}  // namespace tenure::api
