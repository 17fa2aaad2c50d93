#include "seats/redis/authority.hpp"

#include <gtest/gtest.h>

namespace tenure::seats {
namespace {

constexpr RedisRules kRules{
    .authority_ms = 120'000, .horizon_ms = 3'600'000, .margin_ms = 5'000, .tolerance_ms = 1'000};

// The one rule of what is over.

constexpr std::int64_t kNow = 10'000'000;

RedisEpoch EpochOf(std::int64_t epoch, bool redis, std::int64_t frozen_ms = 0) {
  RedisEpoch read{.epoch = epoch, .frozen_ms = frozen_ms};
  if (redis) read.identity = "r1";
  return read;
}

TEST(SeatPromise, WhatTheStorePromisedIsNeverOverBefore) {
  const Promise row{.fence = 1, .expires_ms = kNow + 1, .horizon_ms = 0, .epoch = 0};
  for (const bool redis : {false, true}) EXPECT_FALSE(IsOver(row, EpochOf(7, redis), kNow, true));
}

TEST(SeatPromise, WithoutARedisADeadlineThatHasPassedIsAll) {
  EXPECT_TRUE(IsOver({.fence = 1, .expires_ms = kNow}, EpochOf(0, false), kNow, false));
  EXPECT_EQ(OverAt({.fence = 1, .expires_ms = kNow}, EpochOf(0, false)), kNow);
}

TEST(SeatPromise, BehindItsHorizonARowIsOverWhateverHappened) {
  const Promise row{.fence = 1, .expires_ms = kNow - 9, .horizon_ms = kNow, .epoch = 7};
  EXPECT_TRUE(IsOver(row, EpochOf(7, true, kNow + 1), kNow, false));
  EXPECT_FALSE(IsOver(row, EpochOf(7, true), kNow - 1, false));
}

TEST(SeatPromise, WithinItsHorizonTheRedisOfItsEpochMustTestify) {
  const Promise row{.fence = 1, .expires_ms = kNow - 9, .horizon_ms = kNow + 50, .epoch = 7};
  EXPECT_FALSE(IsOver(row, EpochOf(7, true), kNow, false));
  EXPECT_TRUE(IsOver(row, EpochOf(7, true), kNow, true));
  EXPECT_FALSE(IsOver(row, EpochOf(7, true, kNow + 1), kNow, true)) << "frozen";
  EXPECT_EQ(OverAt(row, EpochOf(7, true)), kNow + 50);
}

TEST(SeatPromise, AnOlderEpochIsOverWhenItsFreezeIs) {
  const Promise row{.fence = 1, .expires_ms = kNow - 9, .horizon_ms = kNow + 50, .epoch = 6};
  EXPECT_FALSE(IsOver(row, EpochOf(7, true, kNow + 1), kNow, false));
  EXPECT_TRUE(IsOver(row, EpochOf(7, true, kNow), kNow, false));
  EXPECT_EQ(OverAt(row, EpochOf(7, true, kNow + 20)), kNow + 20);
  EXPECT_EQ(OverAt(row, EpochOf(7, true, kNow + 90)), kNow + 50) << "the horizon comes first";
  EXPECT_TRUE(IsOver({.fence = 1, .expires_ms = kNow - 9, .horizon_ms = kNow + 50, .epoch = 7},
                     EpochOf(7, false, kNow), kNow, false))
      << "nobody promises anything under an epoch without a Redis";
}

TEST(SeatPromise, ARowOfALaterEpochThanWasReadIsNotOver) {
  const Promise row{.fence = 1, .expires_ms = kNow - 9, .horizon_ms = kNow + 50, .epoch = 8};
  for (const bool redis : {false, true}) {
    EXPECT_FALSE(IsOver(row, EpochOf(7, redis), kNow, true));
    EXPECT_EQ(OverAt(row, EpochOf(7, redis)), kNow + 50);
  }
}

TEST(SeatPromise, TestimonyCountsInItsEpochBehindTheFreezeAndWhileTheClockIsAsItWas) {
  RedisEpoch epoch = EpochOf(7, true, kNow);
  epoch.offset_ms = 300;
  const RedisLook look{.epoch = 7, .read_ms = kNow, .redis_ms = kNow + 1'300};
  EXPECT_TRUE(Counts(look, epoch, kNow, 1'000));
  EXPECT_FALSE(Counts({7, kNow, kNow + 1'301}, epoch, kNow, 1'000))
      << "its clock jumped, or the look was slow";
  EXPECT_FALSE(Counts({6, kNow, kNow}, epoch, kNow, 1'000));
  EXPECT_FALSE(Counts(look, epoch, kNow - 1, 1'000)) << "frozen";
  epoch.identity.reset();
  EXPECT_FALSE(Counts(look, epoch, kNow, 1'000));
}

TEST(SeatPromise, TestimonyIsVoidForARowThatWasTouchedSince) {
  const Promise read{.fence = 3, .expires_ms = 10, .horizon_ms = 99, .epoch = 7};
  EXPECT_TRUE(CountsFor(read, read));
  EXPECT_FALSE(CountsFor(read, {.fence = 3, .expires_ms = 11, .horizon_ms = 99, .epoch = 7}));
  EXPECT_FALSE(CountsFor(read, {.fence = 4, .expires_ms = 10, .horizon_ms = 99, .epoch = 7}));
}

// Who may use which Redis.

Confirmation Seen() {
  Confirmation seen;
  seen.epoch = {.epoch = 7, .identity = "r1", .frozen_ms = kNow, .offset_ms = 300, .used_ms = kNow};
  seen.longest_ms = 360'000;
  seen.store_ms = kNow + 1;
  seen.asked_ms = 50;
  seen.heard_ms = 60;
  seen.redis = {"r1", kNow + 305};
  return seen;
}

TEST(SeatAuthority, TheRedisOfTheEpochMayBeUsedCountedFromBeforeTheQuestion) {
  const auto verdict = Conclude(kRules, Seen());
  const auto* use = std::get_if<Use>(&verdict);
  ASSERT_TRUE(use);
  EXPECT_EQ(use->epoch, 7);
  EXPECT_EQ(use->identity, "r1");
  EXPECT_EQ(use->until_ms, 120'050);
  EXPECT_EQ(use->longest_ms, 360'000) << "nothing longer is promised: a freeze may know of no more";
  Authority authority;
  EXPECT_FALSE(authority.At(0));
  authority.Take(*use);
  EXPECT_TRUE(authority.At(120'050));
  EXPECT_FALSE(authority.At(120'051)) << "also when the process slept in between";
  authority.Drop();
  EXPECT_FALSE(authority.At(100));
}

TEST(SeatAuthority, AnotherRedisRaisesTheEpoch) {
  Confirmation seen = Seen();
  seen.redis->identity = "r2";
  const auto verdict = Conclude(kRules, seen);
  const auto* bump = std::get_if<Bump>(&verdict);
  ASSERT_TRUE(bump);
  EXPECT_EQ(bump->from, 7);
  EXPECT_EQ(bump->identity, "r2");
  EXPECT_EQ(bump->offset_ms, 304);
  EXPECT_EQ(ToText(bump->reason), "identity");
  seen.epoch.identity.reset();
  EXPECT_TRUE(std::holds_alternative<Bump>(Conclude(kRules, seen))) << "the first one";
}

TEST(SeatAuthority, AClockThatIsNotWhatItWasRaisesTheEpoch) {
  for (const std::int64_t moved : {-1'001, 1'001}) {
    Confirmation seen = Seen();
    seen.redis->now_ms = seen.store_ms + seen.epoch.offset_ms + moved;
    const auto verdict = Conclude(kRules, seen);
    const auto* bump = std::get_if<Bump>(&verdict);
    ASSERT_TRUE(bump) << moved;
    EXPECT_EQ(ToText(bump->reason), "clock");
    seen.redis->now_ms -= moved > 0 ? 1 : -1;
    EXPECT_TRUE(std::holds_alternative<Use>(Conclude(kRules, seen))) << moved;
  }
}

TEST(SeatAuthority, AStoreThatHasForgottenAdoptionsRaisesTheEpoch) {
  Confirmation seen = Seen();
  seen.incarnation = seen.epoch.incarnation + 1;
  const auto verdict = Conclude(kRules, seen);
  const auto* bump = std::get_if<Bump>(&verdict);
  ASSERT_TRUE(bump);
  EXPECT_EQ(ToText(bump->reason), "restored");
}

TEST(SeatAuthority, WhatWasMeasuredSlowlyRaisesNothing) {
  Confirmation seen = Seen();
  seen.redis->identity = "r2";
  seen.heard_ms = seen.asked_ms + 1'000;
  EXPECT_TRUE(std::holds_alternative<Bump>(Conclude(kRules, seen)));
  ++seen.heard_ms;
  EXPECT_TRUE(std::holds_alternative<StayAway>(Conclude(kRules, seen)));
}

TEST(SeatAuthority, WhileItIsFrozenNothingIsRaised) {
  for (const bool reached : {false, true}) {
    Confirmation seen = Seen();
    seen.epoch.frozen_ms = seen.store_ms + 1;
    seen.epoch.used_ms = 0;
    if (reached)
      seen.redis->identity = "r2";
    else
      seen.redis.reset();
    EXPECT_TRUE(std::holds_alternative<StayAway>(Conclude(kRules, seen))) << reached;
    seen.epoch.frozen_ms = seen.store_ms;
    EXPECT_TRUE(std::holds_alternative<Bump>(Conclude(kRules, seen))) << reached;
  }
}

TEST(SeatAuthority, TheStoreAloneGoesOnWhenNobodyHasUsedTheRedisForLong) {
  Confirmation seen = Seen();
  seen.redis.reset();
  seen.epoch.used_ms = seen.store_ms - 240'000;
  EXPECT_TRUE(std::holds_alternative<StayAway>(Conclude(kRules, seen))) << "others may reach it";
  --seen.epoch.used_ms;
  const auto verdict = Conclude(kRules, seen);
  const auto* bump = std::get_if<Bump>(&verdict);
  ASSERT_TRUE(bump);
  EXPECT_FALSE(bump->identity);
  EXPECT_EQ(ToText(bump->reason), "unreachable");
  seen.epoch.identity.reset();
  EXPECT_TRUE(std::holds_alternative<StayAway>(Conclude(kRules, seen))) << "it does already";
}

TEST(SeatAuthority, TheFreezeOutlastsWhatMayBePromisedUnderTheEpochBefore) {
  EXPECT_EQ(FreezeMs(kRules, 360'000), 120'000 + 2'400 + 1 + 360'000 + 5'000);
}

}  // namespace
}  // namespace tenure::seats
