#include "base/decimal.hpp"

#include <gtest/gtest.h>

namespace tenure::base {
namespace {

TEST(Decimal, IsPrintedWithSixPlaces) {
  EXPECT_EQ(MillionthsText(0), "0.000000");
  EXPECT_EQ(MillionthsText(23), "0.000023");
  EXPECT_EQ(MillionthsText(1'000'000), "1.000000");
  EXPECT_EQ(MillionthsText(-500'000), "-0.500000");
  EXPECT_EQ(MillionthsText(INT64_MIN), "-9223372036854.775808");
}

TEST(Decimal, IsReadWithUpToSixPlaces) {
  EXPECT_EQ(ParseMillionths("0"), 0);
  EXPECT_EQ(ParseMillionths("2"), 2'000'000);
  EXPECT_EQ(ParseMillionths("1.5"), 1'500'000);
  EXPECT_EQ(ParseMillionths("0.000001"), 1);
  EXPECT_EQ(ParseMillionths("1000000000.999999"), 1'000'000'000'999'999);
}

TEST(Decimal, NothingElseIsRead) {
  for (const char* text : {"", ".", "1.", ".5", "-1", "+1", "1e3", "1.0000001", " 1", "1 ", "0x1",
                           "1,5", "1.5.5", "99999999999999999999", "nan"})
    EXPECT_FALSE(ParseMillionths(text)) << text;
}

}  // namespace
}  // namespace tenure::base
