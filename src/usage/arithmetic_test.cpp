// The arithmetic of usage (U1): exact whatever the windows and the factors.

#include "usage/arithmetic.hpp"

#include <random>

#include <gtest/gtest.h>

namespace tenure::usage {
namespace {

constexpr std::int64_t kMinute = 60'000;
constexpr std::int64_t kDay = 86'400'000;

Factors Standard() { return Factors({{1, 0, 1'000'000}, {2, 0, 2'000'000}, {3, 0, 3'000'000}}); }

std::int64_t SumOverWindows(const Factors& factors, int kind, const Interval& active,
                            std::int64_t interval_ms) {
  std::int64_t sum = 0;
  std::int64_t start = active.start_ms / interval_ms * interval_ms;
  while (start < active.end_ms) {
    const std::int64_t end = NextBoundary(start, interval_ms);
    const std::int64_t part = factors.MicrosIn(kind, active, {start, end});
    EXPECT_GE(part, 0);
    sum += part;
    start = end;
  }
  return sum;
}

TEST(UsageArithmetic, ThirtyDaysOfTheFirstKindAreOneUnitInMinutesOfAnyOffset) {
  for (const std::int64_t offset : {0, 1, 29'999, 59'999})
    EXPECT_EQ(SumOverWindows(Standard(), 1, {offset, offset + 30 * kDay}, kMinute), 1'000'000);
  EXPECT_EQ(SumOverWindows(Standard(), 3, {12'345, 12'345 + 30 * kDay}, kMinute), 3'000'000);
}

TEST(UsageArithmetic, AMinuteOfTheFirstKindIsTwentyThreeMicrosAndAFraction) {
  EXPECT_EQ(Standard().MicrosIn(1, {0, kDay}, {0, kMinute}), 23);                // 23.148…
  EXPECT_EQ(Standard().MicrosIn(1, {0, kDay}, {6 * kMinute, 7 * kMinute}), 24);  // the fractions
}

TEST(UsageArithmetic, OutsideOfItsOwnTimeASessionUsesNothing) {
  EXPECT_EQ(Standard().MicrosIn(1, {kMinute, kDay}, {0, kMinute}), 0);
  EXPECT_EQ(Standard().MicrosIn(1, {0, kMinute}, {kMinute, kDay}), 0);
  EXPECT_EQ(Standard().MicrosIn(1, {5, 5}, {0, kDay}), 0);
}

TEST(UsageArithmetic, AChangedFactorCountsFromItsInstantOn) {
  const Factors factors({{1, 0, 1'000'000}, {1, 15 * kDay, 2'000'000}});
  EXPECT_EQ(factors.MicrosUntil(1, {0, 30 * kDay}, 30 * kDay), 1'500'000);
  EXPECT_EQ(SumOverWindows(factors, 1, {0, 30 * kDay}, kMinute), 1'500'000);
  EXPECT_EQ(factors.MicrosIn(1, {0, 30 * kDay}, {0, 15 * kDay}), 500'000);
}

TEST(UsageArithmetic, TheLargestFactorForTenYearsDoesNotOverflow) {
  const Factors factors({{1, 0, kMaxFactor}});
  EXPECT_EQ(factors.MicrosUntil(1, {0, 3'600 * kDay}, INT64_MAX), 120 * kMaxFactor);
}

TEST(UsageArithmetic, WindowsAddUpWhateverTheirLengthsAndFactorsAre) {
  std::mt19937_64 random(42);
  for (int round = 0; round < 300; ++round) {
    std::vector<Factor> factors{{2, 0, static_cast<std::int64_t>(random() % 5'000'000)}};
    while (random() % 3 != 0)
      factors.push_back({2, factors.back().from_ms + 1 + static_cast<std::int64_t>(random() % kDay),
                         static_cast<std::int64_t>(random() % 5'000'000)});
    const Factors all(factors);
    const Interval active{static_cast<std::int64_t>(random() % kDay),
                          static_cast<std::int64_t>(kDay + random() % (3 * kDay))};
    const std::int64_t interval = 1'000 * (1 + static_cast<std::int64_t>(random() % 3'600));
    EXPECT_EQ(SumOverWindows(all, 2, active, interval), all.MicrosUntil(2, active, INT64_MAX));
  }
}

TEST(UsageArithmetic, WindowsAreAlignedToTheEpochAndANewIntervalBeginsAtABoundary) {
  EXPECT_EQ(NextBoundary(0, kMinute), kMinute);
  EXPECT_EQ(NextBoundary(kMinute - 1, kMinute), kMinute);
  EXPECT_EQ(NextBoundary(7 * kMinute, 5 * kMinute), 10 * kMinute);
}

}  // namespace
}  // namespace tenure::usage
