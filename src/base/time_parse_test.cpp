#include "base/time_parse.hpp"

#include <gtest/gtest.h>

#include "base/time_text.hpp"

namespace tenure::base {
namespace {

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

}  // namespace
}  // namespace tenure::base
