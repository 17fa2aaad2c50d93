#include "db/sqlite/store_clock.hpp"

#include <gtest/gtest.h>

#include "db/sqlite/side_file.hpp"
#include "support/temp_dir.hpp"

namespace tenure::db::sqlite {
namespace {

TEST(StoreClock, FollowsTheWallClockForwards) {
  base::ManualClock machine(1'000'000);
  StoreClock clock(machine);
  EXPECT_EQ(clock.NowMs(), 1'000'000);
  machine.Advance(5);
  EXPECT_EQ(clock.NowMs(), 1'000'005);
  machine.StepWall(100);
  EXPECT_EQ(clock.NowMs(), 1'000'105);
}

TEST(StoreClock, NeverGoesBackAndNeverStandsStill) {
  base::ManualClock machine(1'000'000);
  StoreClock clock(machine);
  clock.NowMs();
  machine.StepWall(-500'000);
  EXPECT_EQ(clock.NowMs(), 1'000'000);
  machine.Advance(7);
  EXPECT_EQ(clock.NowMs(), 1'000'007);
}

TEST(StoreClock, GoesOnFromAStoredMarkOfTheSameBootAlsoWhenTheCalendarWasSetBack) {
  base::ManualClock machine(1'000'000);
  StoreClock before(machine);
  const auto mark = before.TakeMark();
  machine.Advance(60'000);       // the process was down for a minute
  machine.StepWall(-3'600'000);  // and somebody set the clock back by an hour
  StoreClock after(machine);
  after.Restore(mark);
  EXPECT_EQ(after.NowMs(), 1'060'000);
}

TEST(StoreClock, TakesAMarkOfAnotherBootAsTheFloor) {
  base::ManualClock machine(1'000'000);
  StoreClock clock(machine);
  clock.Restore({2'000'000, 999'999'999, "another boot"});
  EXPECT_EQ(clock.NowMs(), 2'000'000);
  machine.Advance(1);
  EXPECT_EQ(clock.NowMs(), 2'000'001);
}

TEST(SideFile, IsReadBackAsItWasWritten) {
  const support::TempDir dir;
  const auto path = dir.path() / "side";
  EXPECT_FALSE(SideFile::Read(path));
  SideFile{{"one", "two"}, 42}.Write(path);
  const auto side = SideFile::Read(path);
  ASSERT_TRUE(side);
  EXPECT_EQ(side->nonces, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(side->mark_ms, 42);
}

}  // namespace
}  // namespace tenure::db::sqlite
