// Records of seats in a real Redis.

#include "seats/redis/seat_redis.hpp"

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "support/redis_server.hpp"
#include "tenure/leases/provider.hpp"

namespace tenure::seats {
namespace {

using support::RedisServer;
using Kind = SeatRedis::BeatTold::Kind;

constexpr std::int64_t kLongMs = 600'000;
constexpr std::int64_t kHourMs = 3'600'000;

std::unique_ptr<SeatRedis> Open(const RedisServer& server) {
  return std::make_unique<SeatRedis>(client::ParseRedisUrl(server.Url("prefix=t:"), {}),
                                     SeatRedis::Options{.timeout_ms = 30'000});
}

class SeatRedisTest : public testing::Test {
 protected:
  SeatRedisTest() { Meet(); }
  /// What was there before is forgotten, or not.
  void Meet() {
    while (true) try {
        const auto greeting = redis->Greet();
        under = {greeting.identity, 7};
        now_ms = greeting.now_ms;
        return;
      } catch (const RedisAway&) {
        std::this_thread::yield();  // the connection was that to the server before
      }
  }
  bool Put(std::int64_t fence, std::int64_t horizon_ms = kHourMs, std::int64_t ttl_ms = kLongMs) {
    const SeatRedis::PutAsked asked{"s", fence, ttl_ms, now_ms + horizon_ms};
    const auto there = redis->Put(under, now_ms + kHourMs, {&asked, 1});
    return there && there->front();
  }
  SeatRedis::BeatTold Beat(std::int64_t fence, std::int64_t ttl_ms = kLongMs) {
    const SeatRedis::BeatAsked asked{"s", fence, ttl_ms};
    return redis->Beat(under, kHourMs / 2, {&asked, 1})->told.front();
  }
  SeatRedis::Seen Look(std::int64_t margin_ms = 5'000) {
    const std::string seat = "s";
    return redis->Look(under, margin_ms, {&seat, 1})->seats.front();
  }

  RedisServer server{{.durable = false}};
  std::unique_ptr<SeatRedis> redis = Open(server);
  SeatRedis::Under under{};
  std::int64_t now_ms = 0;
};

TEST_F(SeatRedisTest, WhatWasPutIsRenewedAndTellsHowLongItIsKept) {
  EXPECT_EQ(Beat(1).kind, Kind::kUnknown);
  ASSERT_TRUE(Put(1));
  const auto told = Beat(1);
  EXPECT_EQ(told.kind, Kind::kKept);
  EXPECT_EQ(told.left_ms, kLongMs);
  EXPECT_FALSE(told.half_gone);
}

TEST_F(SeatRedisTest, ManyAreAnsweredInTheirOrder) {
  std::vector<SeatRedis::PutAsked> put;
  std::vector<SeatRedis::BeatAsked> asked;
  for (int i = 0; i < 500; ++i) {
    asked.push_back({"s" + std::to_string(i), i, kLongMs});
    if (i % 2 == 0) put.push_back({"s" + std::to_string(i), i, kLongMs, now_ms + kHourMs});
  }
  ASSERT_EQ(redis->Put(under, now_ms + kHourMs, put)->size(), 250U);
  const auto beats = redis->Beat(under, kHourMs / 2, asked);
  ASSERT_EQ(beats->told.size(), 500U);
  for (std::size_t i = 0; i < 500; ++i)
    EXPECT_EQ(beats->told[i].kind, i % 2 == 0 ? Kind::kKept : Kind::kUnknown) << i;
}

TEST_F(SeatRedisTest, AnotherFenceAndAnotherEpochAreUnknown) {
  ASSERT_TRUE(Put(5));
  EXPECT_EQ(Beat(4).kind, Kind::kUnknown);
  EXPECT_EQ(Beat(6).kind, Kind::kUnknown);
  under.epoch = 8;
  EXPECT_EQ(Beat(5).kind, Kind::kUnknown);
  EXPECT_FALSE(Look().known);
}

TEST_F(SeatRedisTest, NothingIsPromisedBeyondTheHorizonAndHalfOfItIsTold) {
  ASSERT_TRUE(Put(1, kLongMs / 2));
  const auto told = Beat(1);
  EXPECT_EQ(told.kind, Kind::kKept);
  EXPECT_LE(told.left_ms, kLongMs / 2);
  EXPECT_TRUE(told.half_gone);
}

TEST_F(SeatRedisTest, ALoweredTtlTakesNothingBack) {
  ASSERT_TRUE(Put(1));
  EXPECT_GT(Beat(1, 1'000).left_ms, kLongMs / 2);
}

TEST_F(SeatRedisTest, WhatIsLateIsNotRevived) {
  ASSERT_TRUE(Put(1, kHourMs, 1));
  const std::string seat = "s";
  while (Look(0).dead_in_ms > 0) std::this_thread::yield();
  EXPECT_EQ(Beat(1).kind, Kind::kLate);
  EXPECT_EQ(Look(0).dead_in_ms, 0);
  EXPECT_GT(Look(kHourMs).dead_in_ms, 0) << "the margin";
}

TEST_F(SeatRedisTest, APutLowersNothingAndLosesAgainstALaterHolding) {
  ASSERT_TRUE(Put(2));
  const std::int64_t soft_ms = Look().soft_ms;
  ASSERT_TRUE(Put(2, kLongMs, 1'000));
  EXPECT_EQ(Look().soft_ms, soft_ms);
  EXPECT_FALSE(Beat(2).half_gone) << "nor the horizon";
  EXPECT_FALSE(Put(1)) << "an earlier holding";
  ASSERT_TRUE(Put(3));
  EXPECT_EQ(Beat(2).kind, Kind::kUnknown) << "it was resumed";
  under.epoch = 6;
  EXPECT_FALSE(Put(9)) << "an earlier epoch";
  under.epoch = 8;
  EXPECT_TRUE(Put(3));
}

TEST_F(SeatRedisTest, APutThatComesTooLateDoesNothing) {
  const SeatRedis::PutAsked asked{"s", 1, kLongMs, now_ms + kHourMs};
  EXPECT_EQ(redis->Put(under, now_ms - 1, {&asked, 1}), std::vector<bool>{false});
  EXPECT_FALSE(Look().known);
}

TEST_F(SeatRedisTest, ALookTellsTheLastPromiseAndThatNotKnowingIsSomethingElse) {
  EXPECT_FALSE(Look().known);
  ASSERT_TRUE(Put(1));
  const auto seen = Look(5'000);
  EXPECT_TRUE(seen.known);
  EXPECT_GT(seen.dead_in_ms, kLongMs / 2);
  EXPECT_GE(seen.soft_ms, now_ms + kLongMs);
  EXPECT_EQ(seen.fence, 1);
  server.Command({"flushall"});
  EXPECT_FALSE(Look().known);
}

TEST_F(SeatRedisTest, ADroppedHoldingIsGoneAndALaterOneStays) {
  ASSERT_TRUE(Put(2));
  const SeatRedis::Over earlier{"s", 1};
  EXPECT_TRUE(redis->Drop(under, {&earlier, 1}));
  EXPECT_TRUE(Look().known);
  const std::vector<SeatRedis::Over> both{{"s", 2}, {"never", 9}};
  EXPECT_TRUE(redis->Drop(under, both));
  EXPECT_FALSE(Look().known);
}

TEST_F(SeatRedisTest, ARestartIsAnotherRedis) {
  ASSERT_TRUE(Put(1));
  const SeatRedis::Under before = under;
  server.Kill();
  EXPECT_THROW(Beat(1), RedisAway);
  server.Start();
  Meet();
  EXPECT_NE(under.identity, before.identity);
  const SeatRedis::BeatAsked asked{"s", 1, kLongMs};
  const SeatRedis::PutAsked put{"s", 1, kLongMs, now_ms + kHourMs};
  const std::string seat = "s";
  const SeatRedis::Over over{"s", 1};
  EXPECT_EQ(redis->Beat(before, 1, {&asked, 1}).has_value(), false);
  EXPECT_EQ(redis->Put(before, now_ms + kHourMs, {&put, 1}).has_value(), false);
  EXPECT_EQ(redis->Look(before, 1, {&seat, 1}).has_value(), false);
  EXPECT_FALSE(redis->Drop(before, {&over, 1}));
  EXPECT_FALSE(Look().known) << "nothing was put";
}

TEST_F(SeatRedisTest, AReplicaIsAwayAndAnotherRedisWhenItIsPromoted) {
  const auto before = redis->Greet();
  server.Command({"replicaof", "127.0.0.1", "1"});
  EXPECT_THROW(redis->Greet(), RedisAway) << "it takes no writes";
  server.Command({"replicaof", "no", "one"});
  EXPECT_NE(redis->Greet().identity, before.identity) << "the same process with another history";
}

TEST_F(SeatRedisTest, ARedisThatIsFullIsAway) {
  server.Command({"config", "set", "maxmemory", "1"});
  EXPECT_THROW(redis->Greet(), RedisAway);
  server.Command({"config", "set", "maxmemory", "0"});
  redis->Greet();
}

/// Two processes that are told to use one Redis in different ways would not see each other's records.
TEST_F(SeatRedisTest, AnotherPrefixOrDatabaseIsAnotherRedis) {
  ASSERT_TRUE(Put(1));
  const std::string url = "redis+unix://" + server.socket().string();
  for (const char* other : {"?prefix=u:", ""}) {
    SeatRedis elsewhere(client::ParseRedisUrl(url + other, {}), {.timeout_ms = 30'000});
    EXPECT_NE(elsewhere.Greet().identity, under.identity);
    const SeatRedis::BeatAsked asked{"s", 1, kLongMs};
    const std::string seat = "s";
    const SeatRedis::Over over{"s", 1};
    EXPECT_FALSE(elsewhere.Beat(under, 1, {&asked, 1}));
    EXPECT_FALSE(elsewhere.Look(under, 1, {&seat, 1}));
    EXPECT_FALSE(elsewhere.Drop(under, {&over, 1}));
  }
  client::RedisAddress third = client::ParseRedisUrl(server.Url("prefix=t:"), {});
  third.db = 3;
  EXPECT_NE(SeatRedis(third, {.timeout_ms = 30'000}).Greet().identity, under.identity);
}

TEST_F(SeatRedisTest, FencesKeepAllTheirDigits) {
  const std::int64_t fence = (std::int64_t{1} << 53) - 1;
  ASSERT_TRUE(Put(fence));
  EXPECT_EQ(Beat(fence).kind, Kind::kKept);
  EXPECT_EQ(Beat(fence - 1).kind, Kind::kUnknown);
}

TEST_F(SeatRedisTest, WhatSomebodyElseWroteThereCountsAsNothing) {
  server.Command({"set", "t:seat:s", "nonsense"});
  EXPECT_EQ(Beat(1).kind, Kind::kUnknown);
  EXPECT_FALSE(Look().known);
  EXPECT_TRUE(Put(1));
}

TEST_F(SeatRedisTest, ItIsAwayAtOnceWhenItIsCancelledOrNobodyListens) {
  redis->Cancel();
  EXPECT_THROW(redis->Greet(), RedisAway);
  SeatRedis nobody(client::ParseRedisUrl("redis+unix:///nowhere/redis.sock", {}), {});
  EXPECT_THROW(nobody.Greet(), RedisAway);
}

TEST_F(SeatRedisTest, ARedisThatStandsStillIsAwayInTime) {
  SeatRedis hasty(client::ParseRedisUrl(server.Url("prefix=t:"), {}), {.timeout_ms = 50});
  while (true) try {
      hasty.Greet();
      break;
    } catch (const RedisAway&) {  // a slow machine
    }
  server.Command({"client", "pause", "100000", "ALL"});
  EXPECT_THROW(hasty.Greet(), RedisAway);
}

}  // namespace
}  // namespace tenure::seats
