#include "base/rate.hpp"

#include <gtest/gtest.h>

namespace tenure::base {
namespace {

TEST(Rate, ARateIsACountAndATime) {
  EXPECT_EQ(ParseRate("100/s"), (Rate{100, 1'000}));
  EXPECT_EQ(ParseRate("6000/min"), (Rate{6'000, 60'000}));
  EXPECT_EQ(ParseRate("1/h"), (Rate{1, 3'600'000}));
  EXPECT_EQ(ParseRate("1000000/s"), (Rate{1'000'000, 1'000}));
  for (const char* text : {"100/s", "6000/min", "1/h", "off"})
    EXPECT_EQ(RateText(*ParseRate(text)), text);
}

TEST(Rate, OffOrNothingIsNoLimit) {
  for (const char* text : {"", "off"}) {
    EXPECT_FALSE(ParseRate(text)->limits());
    EXPECT_EQ(RateText(*ParseRate(text)), "off");
  }
}

TEST(Rate, WhatIsNearlyARateIsNone) {
  for (const char* text : {"0/s",   "-1/s",  "+1/s",      "1",
                           "1/",    "/s",    "1/m",       "1/sec",
                           "1 /s",  "1/ s",  " 1/s",      "1/s ",
                           "1.5/s", "1e3/s", "1000001/s", "99999999999999999999/s",
                           "OFF",   "on",    "unlimited", "1s"})
    EXPECT_EQ(ParseRate(text), std::nullopt) << text;
}

}  // namespace
}  // namespace tenure::base
