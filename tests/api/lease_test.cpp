// Leases and reliable tasks over HTTP: each operation and each of its documented answers.
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/calls.hpp"
#include "api/store_under_test.hpp"

namespace tenure::api {
namespace {

using support::HttpResponse;
using support::Json;

class Leases : public testing::TestWithParam<Engine> {
 protected:
  /// What a refusal says: "lease-held held", "lease-lost expired".
  static std::string Refusal(const HttpResponse& response) {
    EXPECT_EQ(response.status, 409) << response.body;
    return ProblemType(response) + " " + response.Json()["reason"].Text();
  }
  static void AwaitFree(const Lease& lease) {
    Eventually("its time is over", [&] { return lease.Look()["state"].Text() == "free"; });
  }

  Api api_{SharedServer(GetParam())};
  Lease lease_{api_};
};

TEST_P(Leases, AGrantSaysEverythingThatItsHolderNeeds) {
  const Ask ask{.ttl_ms = 30'000, .holder = "worker-1"};
  const HttpResponse response = lease_.Acquire(ask);
  EXPECT_EQ(response.status, 200);
  const Json grant = response.Json();
  EXPECT_EQ(grant["name"].Text(), lease_.name());
  EXPECT_EQ(grant["term"].Text(), ask.term);
  EXPECT_EQ(grant["holder"].Text(), "worker-1");
  EXPECT_GE(grant["fence"].Int(), 1);
  EXPECT_EQ(grant["ttl_ms"].Int(), 30'000);
  EXPECT_EQ(grant["remaining_ms"].Int(), 30'000);
  EXPECT_GE(grant["waited_ms"].Int(), 0);
  EXPECT_EQ(grant["granted_at"].Text(), grant["now"].Text());
  EXPECT_EQ(TimeMs(grant["expires_at"].Text()) - TimeMs(grant["now"].Text()), 30'000);
  EXPECT_FALSE(grant.Has("metadata"));
}

TEST_P(Leases, MetadataIsKeptAsItWasWritten) {
  const std::string metadata = R"({"zone":"eu-1","pid":7,"nested":{"a":[1,2.50,null,"ü"]}})";
  std::string body = Ask().Body();
  body.replace(body.size() - 1, 1, R"(,"metadata":)" + metadata + "}");
  EXPECT_EQ(lease_.Post("acquire", body).Json()["metadata"].Dump(), Json::Parse(metadata).Dump());
  EXPECT_EQ(lease_.Look()["metadata"].Dump(), Json::Parse(metadata).Dump());
}

TEST_P(Leases, L1_WhatSomebodyHoldsIsRefusedWithAllThatIsNeededToDecideWhatNext) {
  lease_.Acquire({.ttl_ms = 600'000, .holder = "worker-1"});
  const HttpResponse refused = Lease(lease_).Acquire({.holder = "worker-2"});
  EXPECT_EQ(Refusal(refused), "lease-held held");
  const Json problem = refused.Json();
  EXPECT_EQ(problem["holder"].Text(), "worker-1");
  EXPECT_EQ(problem["fence"].Int(), lease_.fence());
  EXPECT_EQ(problem["expires_at"].Text(), lease_.Look()["expires_at"].Text());
  EXPECT_GT(problem["retry_after_ms"].Int(), 0);
  EXPECT_LE(problem["retry_after_ms"].Int(), 600'000);
  EXPECT_THAT(problem["detail"].Text(), testing::HasSubstr("worker-1"));
}

TEST_P(Leases, ARenewalRestartsTheDeadlineAndMayChangeTheTtl) {
  lease_.Acquire({.ttl_ms = 60'000});
  const Json renewed = lease_.Renew().Json();
  EXPECT_EQ(renewed["ttl_ms"].Int(), 60'000);
  EXPECT_EQ(renewed["remaining_ms"].Int(), 60'000);
  std::string body = lease_.FenceAndTerm();
  body.replace(body.size() - 1, 1, R"(,"ttl_ms":5000})");
  EXPECT_EQ(lease_.Post("renew", body).Json()["remaining_ms"].Int(), 5'000);
  EXPECT_EQ(lease_.Look()["ttl_ms"].Int(), 5'000);
}

TEST_P(Leases, ALossSaysWhichWayTheGrantEnded) {
  lease_.Acquire();
  lease_.Release();
  EXPECT_EQ(Refusal(lease_.Renew()), "lease-lost released");

  Lease expired(api_);
  expired.Acquire({.ttl_ms = 100});
  AwaitFree(expired);
  EXPECT_EQ(Refusal(expired.Renew()), "lease-lost expired");
  Lease(expired).Acquire();
  EXPECT_EQ(Refusal(expired.Renew()), "lease-lost taken-over");

  Lease broken(api_);
  broken.Acquire();
  broken.Break();
  EXPECT_EQ(Refusal(broken.Renew()), "lease-lost broken");
}

TEST_P(Leases, L4_ASecondReleaseAndAStrangersChangeNothingAndSaySo) {
  lease_.Acquire();
  const Json strange = lease_.Post("release", R"({"term":")" + NewUuid() + "\"}").Json();
  EXPECT_FALSE(strange["released"].Bool());
  EXPECT_EQ(strange["reason"].Text(), "unknown");
  EXPECT_EQ(lease_.Look()["state"].Text(), "held");
  EXPECT_TRUE(lease_.Release().Json()["released"].Bool());
  const Json again = lease_.Release().Json();
  EXPECT_FALSE(again["released"].Bool());
  EXPECT_EQ(again["reason"].Text(), "released");
}

TEST_P(Leases, AReleaseMayAlsoNameItsFence) {
  lease_.Acquire();
  EXPECT_TRUE(lease_.Post("release", lease_.FenceAndTerm()).Json()["released"].Bool());
}

TEST_P(Leases, ABrokenLeaseIsNotRenewedAndNotGrantedBeforeItsDeadline) {
  lease_.Acquire({.ttl_ms = 600'000, .holder = "worker-1"});
  const Json broken = lease_.Break().Json();
  EXPECT_TRUE(broken["broken"].Bool());
  EXPECT_EQ(broken["holder"].Text(), "worker-1");
  EXPECT_EQ(broken["fence"].Int(), lease_.fence());
  const Json seen = lease_.Look();
  EXPECT_EQ(seen["state"].Text(), "broken");
  EXPECT_EQ(seen["break_reason"].Text(), "a test");
  EXPECT_EQ(seen["expires_at"].Text(), broken["free_at"].Text());
  EXPECT_EQ(Refusal(Lease(lease_).Acquire()), "lease-held held");
}

TEST_P(Leases, ADrainHoldsOffTheNextGrantBeyondTheDeadline) {
  lease_.Acquire({.ttl_ms = 1'000});
  const Json broken = lease_.Break(R"(,"drain_ms":600000)").Json();
  EXPECT_GT(TimeMs(broken["free_at"].Text()), TimeMs(lease_.Look()["now"].Text()) + 500'000);
}

TEST_P(Leases, AForcedBreakFreesItAtOnceAndTheHistorySaysSo) {
  lease_.Acquire();
  EXPECT_TRUE(lease_.Break(R"(,"force":true)").Json()["broken"].Bool());
  const Json seen = lease_.Look();
  EXPECT_EQ(seen["state"].Text(), "free");
  EXPECT_EQ(seen["history"][0]["reason"].Text(), "broken");
  EXPECT_EQ(seen["history"][0]["detail"].Text(), "a test");
  const std::int64_t old_fence = lease_.fence();
  EXPECT_EQ(lease_.Acquire().status, 200);
  EXPECT_GT(lease_.fence(), old_fence);
}

TEST_P(Leases, ABreakWithAFenceBreaksThatGrantAndNoOther) {
  lease_.Acquire();
  const std::string only_this = R"(,"force":true,"fence":)" + std::to_string(lease_.fence());
  EXPECT_TRUE(lease_.Break(only_this).Json()["broken"].Bool());
  lease_.Acquire();
  EXPECT_FALSE(lease_.Break(only_this).Json()["broken"].Bool());
  EXPECT_EQ(lease_.Renew().status, 200);
}

TEST_P(Leases, ABreakOfWhatNobodyHoldsOrKnows) {
  const support::HttpHeaders once{{"Idempotency-Key", NewUuid()}};
  const std::string force = R"(,"force":true)";
  EXPECT_EQ(lease_.Break().status, 404);
  EXPECT_EQ(lease_.Break(force, once).status, 404);
  EXPECT_EQ(lease_.Break(force, once).status, 404);
  lease_.Acquire();
  EXPECT_EQ(lease_.Break(force, once).status, 200) << "that nobody knew it was not kept";
  lease_.Acquire();
  lease_.Release();
  EXPECT_FALSE(lease_.Break().Json()["broken"].Bool());
}

TEST_P(Leases, OneHeartbeatRenewsManyAndAnswersEachByItself) {
  Lease lost(api_);
  Lease fine(api_);
  lost.Acquire();
  lost.Release();
  fine.Acquire({.ttl_ms = 7'000});
  const auto item = [](const Lease& lease) {
    std::string text = lease.FenceAndTerm();
    return text.insert(1, R"("name":")" + lease.name() + "\",");
  };
  const Json answers = api_.Call("POST", "/api/v1/leases/renew",
                                 R"({"leases":[)" + item(lost) + "," + item(fine) + "]}")
                           .Json()["leases"];
  EXPECT_EQ(answers[0]["lost"].Text(), "released");
  EXPECT_EQ(answers[0]["name"].Text(), lost.name());
  EXPECT_EQ(answers[1]["remaining_ms"].Int(), 7'000);
  EXPECT_EQ(answers[1]["fence"].Int(), fine.fence());
  EXPECT_EQ(api_.Call("POST", "/api/v1/leases/renew", R"({"leases":[]})").Json()["leases"].Size(),
            0u);
}

TEST_P(Leases, ALeaseMayBeCalledRenewOrBreak) {
  for (const char* name : {"renew", "acquire", "break", "a", "A.b_c:d@e-f"}) {
    Lease odd(api_, name);
    EXPECT_EQ(odd.Acquire().status, 200) << name;
    EXPECT_EQ(odd.Renew().status, 200) << name;
    EXPECT_EQ(odd.Look()["name"].Text(), name);
    EXPECT_TRUE(odd.Release().Json()["released"].Bool());
  }
}

TEST_P(Leases, AnUnknownNameIsNotFound) {
  EXPECT_EQ(api_.Get(lease_.Path()).status, 404);
  lease_.Renew();
  EXPECT_EQ(api_.Get(lease_.Path()).status, 404) << "asking does not make it known";
}

TEST_P(Leases, ALookShowsTheGrantAndTheOnesBefore) {
  lease_.Acquire({.holder = "first"});
  lease_.Release();
  lease_.Acquire({.ttl_ms = 60'000, .holder = "second"});
  const Json seen = lease_.Look();
  EXPECT_EQ(seen["state"].Text(), "held");
  EXPECT_EQ(seen["holder"].Text(), "second");
  EXPECT_EQ(seen["fence"].Int(), lease_.fence());
  EXPECT_EQ(seen["waiters"].Int(), 0);
  ASSERT_EQ(seen["history"].Size(), 1u);
  EXPECT_EQ(seen["history"][0]["holder"].Text(), "first");
  EXPECT_EQ(seen["history"][0]["reason"].Text(), "released");
  EXPECT_LT(seen["history"][0]["fence"].Int(), lease_.fence());
  lease_.Release();
  const Json free = lease_.Look();
  EXPECT_EQ(free["state"].Text(), "free");
  EXPECT_FALSE(free.Has("holder"));
  EXPECT_TRUE(free.Has("ended_at"));
}

TEST_P(Leases, AListIsByNameAndCanBeNarrowedAndCutIntoPages) {
  const std::string prefix = "list/" + NewUuid() + "/";
  for (const char* end : {"c", "a", "b"}) {
    Lease one(api_, prefix + end);
    one.Acquire({.holder = end[0] == 'b' ? "bob" : "ann"});
    if (end[0] == 'c') one.Release();
  }
  const auto names = [&](const std::string& query) {
    std::string text;
    const Json page = api_.Get("/api/v1/leases?prefix=" + prefix + query).Json();
    for (const Json& item : page["items"].Elements())
      text += item["name"].Text().substr(prefix.size());
    return text + (page["next_cursor"].IsNull() ? "" : "+");
  };
  EXPECT_EQ(names(""), "abc");
  EXPECT_EQ(names("&state=held"), "ab");
  EXPECT_EQ(names("&state=free"), "c");
  EXPECT_EQ(names("&state=broken"), "");
  EXPECT_EQ(names("&holder=bob"), "b");
  EXPECT_EQ(names("&limit=2"), "ab+");
  EXPECT_EQ(names("&limit=2&cursor=" + prefix + "b"), "c");
}

INSTANTIATE_TEST_SUITE_P(Engines, Leases, EachEngine(), EngineName);

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
    return Post("finish", GrantJson(run["lock"], more)).Json();
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

TEST_P(TaskApi, TheLockIsALeaseLikeAnyOther) {
  const Json run = Claim();
  Lease lock(api_, run["lock"]["name"].Text());
  EXPECT_EQ(lock.Acquire().status, 409);
  EXPECT_EQ(lock.Look()["holder"].Text(), "worker");
  EXPECT_EQ(lock.Post("renew", GrantJson(run["lock"])).status, 200);
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
  const std::string stranger = GrantJson(run["lock"]["fence"].Int(), NewUuid());
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
  EXPECT_FALSE(Post("finish", GrantJson(1, NewUuid())).Json()["accepted"].Bool());
}

INSTANTIATE_TEST_SUITE_P(Engines, TaskApi, EachEngine(), EngineName);

}  // namespace
}  // namespace tenure::api
