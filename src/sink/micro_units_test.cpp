#include "sink/micro_units.hpp"

#include <gtest/gtest.h>

namespace tenure::sink {
namespace {

TEST(MicroUnits, AreReadWithSixPlaces) {
  for (const auto& [text, micros] : {std::pair<const char*, std::int64_t>{"0.000000", 0},
                                     {"0.000023", 23},
                                     {"1.000000", 1'000'000},
                                     {"12.345678", 12'345'678},
                                     {"999999999999.999999", 999'999'999'999'999'999}}) {
    EXPECT_EQ(ParseMicros(text), micros);
  }
}

TEST(MicroUnits, HaveOneSpelling) {
  for (const char* text : {"", "1", "1.", ".000001", "1.0", "1.0000000", "01.000000", "-1.000000",
                           "+1.000000", "1e3", "1.00000a", "1,000000", " 1.000000", "\"1.000000\"",
                           "0x.000000", "1.000.000", "9999999999999.999999"})
    EXPECT_EQ(ParseMicros(text), std::nullopt) << text;
}

}  // namespace
}  // namespace tenure::sink
