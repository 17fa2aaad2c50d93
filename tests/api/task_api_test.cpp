// Reliable tasks over HTTP (spec 20): offering, running, finishing, asking for a run.
#include <set>

#include <gtest/gtest.h>

#include "api/lease_calls.hpp"
#include "api/store_under_test.hpp"

namespace tenure::api {
namespace {

using support::HttpResponse;
using support::Json;

constexpr std::int64_t kHourMs = 3'600'000;

class TaskApi : public testing::TestWithParam<Engine> {
 protected:
  HttpResponse Post(const std::string& action, const std::string& body) const {
    return api_.Call("POST", "/api/v1/tasks/" + name_ + "/" + action, body);
  }
  static std::string ClaimBody(const std::string& term, std::int64_t interval_ms = kHourMs,
                               std::int64_t lock_timeout_ms = 120'000) {
    return R"({"term":")" + term + R"(","holder":"worker","interval_ms":)" +
           std::to_string(interval_ms) + R"(,"lock_timeout_ms":)" +
           std::to_string(lock_timeout_ms) + "}";
  }
  Json Claim(const std::string& term = NewUuid()) const {
    return Post("claim", ClaimBody(term)).Json();
  }
  Json Finish(const Json& run, const std::string& more = "") const {
    return Post("finish", R"({"fence":)" + std::to_string(run["lock"]["fence"].Int()) +
                              R"(,"term":")" + run["lock"]["term"].Text() + "\"" + more + "}")
        .Json();
  }
  Json Listed() const {
    const Json page = api_.Get("/api/v1/tasks").Json();
    for (const Json& task : page["items"].Elements())
      if (task["name"].Text() == name_) return task;
    throw std::runtime_error("the task is not in the list");
  }

  Api api_{SharedServer(GetParam())};
  const std::string name_ = "test-" + NewUuid();
};

TEST_P(TaskApi, T1_ADueRunIsHandedToOneWithItsNominalTimeAndItsLock) {
  const Json run = Claim();
  EXPECT_TRUE(run["due"].Bool());
  EXPECT_EQ(run["nominal_ms"].Int() % kHourMs, 0) << "on the grid";
  EXPECT_EQ(TimeMs(run["nominal_at"].Text()), run["nominal_ms"].Int());
  EXPECT_EQ(run["lock"]["name"].Text(), "task/" + name_);
  EXPECT_FALSE(run["reclaimed"].Bool());
  const Json other = Claim();
  EXPECT_FALSE(other["due"].Bool());
  EXPECT_GT(other["retry_after_ms"].Int(), 0);
}

TEST_P(TaskApi, AClaimWithTheSameTermIsTheSameRun) {
  const std::string term = NewUuid();
  const Json first = Claim(term);
  const Json again = Claim(term);
  EXPECT_TRUE(again["due"].Bool());
  EXPECT_EQ(again["nominal_ms"].Int(), first["nominal_ms"].Int());
  EXPECT_EQ(again["lock"]["fence"].Int(), first["lock"]["fence"].Int());
}

TEST_P(TaskApi, TheLockIsALeaseLikeAnyOther) {
  const Json run = Claim();
  Lease lock(api_, run["lock"]["name"].Text());
  EXPECT_EQ(lock.Acquire().status, 409);
  EXPECT_EQ(lock.Look()["holder"].Text(), "worker");
  EXPECT_EQ(lock.Post("renew", R"({"fence":)" + std::to_string(run["lock"]["fence"].Int()) +
                                   R"(,"term":")" + run["lock"]["term"].Text() + "\"}")
                .status,
            200);
}

TEST_P(TaskApi, ACompleteRunIsFollowedByTheNextGridTime) {
  const Json run = Claim();
  const Json finished = Finish(run);
  EXPECT_TRUE(finished["accepted"].Bool());
  EXPECT_FALSE(finished.Has("reason"));
  EXPECT_EQ(TimeMs(finished["next_run_at"].Text()) % kHourMs, 0);
  EXPECT_GT(TimeMs(finished["next_run_at"].Text()), run["nominal_ms"].Int());
  EXPECT_FALSE(Claim()["due"].Bool());
  const Json task = Listed();
  EXPECT_EQ(task["runs"].Int(), 1);
  EXPECT_EQ(task["interval_ms"].Int(), kHourMs);
  EXPECT_EQ(task["last_nominal_at"].Text(), run["nominal_at"].Text());
  EXPECT_EQ(task["next_run_at"].Text(), finished["next_run_at"].Text());
  EXPECT_TRUE(task["holder"].IsNull());
}

