#include "db/sqlite/store_clock.hpp"

#include <filesystem>
#include <fstream>

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

class SideFiles : public testing::Test {
 protected:
  SideFiles() { std::ofstream(database_) << "the database"; }
  bool IsRight() const {
    const auto side = SideFile::Read(side_, database_);
    return side && side->IsOf("two", 42);
  }
  /// As cp does: the file that is there is written over.
  static void Overwrite(const std::filesystem::path& from, const std::filesystem::path& to) {
    std::ofstream(to) << std::ifstream(from).rdbuf();
  }

  const support::TempDir dir_;
  const std::filesystem::path side_ = dir_ / "side";
  const std::filesystem::path database_ = dir_ / "database";
};

TEST_F(SideFiles, AreReadBackAsTheyWereWritten) {
  EXPECT_FALSE(SideFile::Read(side_, database_));
  SideFile{{"one", "two"}, 42, 7}.Write(side_, database_);
  const auto side = SideFile::Read(side_, database_);
  ASSERT_TRUE(side);
  EXPECT_EQ(side->incarnation, 7);
  EXPECT_EQ(side->nonces, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(side->mark_ms, 42);
  EXPECT_TRUE(side->IsOf("one", 42) && side->IsOf("two", 43));
  EXPECT_FALSE(side->IsOf("three", 42)) << "another nonce";
  EXPECT_FALSE(side->IsOf("two", 41)) << "a database that has not come so far";
}

TEST_F(SideFiles, NoticeThatEitherFileIsACopy) {
  const auto copy = dir_ / "copy";
  SideFile{{"two"}, 42}.Write(side_, database_);
  ASSERT_TRUE(IsRight());
  std::filesystem::rename(database_, copy);
  std::filesystem::rename(copy, database_);
  EXPECT_TRUE(IsRight()) << "moved and moved back";
  std::filesystem::copy_file(database_, copy);
  std::filesystem::rename(copy, database_);
  EXPECT_FALSE(IsRight()) << "another file under its name";

  SideFile{{"two"}, 42}.Write(side_, database_);
  ASSERT_TRUE(IsRight());
  Overwrite(side_, copy);
  SideFile{{"two"}, 42}.Write(side_, database_);
  Overwrite(copy, side_);
  EXPECT_FALSE(IsRight()) << "an older copy of the whole folder was written into the files";
}

TEST_F(SideFiles, OfAnOlderProgramSayNothingOfFiles) {
  std::ofstream(side_) << "42 one two\n";
  EXPECT_TRUE(IsRight());
}

}  // namespace
}  // namespace tenure::db::sqlite
