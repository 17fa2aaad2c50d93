#include "cli/look.hpp"

#include <cstdlib>
#include <sstream>

#include <gtest/gtest.h>

namespace tenure::cli {
namespace {

TEST(Look, StatesAreColouredAsWholeCellsAndHeadingsAreBold) {
  EXPECT_EQ(Painted("nightly  held  12s"), "nightly  \x1b[32mheld\x1b[0m  12s");
  EXPECT_EQ(Painted("state     dead"), "state     \x1b[31mdead\x1b[0m");
  EXPECT_EQ(Painted("LEASE  STATE  LAST ERROR"), "\x1b[1mLEASE  STATE  LAST ERROR\x1b[0m");
  for (const char* plain :
       {"it is held by me", "household  1", "held-up  x", "SINGLE", "dead  12", ""})
    EXPECT_EQ(Painted(plain), plain);
}

class LocalTime : public testing::Test {
 public:
  LocalTime() {
    if (const char* zone = std::getenv("TZ")) before_ = zone;
    setenv("TZ", "Europe/Berlin", 1);
    tzset();
  }
  ~LocalTime() override {
    before_.empty() ? unsetenv("TZ") : setenv("TZ", before_.c_str(), 1);
    tzset();
  }

 private:
  std::string before_;
};

TEST_F(LocalTime, TimesKeepTheirWidthSoThatColumnsStay) {
  const std::string utc = "a  2026-07-01T22:30:00.123Z  2026-01-31T12:00:00.000Z  b";
  const std::string local = InLocalTime(utc);
  EXPECT_EQ(local, "a  2026-07-02 00:30:00+0200  2026-01-31 13:00:00+0100  b");
  EXPECT_EQ(local.size(), utc.size());
}

TEST_F(LocalTime, WhatIsNoTimeStaysAsItIs) {
  for (const char* text : {"2026-07-01", "2026-07-01T22:30:00", "2026-07-01T22:30:00+02:00",
                           "x2026-13-41T99:99:99Z", "", "Z"})
    EXPECT_EQ(InLocalTime(text), text);
}

TEST(LookBuffer, PassesWholeLinesAndTheRestWhenItIsFlushed) {
  std::ostringstream to;
  {
    LookBuffer buffer(*to.rdbuf(), {.colour = true});
    std::ostream out(&buffer);
    out << "a  he"
        << "ld\n\x1b[2K"
        << "b  dead";
    EXPECT_EQ(to.str(), "a  \x1b[32mheld\x1b[0m\n");
    out << std::flush;
    EXPECT_EQ(to.str(), "a  \x1b[32mheld\x1b[0m\n\x1b[2Kb  \x1b[31mdead\x1b[0m");
    out << "end";
  }
  EXPECT_TRUE(to.str().ends_with("end"));
}

/// A buffer that is full, as a disk may be.
class FullBuffer : public std::streambuf {};

TEST(LookBuffer, WhatCannotBeWrittenIsNoticed) {
  FullBuffer full;
  LookBuffer buffer(full, {.colour = true});
  std::ostream out(&buffer);
  out << "line\n";
  EXPECT_TRUE(buffer.failed());
  EXPECT_FALSE(out);
}

}  // namespace
}  // namespace tenure::cli