TEST_P(TaskApi, T1_ARunIsFinishedOnceAndByItsOwnerOnly) {
  const Json run = Claim();
  const std::string stranger = R"({"fence":)" + std::to_string(run["lock"]["fence"].Int()) +
                               R"(,"term":")" + NewUuid() + "\"}";
  EXPECT_FALSE(Post("finish", stranger).Json()["accepted"].Bool());
  EXPECT_TRUE(Finish(run)["accepted"].Bool());
  const Json again = Finish(run);
  EXPECT_FALSE(again["accepted"].Bool());
  EXPECT_EQ(again["reason"].Text(), "released");
  EXPECT_EQ(Listed()["runs"].Int(), 1);
}

TEST_P(TaskApi, AFailedRunIsKeptInMindAndDueAgainSoon) {
  const Json run = Claim();
  EXPECT_TRUE(Finish(run, R"(,"error":"the disk is full")")["accepted"].Bool());
  const Json task = Listed();
  EXPECT_EQ(task["failures"].Int(), 1);
  EXPECT_EQ(task["last_error"].Text(), "the disk is full");
  EXPECT_EQ(task["runs"].Int(), 0);
  Json again = Claim();
  Eventually("it is due again", [&] {
    if (!again["due"].Bool()) again = Claim();
    return again["due"].Bool();
  });
  EXPECT_EQ(again["nominal_ms"].Int(), run["nominal_ms"].Int()) << "the same run, not the next";
  Finish(again);
  EXPECT_EQ(Listed()["failures"].Int(), 0);
  EXPECT_FALSE(Listed().Has("last_error"));
}

TEST_P(TaskApi, ARunWhoseProcessDiedIsTakenOver) {
  EXPECT_TRUE(Post("claim", ClaimBody(NewUuid(), kHourMs, 100)).Json()["due"].Bool());
  Json taken = Claim();
  Eventually("its lock is over", [&] {
    if (!taken["due"].Bool()) taken = Claim();
    return taken["due"].Bool();
  });
  EXPECT_TRUE(taken["reclaimed"].Bool());
}

TEST_P(TaskApi, APersonMayAskForARunNow) {
  Finish(Claim());
  EXPECT_FALSE(Claim()["due"].Bool());
  const HttpResponse asked = Post("run", "{}");
  EXPECT_EQ(asked.status, 202);
  EXPECT_FALSE(asked.Json()["under_way"].Bool());
  const Json run = Claim();
  EXPECT_TRUE(run["due"].Bool());
  EXPECT_TRUE(Post("run", "{}").Json()["under_way"].Bool());
  Finish(run);
  EXPECT_TRUE(Claim()["due"].Bool()) << "one more follows";
}

TEST_P(TaskApi, WhoRunsItShowsInTheList) {
  Claim();
  EXPECT_EQ(Listed()["holder"].Text(), "worker");
  EXPECT_GE(Listed()["lock_age_ms"].Int(), 0);
}

TEST_P(TaskApi, AnUnknownTaskIsNotFound) {
  EXPECT_EQ(Post("run", "{}").status, 404);
  EXPECT_FALSE(
      Post("finish", R"({"fence":1,"term":")" + NewUuid() + "\"}").Json()["accepted"].Bool());
}

TEST_P(TaskApi, WhatIsWrongIsNamed) {
  const auto named = [](const HttpResponse& response) {
    EXPECT_EQ(response.status, 400) << response.body;
    std::set<std::string> fields;
    if (response.status == 400)
      for (const Json& error : response.Json()["errors"].Elements())
        fields.insert(error["field"].Text());
    return fields;
  };
  using Fields = std::set<std::string>;
  EXPECT_EQ(named(Post("claim", "{}")),
            (Fields{"term", "holder", "interval_ms", "lock_timeout_ms"}));
  EXPECT_EQ(named(Post("claim", ClaimBody(NewUuid(), 99))), Fields{"interval_ms"});
  EXPECT_EQ(named(Post("claim", ClaimBody(NewUuid(), kHourMs, 99))), Fields{"lock_timeout_ms"});
  EXPECT_EQ(named(Post("finish", "{}")), (Fields{"fence", "term"}));
  EXPECT_EQ(named(Post("finish", R"({"fence":1,"term":")" + NewUuid() + R"(","error":")" +
                                     std::string(4'097, 'e') + "\"}")),
            Fields{"error"});
  EXPECT_EQ(named(Post("run", R"({"force":true})")), Fields{"force"});
  const std::string longest(196, 't');
  for (const std::string& bad : {longest, std::string("a%20b")})
    for (const char* action : {"claim", "finish", "run"})
      EXPECT_EQ(named(api_.Call("POST", "/api/v1/tasks/" + bad + "/" + action, "{}")),
                Fields{"name"})
          << bad << " " << action;
  EXPECT_EQ(named(api_.Get("/api/v1/tasks?limit=1")), Fields{"limit"});
}

INSTANTIATE_TEST_SUITE_P(Engines, TaskApi, testing::Values(Engine::kSqlite, Engine::kPostgres),
                         EngineName);

}  // namespace
}  // namespace tenure::api
