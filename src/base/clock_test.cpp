#include "base/clock.hpp"

#include <gtest/gtest.h>

namespace tenure::base {
namespace {

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
