// Waiting for a lease over HTTP: the line, leaving it, and what a stop does to it.
#include <gtest/gtest.h>

#include "api/lease_calls.hpp"
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

TEST_P(LeaseWaiting, WhoWaitsIsGrantedTheLeaseOnItsExpiry) {
  lease_.Acquire({.ttl_ms = 1'000});
  WaitingAcquire waiting(api_, lease_, {.wait_ms = kLongMs});
  EXPECT_EQ(waiting.Answer().status, 200);
}

TEST_P(LeaseWaiting, WhoWaitsIsGrantedTheLeaseAfterAForcedBreak) {
  lease_.Acquire();
  WaitingAcquire waiting(api_, lease_, {.wait_ms = kLongMs});
  AwaitLine(lease_, 1);
  EXPECT_TRUE(lease_.Break(R"(,"force":true)").Json()["broken"].Bool());
  EXPECT_EQ(waiting.Answer().status, 200);
}

TEST_P(LeaseWaiting, FirstComeFirstServed) {
  lease_.Acquire();
  const Ask asks[] = {{.wait_ms = kLongMs}, {.wait_ms = kLongMs}, {.wait_ms = kLongMs}};
  std::vector<std::unique_ptr<WaitingAcquire>> line;
  for (const Ask& ask : asks) {
    line.push_back(std::make_unique<WaitingAcquire>(api_, lease_, ask));
    AwaitLine(lease_, static_cast<std::int64_t>(line.size()));
  }
  std::int64_t last = lease_.fence();
  lease_.Release();
  for (std::size_t i = 0; i < line.size(); ++i) {
    const HttpResponse answer = line[i]->Answer();
    ASSERT_EQ(answer.status, 200) << answer.body;
    EXPECT_EQ(answer.Json()["fence"].Int(), ++last) << "in the order of arrival";
    lease_.Post("release", R"({"term":")" + asks[i].term + "\"}");
  }
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

TEST_P(LeaseWaiting, ALeaseIsNotGrantedToAClientThatHasGone) {
  lease_.Acquire();
  WaitingAcquire gone(api_, lease_, {.wait_ms = kLongMs});
  AwaitLine(lease_, 1);
  gone.Leave();
  AwaitLine(lease_, 0);
  lease_.Release();
  EXPECT_EQ(lease_.Look()["state"].Text(), "free");
  EXPECT_EQ(lease_.Acquire().status, 200);
}

TEST_P(LeaseWaiting, ARepeatedRequestKeepsItsPlaceAndBothAreAnswered) {
  lease_.Acquire();
  const Ask ask{.wait_ms = kLongMs};
  WaitingAcquire first(api_, lease_, ask);
  AwaitLine(lease_, 1);
  WaitingAcquire again(api_, lease_, ask);
  lease_.Release();
  const HttpResponse one = first.Answer();
  const HttpResponse two = again.Answer();
  EXPECT_EQ(one.status, 200);
  EXPECT_EQ(two.status, 200);
  EXPECT_EQ(two.Json()["fence"].Int(), one.Json()["fence"].Int()) << "the same grant";
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

INSTANTIATE_TEST_SUITE_P(Engines, LeaseWaiting, testing::Values(Engine::kSqlite, Engine::kPostgres),
                         EngineName);

class LeaseEnsemble : public testing::Test {
 protected:
  StoreUnderTest store_{Engine::kPostgres};
  std::unique_ptr<support::ServerProcess> one_ = store_.Serve();
  std::unique_ptr<support::ServerProcess> two_ = store_.Serve();
  Lease lease_{Api(*one_)};
};

TEST_F(LeaseEnsemble, WhatOneProcessGrantedAnotherRenewsAndReleases) {
  lease_.Acquire();
  const Lease there = lease_.SeenBy(Api(*two_));
  EXPECT_EQ(there.Post("acquire", Ask().Body()).status, 409);
  EXPECT_EQ(there.Post("renew", lease_.FenceAndTerm()).status, 200);
  EXPECT_TRUE(there.Post("release", lease_.FenceAndTerm()).Json()["released"].Bool());
  EXPECT_EQ(lease_.Acquire().status, 200);
}

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
             [&] { return Metric(Api(*one_), "leasing_waiting_requests") == 0; });
  const HttpResponse renewed =
      lease_.Post("renew", R"({"fence":)" + std::to_string(granted.Json()["fence"].Int()) +
                               R"(,"term":")" + ask.term + "\"}");
  EXPECT_EQ(renewed.status, 200) << renewed.body;
}

TEST_F(LeaseEnsemble, TheLineIsOneForAllProcesses) {
  lease_.Acquire();
  const Ask first{.wait_ms = kLongMs};
  const Ask second{.wait_ms = kLongMs};
  WaitingAcquire there(Api(*two_), lease_, first);
  AwaitLine(lease_, 1);
  WaitingAcquire here(Api(*one_), lease_, second);
  AwaitLine(lease_, 2);
  lease_.Release();
  EXPECT_EQ(there.Answer().Json()["fence"].Int(), lease_.fence() + 1);
  lease_.Post("release", R"({"term":")" + first.term + "\"}");
  EXPECT_EQ(here.Answer().Json()["fence"].Int(), lease_.fence() + 2);
}

TEST_F(LeaseEnsemble, AKilledProcessesPlaceInTheLineDoesNotHoldUpTheOthers) {
  lease_.Acquire();
  WaitingAcquire lost(Api(*two_), lease_, {.wait_ms = kLongMs});
  AwaitLine(lease_, 1);
  WaitingAcquire here(Api(*one_), lease_, {.holder = "here", .wait_ms = kLongMs});
  AwaitLine(lease_, 2);
  two_->Kill();
  lease_.Release();
  EXPECT_EQ(here.Answer().Json()["holder"].Text(), "here");
}

}  // namespace
}  // namespace tenure::api
