#include "db/sqlite/shared_clock.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "support/temp_dir.hpp"

namespace tenure::db::sqlite {
namespace {

TEST(SharedClock, IsTheSameForAllProcessesOfABootWhateverTheCalendarDoes) {
  base::ManualClock machine(1'000'000'000);
  SharedClock first(machine, "boot");
  const auto mark = first.Continue({});
  first.Adopt(mark);
  EXPECT_EQ(first.NowMs(), 1'000'000'000);
  machine.Advance(60'000);
  machine.StepWall(3'600'000);
  SharedClock second(machine, "boot");
  second.Adopt(second.Continue(mark));
  EXPECT_EQ(first.NowMs(), 1'000'060'000);
  EXPECT_EQ(second.NowMs(), 1'000'060'000);
  machine.StepWall(-7'200'000);
  EXPECT_EQ(second.NowMs(), 1'000'060'000);
  EXPECT_EQ(second.TakeMark().now_ms - second.TakeMark().boot_ms, mark.now_ms - mark.boot_ms);
}

TEST(SharedClock, OnAnotherBootFollowsTheCalendarButNotBehindTheMark) {
  base::ManualClock machine(1'000'000'000);
  SharedClock clock(machine, "this boot");
  EXPECT_EQ(clock.Continue({999'000'000, 5, "last boot"}).now_ms, 1'000'000'000);
  EXPECT_EQ(clock.Continue({2'000'000'000, 5, "last boot"}).now_ms, 2'000'000'000);
  clock.Adopt(clock.Continue({2'000'000'000, 5, "last boot"}));
  machine.Advance(1);
  EXPECT_EQ(clock.NowMs(), 2'000'000'001);
}

TEST(SharedClock, IsRefusedInAShiftedTimeNamespace) {
  const support::TempDir dir;
  const auto offsets = [&](const std::string& text) {
    std::ofstream(dir / "offsets") << text;
    return dir / "offsets";
  };
  RefuseShiftedBootTime(dir / "no such file");
  RefuseShiftedBootTime(
      offsets("monotonic           7         0\nboottime            0         0\n"));
  EXPECT_THROW(RefuseShiftedBootTime(
                   offsets("monotonic           0         0\nboottime           -5         0\n")),
               base::UserError);
  EXPECT_THROW(RefuseShiftedBootTime(offsets("monotonic 0 0\nboottime 0 1\n")), base::UserError);
}

}  // namespace
}  // namespace tenure::db::sqlite
