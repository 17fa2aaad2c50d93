#include "base/time_text.hpp"

#include <gtest/gtest.h>

namespace tenure::base {
namespace {

TEST(TimeText, UtcHasMillisecondsAndAZ) {
  EXPECT_EQ(UtcText(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(UtcText(1'766'311'200'007), "2025-12-21T10:00:00.007Z");
  EXPECT_EQ(UtcText(1'709'164'799'999), "2024-02-28T23:59:59.999Z");
  EXPECT_EQ(UtcText(1'709'164'800'000), "2024-02-29T00:00:00.000Z");
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

}  // namespace
}  // namespace tenure::base
