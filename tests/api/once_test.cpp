// Two headers of any write, over HTTP: Tenure-Fence (docs/leases.md) and Idempotency-Key
// (docs/ground.md, Doing it once). That every action takes a key: routes_test.
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/calls.hpp"
#include "api/store_under_test.hpp"

namespace tenure::api {
namespace {

using support::HttpHeaders;
using support::HttpResponse;

class Fencing : public testing::TestWithParam<Engine> {
 protected:
  Api api_{SharedServer(GetParam())};
  const Key key_ = NewKey();
  const HttpHeaders never_granted_{{"Tenure-Fence", NewUuid() + "=1"}};
};

TEST_P(Fencing, AWriteUnderAFenceThatWasNeverGrantedChangesNothing) {
  const HttpResponse put = api_.Call("PUT", "/sessions", PutBody(key_, 1), never_granted_);
  EXPECT_EQ(put.status, 412);
  EXPECT_EQ(ProblemType(put), "fence-stale");
  EXPECT_EQ(api_.Get("/sessions?userObjectId=" + key_.user).Json()["items"].Size(), 0u);

  const std::string id = api_.Put(key_, 1).Json()["sessionId"].Text();
  EXPECT_EQ(api_.Call("PUT", "/sessions", PutBody(key_, 1), never_granted_).status, 412)
      << "also where nothing would have changed";
  EXPECT_EQ(api_.Call("DELETE", "/sessions/" + id, {}, never_granted_).status, 412);
  EXPECT_EQ(api_.Session(id)["isActive"].Bool(), true);
}

TEST_P(Fencing, AWriteUnderALiveFenceHappensAndUnderAStaleOneChangesNothing) {
  Lease lease(api_);
  lease.Acquire();
  const HttpHeaders live{{"Tenure-Fence", lease.Claim()}};
  const HttpResponse put = api_.Call("PUT", "/sessions", PutBody(key_, 1), live);
  EXPECT_EQ(put.status, 201) << put.body;
  lease.Renew();
  EXPECT_EQ(api_.Call("PUT", "/sessions", PutBody(key_, 2), live).status, 201);

  lease.Break(R"(,"force":true)");
  lease.Acquire();
  const HttpResponse stale = api_.Call("PUT", "/sessions", PutBody(key_, 3), live);
  EXPECT_EQ(stale.status, 412);
  EXPECT_EQ(ProblemType(stale), "fence-stale");
  EXPECT_EQ(api_.Put(key_, 1).Json()["sessionKind"].Int(), 2) << "nothing happened";
  EXPECT_EQ(
      api_.Call("PUT", "/sessions", PutBody(key_, 3), {{"Tenure-Fence", lease.Claim()}}).status,
      201)
      << "the new holder's passes";
}

TEST_P(Fencing, WritesToLeasesAndTasksAreFencedToo) {
  Lease leader(api_);
  leader.Acquire();
  const HttpHeaders live{{"Tenure-Fence", leader.Claim()}};
  Lease shard(api_);
  EXPECT_EQ(shard.Post("acquire", Ask().Body(), live).status, 200);
  leader.Release();
  EXPECT_EQ(Lease(api_).Post("acquire", Ask().Body(), live).status, 412);
  EXPECT_EQ(Lease(api_).Post("acquire", Ask{.wait_ms = 60'000}.Body(), live).status, 412);
  EXPECT_EQ(shard.Break(R"(,"force":true)", live).status, 412);
  EXPECT_EQ(shard.Look()["state"].Text(), "held");
}

INSTANTIATE_TEST_SUITE_P(Engines, Fencing, EachEngine(), EngineName);

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

INSTANTIATE_TEST_SUITE_P(Engines, Idempotency, EachEngine(), EngineName);

}  // namespace
}  // namespace tenure::api
