#include "cli/progress.hpp"

#include <sstream>

#include <gtest/gtest.h>

namespace tenure::cli {
namespace {

class Said : public testing::Test {
 protected:
  Console At(bool terminal, bool quiet = false) {
    return {.out = out_, .err = err_, .err_is_terminal = terminal, .quiet = quiet};
  }

  base::ManualClock clock_{0};
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(Said, WithoutATerminalItIsALineEveryTenSeconds) {
  Console console = At(false);
  Progress progress(console, "letters", {}, clock_);
  for (int second = 1; second <= 25; ++second) {
    clock_.Advance(1'000);
    progress.At(second * 100);
  }
  progress.End();
  EXPECT_EQ(err_.str(), "1000 letters, 100/s\n2000 letters, 100/s\n");
  EXPECT_EQ(out_.str(), "");
}

TEST_F(Said, OnATerminalItIsABarWithWhatIsLeftAndIsClearedAtTheEnd) {
  Console console = At(true);
  Progress progress(console, "rows", 1'000, clock_);
  clock_.Advance(5'000);
  progress.At(250);
  EXPECT_EQ(err_.str(), "\r\x1b[K[#####...............] 250 of 1000 rows, 50/s, 15s left");
  progress.At(251);
  progress.End();
  EXPECT_TRUE(err_.str().ends_with("15s left\r\x1b[K")) << "not drawn more often than one can read";
}

TEST_F(Said, QuietIsNothing) {
  Console console = At(true, true);
  Progress progress(console, "rows", 10, clock_);
  clock_.Advance(60'000);
  progress.At(5);
  progress.End();
  EXPECT_EQ(err_.str(), "");
}

}  // namespace
}  // namespace tenure::cli
