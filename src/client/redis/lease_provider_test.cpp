// Leases on Redis: what the conformance suite does not ask for, because only a Redis does it so.

#include <chrono>
#include <filesystem>
#include <map>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/moved_clock.hpp"
#include "support/redis_server.hpp"
#include "support/temp_dir.hpp"
#include "tenure/leases/manager.hpp"

namespace tenure::leases {
namespace {

using support::RedisServer;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr Milliseconds kAmple{10'000};

AcquireRequest AskFor(const std::string& name, Milliseconds wait = Milliseconds(0)) {
  return {.name = name, .term = NewTerm(), .ttl = Milliseconds(60'000), .wait = wait};
}

/// Between two looks at what others do.
void Pause() { std::this_thread::sleep_for(Milliseconds(5)); }

bool IsFrozen(const AcquireOutcome& outcome) {
  const auto* held = std::get_if<HeldByAnother>(&outcome);
  return held && held->reason == HeldReason::kFrozen;
}
/// For how much longer; nothing: it is not frozen.
Milliseconds FrozenFor(const AcquireOutcome& outcome) {
  return IsFrozen(outcome) ? std::get<HeldByAnother>(outcome).retry_after : Milliseconds(0);
}

/// Asks until the Redis answers.
AcquireOutcome AcquireStubbornly(Connection& connection, const AcquireRequest& request) {
  while (true) {
    try {
      return connection.Acquire(request, kAmple);
    } catch (const ProviderUnavailable&) {
      Pause();
    }
  }
}

TEST(RedisLeases, ScriptsThatTheRedisHasForgottenAreSentAgain) {
  const RedisServer server;
  const auto connection = OpenProvider(server.Url())->Connect();
  std::vector<RenewRequest> renewals;
  for (const char* name : {"a", "b", "c"}) {
    const auto grant = std::get<Grant>(connection->Acquire(AskFor(name), kAmple));
    renewals.push_back({.name = name, .fence = grant.fence, .term = grant.term});
  }
  server.Command({"script", "flush"});
  for (const RenewOutcome& outcome : connection->Renew(renewals, kAmple))
    EXPECT_TRUE(std::holds_alternative<Grant>(outcome));
}

TEST(RedisLeases, FencesComeFromTheClockAndKeepAllTheirDigits) {
  const RedisServer server;
  const auto connection = OpenProvider(server.Url())->Connect();
  std::int64_t last = 0;
  for (int i = 0; i < 20; ++i) {
    const AcquireRequest request = AskFor("a");
    const auto grant = std::get<Grant>(connection->Acquire(request, kAmple));
    EXPECT_GT(grant.fence, last);
    EXPECT_LE(std::abs(grant.fence / 1'000 - grant.now_ms), 1) << "microseconds of the store";
    EXPECT_LT(grant.fence, std::int64_t{1} << 53);
    last = grant.fence;
    EXPECT_TRUE(
        connection->Release({.name = "a", .term = request.term, .fence = last}, kAmple).released);
    EXPECT_EQ(connection->Get("a", kAmple)->history.at(0).fence, last);
  }
  EXPECT_EQ(connection->Get("a", kAmple)->history.size(), 8U);
}

TEST(RedisLeases, AHangingRedisFailsInTimeAndACancelledCallAtOnce) {
  RedisServer server;
  const auto provider = OpenProvider(server.Url());
  const auto connection = provider->Connect();
  const AcquireRequest request = AskFor("a");
  connection->Get("a", kAmple);
  server.Signal(SIGSTOP);
  try {
    connection->Acquire(request, Milliseconds(100));
    ADD_FAILURE() << "nobody can have answered";
  } catch (const ProviderUnavailable& error) {
    EXPECT_TRUE(error.outcome_unknown()) << "it will be carried out when the Redis goes on";
    EXPECT_EQ(error.lease(), "a");
  }
  std::thread cancelling([&] { connection->Cancel(); });
  EXPECT_THROW(connection->Acquire(request, std::chrono::hours(1)), ProviderUnavailable);
  cancelling.join();
  server.Signal(SIGCONT);
  const auto again = provider->Connect();
  EXPECT_TRUE(std::holds_alternative<Grant>(again->Acquire(request, kAmple)))
      << "the same term: its own grant, or a new one";
}

TEST(RedisLeases, WhoWaitsGetsItsTurnAlsoWhenNobodyIsToldOfReleases) {
  const RedisServer server;
  const auto provider = OpenProvider(server.Url());
  const auto holder = provider->Connect();
  const AcquireRequest held = AskFor("a");
  ASSERT_TRUE(std::holds_alternative<Grant>(holder->Acquire(held, kAmple)));
  std::optional<AcquireOutcome> outcome;
  std::thread waiting([&, mine = provider->Connect()] {
    outcome = mine->Acquire(AskFor("a", Milliseconds(60'000)), kAmple);
  });
  while (holder->Get("a", kAmple)->waiters == 0) Pause();
  server.Command({"client", "kill", "type", "pubsub"});
  EXPECT_TRUE(holder->Release({.name = "a", .term = held.term}, kAmple).released);
  waiting.join();
  EXPECT_TRUE(std::holds_alternative<Grant>(*outcome));
}

TEST(RedisLeases, AWaitThatEndsLeavesTheLine) {
  const RedisServer server;
  const auto connection = OpenProvider(server.Url())->Connect();
  const AcquireRequest held = AskFor("a");
  connection->Acquire(held, kAmple);
  const auto outcome = connection->Acquire(AskFor("a", Milliseconds(20)), kAmple);
  ASSERT_TRUE(std::holds_alternative<HeldByAnother>(outcome));
  EXPECT_EQ(connection->Get("a", kAmple)->waiters, 0);
  connection->Release({.name = "a", .term = held.term}, kAmple);
  EXPECT_TRUE(std::holds_alternative<Grant>(connection->Acquire(AskFor("a"), kAmple)));
}

TEST(RedisLeases, AListGoesThroughManyNamesInTheirOrder) {
  const RedisServer server;
  const auto connection = OpenProvider(server.Url())->Connect();
  std::vector<std::string> names;
  for (int i = 100; i < 350; ++i) {
    names.push_back("n/" + std::to_string(i));
    connection->Acquire(AskFor(names.back()), kAmple);
  }
  connection->Acquire(AskFor("m"), kAmple);
  connection->Acquire(AskFor("o"), kAmple);
  std::vector<std::string> found;
  for (const LeaseView& view : connection->List({.prefix = "n/", .limit = 1'000}, kAmple))
    found.push_back(view.name);
  EXPECT_EQ(found, names);
  const auto page = connection->List({.prefix = "n/", .after = "n/348", .limit = 2}, kAmple);
  ASSERT_EQ(page.size(), 1U);
  EXPECT_EQ(page[0].name, "n/349");
}

TEST(RedisLeases, WhatWasAskedOfItIsCounted) {
  RedisServer server;
  const auto provider = OpenProvider(server.Url());
  const auto connection = provider->Connect();
  connection->Acquire(AskFor("a"), kAmple);
  connection->Acquire(AskFor("a"), kAmple);
  server.Kill();
  EXPECT_THROW(connection->Get("a", kAmple), ProviderUnavailable);
  server.Start();
  connection->Get("a", kAmple);
  std::map<std::string, std::int64_t> counts;
  const ProviderStats stats = provider->stats();
  for (const auto& one : stats.requests) counts[one.operation + " " + one.outcome] = one.count;
  EXPECT_EQ(counts["acquire done"], 2);
  EXPECT_EQ(counts["get refused"], 1);
  EXPECT_EQ(counts["get done"], 1);
  EXPECT_EQ(stats.reconnects, 1);
}

TEST(RedisLeases, AGrantCountsOnlyWhenTheReplicasThatWereAskedForHaveIt) {
  const RedisServer primary({.durable = false, .tls = true});
  primary.Command({"config", "set", "port", std::to_string(support::ReservedPort().number())});
  const auto without = OpenProvider(primary.Url("max_ttl=1s&replicas=1"))->Connect();
  const auto refused = [&] {
    try {
      const auto outcome = without->Acquire(
          {.name = "a", .term = NewTerm(), .ttl = Milliseconds(900)}, Milliseconds(500));
      return std::get<HeldByAnother>(outcome).reason == HeldReason::kFrozen ? 0 : 1;
    } catch (const ProviderUnavailable& error) {
      EXPECT_TRUE(error.outcome_unknown());
      EXPECT_THAT(error.what(), HasSubstr("0 of the 1 replicas"));
      return 2;
    }
  };
  int answer = 0;
  while ((answer = refused()) == 0) Pause();  // it has just started
  EXPECT_EQ(answer, 2);
}

// ---- what a Redis forgets

TEST(RedisLeases, AfterARestartOfAForgettingRedisNothingIsGrantedForItsLongestTtl) {
  RedisServer server({.durable = false});
  const auto connection = OpenProvider(server.Url("max_ttl=1h"))->Connect();
  const auto outcome = connection->Acquire(AskFor("a"), kAmple);
  ASSERT_TRUE(std::holds_alternative<HeldByAnother>(outcome)) << "it has just started";
  const auto& held = std::get<HeldByAnother>(outcome);
  EXPECT_EQ(held.reason, HeldReason::kFrozen);
  EXPECT_EQ(held.holder, "");
  EXPECT_GT(held.retry_after, Milliseconds(3'000'000));
  EXPECT_LE(held.retry_after, Milliseconds(3'600'000 + 1'000));
}

/// Redis tells its uptime as the difference of two times that it cut to seconds: one that starts at
/// the end of a second says 1 a moment later. It granted then what others still believed in.
TEST(RedisLeases, ARedisThatStartsLateInASecondGrantsNothingForItsWholeLongestTtlEither) {
  const auto calendar_ms = [] {
    return std::chrono::duration_cast<Milliseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  };
  while (calendar_ms() % 1'000 < 500) Pause();
  const std::int64_t started_ms = calendar_ms();
  const RedisServer server({.durable = false});
  const auto connection = OpenProvider(server.Url("max_ttl=1s"))->Connect();
  AcquireRequest request = AskFor("a");
  request.ttl = Milliseconds(1'000);
  AcquireOutcome outcome = connection->Acquire(request, kAmple);
  while (IsFrozen(outcome)) {
    Pause();
    outcome = connection->Acquire(request, kAmple);
  }
  EXPECT_GE(std::get<Grant>(outcome).granted_at_ms, started_ms + 1'000);
}

constexpr Milliseconds kHour{3'600'000};

/// Its uptime is the difference of two times of day.
TEST(RedisLeases, AStepOfItsClockDoesNotEndTheFreezeForWhoHadLookedBefore) {
  const support::MovedClock clock;
  const RedisServer server({.durable = false, .environment = clock.Environment()});
  const auto connection = OpenProvider(server.Url("max_ttl=1h"))->Connect();
  clock.Move(2 * kHour.count());
  EXPECT_GT(FrozenFor(connection->Acquire(AskFor("a"), kAmple)), kHour - Milliseconds(60'000));
}

TEST(RedisLeases, WhoWasThereBeforeCountsTheWholeFreezeFromWhenItMetTheRedisAgain) {
  const support::MovedClock clock;
  RedisServer server({.durable = false, .environment = clock.Environment()});
  const auto connection = OpenProvider(server.Url("max_ttl=1h"))->Connect();
  connection->Get("a", kAmple);
  server.Kill();
  server.Start();
  clock.Move(900);
  while (server.Command({"info", "server"}).find("uptime_in_seconds:0\r") != std::string::npos)
    Pause();
  EXPECT_GE(FrozenFor(AcquireStubbornly(*connection, AskFor("a"))), kHour);
}

/// A program that had been refused could come first after a restart, and freeze for less than what others had
/// been promised.
TEST(RedisLeases, WhoHasGrantedForLongerMakesTheFreezeOfARedisThatHasForgottenThatAsLongAgain) {
  RedisServer server({.durable = false});
  const auto connection = OpenProvider(server.Url("max_ttl=1h"))->Connect();
  connection->Get("a", kAmple);
  server.Kill();
  server.Start();
  const auto brief = OpenProvider(server.Url("max_ttl=1s"))->Connect();
  AcquireRequest request = AskFor("a");
  request.ttl = Milliseconds(1'000);
  EXPECT_LT(FrozenFor(brief->Acquire(request, kAmple)), Milliseconds(60'000));
  EXPECT_TRUE(IsFrozen(AcquireStubbornly(*connection, AskFor("b"))));
  EXPECT_GT(FrozenFor(brief->Acquire(request, kAmple)), kHour - Milliseconds(60'000));
}

/// A Redis and its replica behind one address, which is moved from one to the other.
class RedisFailover : public testing::Test {
 protected:
  RedisFailover() {
    const support::ReservedPort port;
    primary_.Command({"config", "set", "port", std::to_string(port.number())});
    replica_.Command({"replicaof", "127.0.0.1", std::to_string(port.number())});
    while (replica_.Command({"info", "replication"}).find("master_link_status:up") ==
           std::string::npos)
      Pause();
    Point(primary_);
  }
  void Point(const RedisServer& server) {
    std::filesystem::remove(address_);
    std::filesystem::create_symlink(server.socket(), address_);
  }
  std::string Url() const { return "redis+unix://" + address_.string() + "?max_ttl=1s"; }

  RedisServer primary_{{.durable = false, .arguments = {"--repl-diskless-sync-delay", "0"}}};
  RedisServer replica_{{.durable = false}};
  const support::TempDir dir_;
  const std::filesystem::path address_ = dir_ / "address.sock";
};

TEST_F(RedisFailover, WhoWasThereBeforeGrantsNothingOnAPromotedReplicaForAWhile) {
  const auto provider = OpenProvider(Url());
  const auto connection = provider->Connect();
  AcquireRequest request = AskFor("a");
  request.ttl = Milliseconds(1'000);
  // Until both have been up for their longest ttl: from then on only this program's own caution
  // keeps it from granting.
  while (IsFrozen(connection->Acquire(request, kAmple))) Pause();
  const auto is_young = [&](const std::string& seconds) {
    return replica_.Command({"info", "server"}).find("uptime_in_seconds:" + seconds + "\r") !=
           std::string::npos;
  };
  while (is_young("0") || is_young("1")) Pause();
  connection->Get("a", kAmple);
  primary_.Kill();
  EXPECT_THROW(connection->Get("a", kAmple), ProviderUnavailable);
  Point(replica_);
  EXPECT_THROW(connection->Get("a", kAmple), ProviderUnavailable) << "it is a replica still";
  replica_.Command({"replicaof", "no", "one"});
  const AcquireOutcome outcome =
      AcquireStubbornly(*connection, {.name = "b", .term = NewTerm(), .ttl = Milliseconds(1'000)});
  EXPECT_TRUE(IsFrozen(outcome)) << "the last grants may be missing here";
}

}  // namespace
}  // namespace tenure::leases
