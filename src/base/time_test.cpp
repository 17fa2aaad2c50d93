#include <limits>

#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "base/time_text.hpp"

namespace tenure::base {
namespace {

TEST(TimeText, UtcHasMillisecondsAndAZ) {
  EXPECT_EQ(UtcText(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(UtcText(1'766'311'200'007), "2025-12-21T10:00:00.007Z");
  EXPECT_EQ(UtcText(1'709'164'799'999), "2024-02-28T23:59:59.999Z");
  EXPECT_EQ(UtcText(1'709'164'800'000), "2024-02-29T00:00:00.000Z");
}

TEST(TimeText, AnyNumberThatAStoreMayHaveIsPrinted) {
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(UtcText(kLeast), "0000-01-01T00:00:00.000Z");
  EXPECT_EQ(UtcText(-62'167'219'200'001), "0000-01-01T00:00:00.000Z");
  EXPECT_EQ(UtcText(-1), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(UtcText(253'402'300'799'999), "9999-12-31T23:59:59.999Z");
  EXPECT_EQ(UtcText(253'402'300'800'000), "9999-12-31T23:59:59.999Z");
  EXPECT_EQ(UtcText(kMost), "9999-12-31T23:59:59.999Z");
  EXPECT_EQ(SpanText(kLeast), "0s");
  EXPECT_EQ(SpanText(kMost), "106751991167d 7h");
  EXPECT_EQ(DurationText(kLeast), "-106751991167d-7h-12m-55s-808ms");
}

TEST(TimeText, DurationsAreReadInBothSpellings) {
  EXPECT_EQ(ParseDurationMs("30s"), 30'000);
  EXPECT_EQ(ParseDurationMs("250ms"), 250);
  EXPECT_EQ(ParseDurationMs("1h30m"), 5'400'000);
  EXPECT_EQ(ParseDurationMs("30d"), 2'592'000'000);
  EXPECT_EQ(ParseDurationMs("PT5M"), 300'000);
  EXPECT_EQ(ParseDurationMs("P30D"), 2'592'000'000);
  EXPECT_EQ(ParseDurationMs("P1DT12H"), 129'600'000);
  EXPECT_EQ(ParseDurationMs("0s"), 0);
}

TEST(TimeText, WhatIsNoDurationIsRefused) {
  for (const char* text : {"", "5", "s", "-5s", "5 s", "5y", "P", "PT", "P1M", "P5", "1.5h", "5mss",
                           "99999999999999999999s", "40000d", "5S"})
    EXPECT_FALSE(ParseDurationMs(text)) << text;
}

TEST(TimeText, DurationTextIsReadBack) {
  for (const std::int64_t ms : {0LL, 1LL, 999LL, 1'000LL, 61'001LL, 5'400'000LL, 2'592'000'000LL})
    EXPECT_EQ(ParseDurationMs(DurationText(ms)), ms) << DurationText(ms);
  EXPECT_EQ(DurationText(2'592'000'000), "30d");
}

TEST(TimeParse, ReadsWhatTheServerPrints) {
  for (const std::int64_t ms : {0LL, 1'766'311'200'007LL, 1'709'164'800'000LL})
    EXPECT_EQ(ParseUtcMs(UtcText(ms)), ms);
  EXPECT_EQ(ParseUtcMs("2025-12-21T10:00:00Z"), 1'766'311'200'000);
}

TEST(TimeParse, WhatIsNoTimeIsRefused) {
  for (const char* text :
       {"", "Z", "2025-12-21", "2025-12-21T10:00:00", "2025-13-21T10:00:00Z",
        "2025-02-29T10:00:00Z", "2025-12-21T24:00:00Z", "2025-12-21T10:60:00Z",
        "2025-12-21T10:00:00.1Z", "2025-12-21T10:00:00.1234Z", "2025-12-21T10:00:00,123Z",
        "2025-12-21 10:00:00Z", "+025-12-21T10:00:00Z", "xxxx-xx-xxTxx:xx:xxZ"})
    EXPECT_EQ(ParseUtcMs(text), std::nullopt) << text;
}

TEST(TimeParse, ReadsEverySpellingOfTheStandard) {
  constexpr std::int64_t kTen = 1'766'311'200'000;
  for (const char* text : {"2025-12-21T10:00:00Z", "2025-12-21t10:00:00z", "2025-12-21T10:00:00.0Z",
                           "2025-12-21T11:30:00+01:30", "2025-12-20T22:00:00-12:00",
                           "2025-12-21T10:00:00-00:00", "2025-12-21T10:00:00.0009999Z"})
    EXPECT_EQ(ParseRfc3339Ms(text), kTen) << text;
  EXPECT_EQ(ParseRfc3339Ms("2025-12-21T10:00:00.12Z"), kTen + 120);
  EXPECT_EQ(ParseRfc3339Ms("2025-12-21T10:00:00.123456789+00:00"), kTen + 123);
  for (const char* text :
       {"", "2025-12-21T10:00:00", "2025-12-21T10:00:00.Z", "2025-12-21T10:00:00+1:00",
        "2025-12-21T10:00:00+0100", "2025-12-21T10:00:00+24:00", "2025-12-21T10:00:00+01:60",
        "2025-12-21T10:00:00 01:00", "2025-12-21 10:00:00Z", "2025-12-21T10:00:00ZZ",
        "2025-12-21T10:00:00.5", "2025-12-21T10:00Z", "2025-12-21"})
    EXPECT_EQ(ParseRfc3339Ms(text), std::nullopt) << text;
}

TEST(TimeParse, ReadsTheDateHeader) {
  EXPECT_EQ(ParseHttpDateMs("Sun, 21 Dec 2025 10:00:00 GMT"), 1'766'311'200'000);
  for (const char* text : {"", "Sun, 21 Dec 2025 10:00:00 CET", "Sun, 21 Foo 2025 10:00:00 GMT",
                           "Sun, xx Dec 2025 10:00:00 GMT", "Sunday, 21-Dec-25 10:00:00 GMT"})
    EXPECT_EQ(ParseHttpDateMs(text), std::nullopt) << text;
}

TEST(TimeParse, SpansHaveTheirTwoLargestUnits) {
  EXPECT_EQ(SpanText(0), "0s");
  EXPECT_EQ(SpanText(-5'000), "0s");
  EXPECT_EQ(SpanText(59'999), "59s");
  EXPECT_EQ(SpanText(250'000), "4m 10s");
  EXPECT_EQ(SpanText(3'600'000), "1h 0m");
  EXPECT_EQ(SpanText(2'591'999'000), "29d 23h");
}

TEST(Clock, SteppingTheWallLeavesTheBootClockAlone) {
  ManualClock clock(5'000);
  const auto boot = clock.BootMs();
  clock.StepWall(-3'000);
  EXPECT_EQ(clock.WallMs(), 2'000);
  EXPECT_EQ(clock.BootMs(), boot);
  clock.Advance(10);
  EXPECT_EQ(clock.WallMs(), 2'010);
  EXPECT_EQ(clock.BootMs(), boot + 10);
}

TEST(Clock, TheMachinesBootClockNeverGoesBack) {
  auto last = SystemClock().BootMs();
  for (int i = 0; i < 10'000; ++i) {
    const auto now = SystemClock().BootMs();
    ASSERT_GE(now, last);
    last = now;
  }
}

}  // namespace
}  // namespace tenure::base
