// The judgement of one held lease (keeper.hpp).

#include "client/leases/keeper.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

namespace tenure::client {
namespace {

using leases::Grant;
using leases::HoldState;
using leases::LeaseOptions;
using leases::LossReason;

constexpr std::int64_t kSent = 1'000'000;
constexpr std::int64_t kStore = 1'700'000'000'000;

Grant GrantOf(std::int64_t ttl_ms, std::int64_t store_now_ms = 0) {
  Grant grant;
  grant.ttl = grant.remaining = Milliseconds(ttl_ms);
  grant.now_ms = store_now_ms;
  return grant;
}

Keeper Keeping(std::int64_t ttl_ms, LeaseOptions options = {}, std::uint64_t seed = 1) {
  options.ttl = Milliseconds(ttl_ms);
  return Keeper(GrantOf(ttl_ms, kStore), {kSent, kSent}, options, seed);
}

TEST(Keeper, MarginIsATenthOfTheTtlAndAtLeastFiveMilliseconds) {
  struct {
    std::int64_t ttl_ms;
    double threshold;
    std::int64_t margin_ms;
  } const cases[] = {{30'000, 0.9, 3'000}, {100, 0.9, 10},    {100, 0.99, 5},
                     {1'001, 0.9, 101},    {1'000, 0.5, 500}, {86'400'000, 0.9, 8'640'000}};
  for (const auto& c : cases)
    EXPECT_EQ(MarginOf(Milliseconds(c.ttl_ms), c.threshold).count(), c.margin_ms) << c.ttl_ms;
}

TEST(Keeper, TrustCountsFromTheMomentOfSending) {
  struct {
    std::int64_t took_ms, waited_ms, remaining_ms, valid_for_ms;  // from the moment of sending
  } const cases[] = {
      {0, 0, 10'000, 9'000},
      {500, 0, 10'000, 9'000},          // how long the answer took plays no part
      {5'000, 4'000, 10'000, 12'600},   // 0.9 of what it waited inside of the provider
      {5'000, 0, 2'000, 1'000},         // what is left in the store, not the ttl
      {0, 0, 99'000, 9'000},            // never more than the ttl
      {1'000, 60'000, 10'000, 10'000},  // it cannot have waited for longer than the call took
  };
  for (const auto& c : cases) {
    Grant grant = GrantOf(10'000);
    grant.remaining = Milliseconds(c.remaining_ms);
    grant.waited = Milliseconds(c.waited_ms);
    const Keeper keeper(grant, {kSent, kSent + c.took_ms}, {}, 1);
    EXPECT_EQ(keeper.valid_until_ms(), kSent + c.valid_for_ms) << c.waited_ms;
  }
}

TEST(Keeper, TheFirstTryComesAtAThirdOfTheTtlOrALittleEarlierWhateverTheTtl) {
  for (const std::int64_t ttl_ms : {100, 1'000, 2'500, 30'000, 86'400'000}) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      const Keeper keeper = Keeping(ttl_ms, {}, seed);
      const std::int64_t after_ms = keeper.next_renewal_ms() - kSent;
      EXPECT_LE(after_ms, ttl_ms / 3);
      EXPECT_GE(after_ms, ttl_ms / 3 * 84 / 100);
      EXPECT_LE(keeper.may_renew_from_ms(), keeper.next_renewal_ms());
    }
  }
}

TEST(Keeper, TheTtlIsTheSameAfterTwentyRenewals) {
  Keeper keeper = Keeping(60'000);
  std::int64_t now_ms = kSent;
  for (int i = 1; i <= 20; ++i) {
    now_ms = keeper.next_renewal_ms();
    ASSERT_TRUE(keeper.BeginRenewal(now_ms));
    Grant grant = GrantOf(60'000);
    grant.remaining = grant.ttl = Milliseconds(60'000 + 40'000 * i);  // a store with that defect
    EXPECT_EQ(keeper.Renewed(grant, {now_ms, now_ms + 10}), Keeper::Answer::kExtended);
    EXPECT_EQ(keeper.valid_until_ms(), now_ms + 54'000);
    EXPECT_LE(keeper.next_renewal_ms(), now_ms + 20'000);
  }
}

TEST(Keeper, ASlowSuccessDoesNotExtendTrust) {
  Keeper keeper = Keeping(10'000);
  const std::int64_t sent_ms = kSent + 3'000;
  ASSERT_TRUE(keeper.BeginRenewal(sent_ms + 300));
  EXPECT_EQ(keeper.Renewed(GrantOf(10'000), {sent_ms, kSent + 8'000}), Keeper::Answer::kExtended);
  EXPECT_EQ(keeper.valid_until_ms(), sent_ms + 9'000);
}

TEST(Keeper, ASuccessThatTookLongerThanItGivesIsAFailedTry) {
  LeaseOptions options;
  Keeper keeper = Keeping(10'000, options);
  Grant grant = GrantOf(10'000);
  grant.remaining = Milliseconds(1'500);  // of which the margin takes 1000
  EXPECT_EQ(keeper.Renewed(grant, {kSent + 3'000, kSent + 4'000}), Keeper::Answer::kTooSlow);
  EXPECT_EQ(keeper.state(), HoldState::kJeopardy);
  EXPECT_EQ(keeper.valid_until_ms(), kSent + 9'000);
  EXPECT_LT(keeper.next_renewal_ms(), kSent + 5'000);
}

TEST(Keeper, ASuccessAfterTheLocalDeadlineDoesNotResurrect) {
  for (const bool noticed : {false, true}) {
    Keeper keeper = Keeping(10'000);
    ASSERT_TRUE(keeper.BeginRenewal(kSent + 4'000));
    if (noticed) {
      EXPECT_TRUE(keeper.Expire(kSent + 9'000));
    }
    EXPECT_EQ(keeper.Renewed(GrantOf(10'000), {kSent + 4'000, kSent + 9'000}),
              Keeper::Answer::kIgnored);
    EXPECT_EQ(keeper.Expire(kSent + 9'001), !noticed);
    EXPECT_EQ(keeper.state(), HoldState::kLost);
    EXPECT_LT(keeper.valid_until_ms(), kSent);
    EXPECT_EQ(keeper.next_renewal_ms(), kNever);
  }
}

TEST(Keeper, AnswersThatArriveInAnotherOrderNeverShortenTrust) {
  Keeper keeper = Keeping(10'000);
  EXPECT_EQ(keeper.Renewed(GrantOf(10'000), {kSent + 200, kSent + 250}), Keeper::Answer::kExtended);
  EXPECT_EQ(keeper.Renewed(GrantOf(10'000), {kSent + 100, kSent + 300}), Keeper::Answer::kExtended);
  EXPECT_EQ(keeper.valid_until_ms(), kSent + 9'200);
  EXPECT_EQ(keeper.last_success_ms(), kSent + 200);
}

TEST(Keeper, OneFailureCostsNothingButJeopardy) {
  Keeper keeper = Keeping(10'000);
  const std::int64_t first_ms = keeper.next_renewal_ms();
  ASSERT_TRUE(keeper.BeginRenewal(first_ms));
  EXPECT_EQ(keeper.next_renewal_ms(), kNever) << "one try at a time";
  keeper.Failed(first_ms + 20);
  EXPECT_EQ(keeper.state(), HoldState::kJeopardy);
  EXPECT_EQ(keeper.valid_until_ms(), kSent + 9'000);
  const std::int64_t second_ms = keeper.next_renewal_ms();
  EXPECT_LE(second_ms, first_ms + 20 + 50);
  ASSERT_TRUE(keeper.BeginRenewal(second_ms));
  EXPECT_EQ(keeper.Renewed(GrantOf(10'000), {second_ms, second_ms + 5}), Keeper::Answer::kExtended);
  EXPECT_EQ(keeper.state(), HoldState::kHeld);
  EXPECT_EQ(keeper.failures(), 0);
}

TEST(Keeper, TriesEndWithTheValidityAndNotAfterACount) {
  for (const std::int64_t ttl_ms : {100, 300, 1'000, 30'000, 3'600'000}) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      Keeper keeper = Keeping(ttl_ms, {}, seed);
      std::int64_t last_ms = kSent;
      int tries = 0;
      while (keeper.next_renewal_ms() != kNever) {
        ASSERT_GT(keeper.next_renewal_ms(), last_ms);
        last_ms = keeper.next_renewal_ms();
        ASSERT_LT(last_ms, keeper.valid_until_ms());
        ASSERT_TRUE(keeper.BeginRenewal(last_ms));
        keeper.Failed(last_ms);
        ++tries;
      }
      EXPECT_GE(tries, ttl_ms >= 300 ? 4 : 2) << ttl_ms;
      EXPECT_GE(last_ms, keeper.valid_until_ms() - std::max<std::int64_t>(ttl_ms / 10, 50));
      EXPECT_FALSE(keeper.Expire(keeper.valid_until_ms() - 1));
      const std::int64_t deadline_ms = keeper.valid_until_ms();
      EXPECT_TRUE(keeper.Expire(deadline_ms));
      EXPECT_FALSE(keeper.Expire(deadline_ms)) << "a loss is told once";
    }
  }
}

TEST(Keeper, PausesAreDoubledUpToAQuarterOfTheTtl) {
  Keeper keeper = Keeping(86'400'000, {.jitter = 0});
  std::int64_t now_ms = keeper.next_renewal_ms();
  std::int64_t expected_ms = 50;
  for (int i = 0; i < 20; ++i) {
    keeper.Failed(now_ms);
    EXPECT_EQ(keeper.next_renewal_ms() - now_ms, expected_ms);
    expected_ms = std::min<std::int64_t>(expected_ms * 2, 86'400'000 / 4);
  }
}

TEST(Keeper, ADefiniteLossIsFinalAtOnce) {
  Keeper keeper = Keeping(10'000);
  ASSERT_TRUE(keeper.BeginRenewal(kSent + 3'500));
  EXPECT_TRUE(keeper.Lose(LossReason::kBroken, kSent + 3'510));
  EXPECT_EQ(keeper.state(), HoldState::kLost);
  EXPECT_EQ(keeper.verdict(), LossReason::kBroken);
  EXPECT_LT(keeper.valid_until_ms(), kSent);
  EXPECT_FALSE(keeper.Lose(LossReason::kExpired, kSent + 3'511));
  EXPECT_FALSE(keeper.Expire(kSent + 10'000));
  EXPECT_FALSE(keeper.Release(kSent + 3'512));
  keeper.Failed(kSent + 3'513);
  EXPECT_EQ(keeper.Renewed(GrantOf(10'000), {kSent + 3'400, kSent + 3'520}),
            Keeper::Answer::kIgnored);
  EXPECT_EQ(keeper.state(), HoldState::kLost);
  EXPECT_EQ(keeper.next_renewal_ms(), kNever);
}

TEST(Keeper, ReleaseEndsRenewals) {
  Keeper keeper = Keeping(10'000);
  EXPECT_TRUE(keeper.Release(kSent + 10));
  EXPECT_FALSE(keeper.Release(kSent + 11));
  EXPECT_EQ(keeper.next_renewal_ms(), kNever);
  EXPECT_FALSE(keeper.BeginRenewal(kSent + 3'400));
  EXPECT_FALSE(keeper.Lose(LossReason::kReleased, kSent + 20)) << "no loss after a release";
  EXPECT_EQ(keeper.state(), HoldState::kReleased);
}

TEST(Keeper, ReleaseAfterTheDeadlineIsALoss) {
  Keeper keeper = Keeping(10'000);
  EXPECT_FALSE(keeper.Release(kSent + 9'000));
  EXPECT_TRUE(keeper.Expire(kSent + 9'000));
}

TEST(Keeper, WithoutAutoRenewalNoTryIsPlanned) {
  Keeper keeper = Keeping(10'000, {.auto_renew = false});
  EXPECT_EQ(keeper.next_renewal_ms(), kNever);
  keeper.Hasten(kSent + 10);
  keeper.Failed(kSent + 20);
  EXPECT_EQ(keeper.next_renewal_ms(), kNever);
  EXPECT_EQ(keeper.Renewed(GrantOf(10'000), {kSent + 100, kSent + 100}), Keeper::Answer::kExtended);
  EXPECT_EQ(keeper.next_renewal_ms(), kNever);
}

TEST(Keeper, AStoreThatAsksForAPauseGetsItAsFarAsTheValidityAllows) {
  Keeper keeper = Keeping(10'000);  // valid for 9 s; a call may take 1.25 s
  ASSERT_TRUE(keeper.BeginRenewal(kSent + 3'400));
  keeper.Failed(kSent + 3'400, Milliseconds(2'000));
  EXPECT_EQ(keeper.next_renewal_ms(), kSent + 5'400);
  ASSERT_TRUE(keeper.BeginRenewal(kSent + 5'400));
  keeper.Failed(kSent + 5'400, Milliseconds(60'000));
  EXPECT_EQ(keeper.next_renewal_ms(), kSent + 9'000 - 1'250) << "the last moment for a try";
  ASSERT_TRUE(keeper.BeginRenewal(kSent + 7'750));
  keeper.Failed(kSent + 7'750, Milliseconds(60'000));
  EXPECT_LT(keeper.next_renewal_ms(), kSent + 9'000) << "lost for sure, if nobody tries";
}

TEST(Keeper, AfterAStallTheNextTryIsNow) {
  Keeper keeper = Keeping(10'000);
  keeper.Hasten(kSent + 1'000);
  EXPECT_EQ(keeper.next_renewal_ms(), kSent + 1'000);
  EXPECT_TRUE(keeper.BeginRenewal(kSent + 1'000));
}

TEST(Keeper, AGainOfTheStoresClockOfMoreThanHalfTheMarginIsJeopardy) {
  struct {
    std::int64_t step_ms;  // of the store's clock beside the 3 s that passed
    bool jeopardy;
  } const cases[] = {{0, false}, {500, false}, {501, true}, {900, true}, {-5'000, false}};
  for (const auto& c : cases) {
    Keeper keeper = Keeping(10'000);
    const std::int64_t now_ms = kSent + 3'000;
    EXPECT_EQ(keeper.Renewed(GrantOf(10'000, kStore + 3'000 + c.step_ms), {now_ms, now_ms}),
              Keeper::Answer::kExtended);
    EXPECT_EQ(keeper.state() == HoldState::kJeopardy, c.jeopardy) << c.step_ms;
    EXPECT_EQ(keeper.clock_gain_ms(), c.jeopardy ? c.step_ms : 0);
    EXPECT_EQ(keeper.valid_until_ms(), now_ms + 9'000);
    EXPECT_EQ(keeper.next_renewal_ms() <= now_ms + 50, c.jeopardy) << c.step_ms;
    // An answer that shows an even clock ends it.
    const std::int64_t next_ms = now_ms + 50;
    keeper.Renewed(GrantOf(10'000, kStore + 3'050 + c.step_ms), {next_ms, next_ms});
    EXPECT_EQ(keeper.state(), HoldState::kHeld);
  }
}

TEST(Keeper, WhatAStoreCutsOffItsTimeIsNoGainOfItsClock) {
  // Whole seconds: the first stamp was cut by nearly one, the next by nothing.
  Grant first = GrantOf(5'000, kStore);
  first.now_slack = Milliseconds(1'000);
  Keeper keeper(first, {kSent, kSent}, {}, 1);
  Grant second = GrantOf(5'000, kStore + 2'000);
  second.now_slack = first.now_slack;
  keeper.Renewed(second, {kSent + 1'001, kSent + 1'001});
  EXPECT_EQ(keeper.state(), HoldState::kHeld);
  Grant ahead = GrantOf(5'000, kStore + 6'000);
  ahead.now_slack = first.now_slack;
  keeper.Renewed(ahead, {kSent + 2'000, kSent + 2'000});
  EXPECT_EQ(keeper.state(), HoldState::kJeopardy) << "it has gained more than that";
}

TEST(Keeper, ADelayOnTheWayIsNoGainOfTheStoresClock) {
  Keeper keeper = Keeping(10'000);
  // The statement ran at any moment of the call: its time may be that of the end.
  keeper.Renewed(GrantOf(10'000, kStore + 5'000), {kSent + 3'000, kSent + 5'000});
  EXPECT_EQ(keeper.state(), HoldState::kHeld);
}

TEST(Keeper, AnAnswerAboutAnotherLeaseShowsTheGainToo) {
  Keeper keeper = Keeping(10'000);
  EXPECT_EQ(keeper.ObserveStoreClock(kStore + 1'000, {kSent + 1'000, kSent + 1'000}), 0);
  EXPECT_EQ(keeper.ObserveStoreClock(kStore + 1'800, {kSent + 1'100, kSent + 1'100}), 700);
  EXPECT_EQ(keeper.state(), HoldState::kJeopardy);
  EXPECT_EQ(keeper.next_renewal_ms(), kSent + 1'100);
  EXPECT_EQ(keeper.ObserveStoreClock(kStore + 1'810, {kSent + 1'110, kSent + 1'110}), 0)
      << "told once";
}

TEST(Keeper, OptionsThatCannotWorkAreRefused) {
  const LeaseOptions bad[] = {{.ttl = Milliseconds(99)},
                              {.ttl = leases::kMaxTtl + Milliseconds(1)},
                              {.renew_at = 0},
                              {.renew_at = 0.9},
                              {.jitter = 1},
                              {.jitter = -0.1},
                              {.safety_threshold = 1},
                              {.retry_backoff = Milliseconds(0)},
                              {.holder = std::string(201, 'x')},
                              {.metadata = std::string(4097, 'x')}};
  for (const LeaseOptions& options : bad)
    EXPECT_THROW(CheckOptions(options), std::invalid_argument);
  EXPECT_NO_THROW(CheckOptions({}));
  EXPECT_NO_THROW(CheckOptions({.renew_at = 2.0 / 3}));
}

}  // namespace
}  // namespace tenure::client
