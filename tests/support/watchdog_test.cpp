// The watchdog of test programs, on one that hangs on purpose.

#include <csignal>
#include <cstdlib>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/process.hpp"
#include "support/temp_dir.hpp"

namespace tenure::support {
namespace {

/// What the program said until it ended.
std::string EndOf(const char* place) {
  const TempDir dir;
  Process program({.argv = {std::getenv("TENURE_SUPPORT_HANGING")},
                   .environment = {{"TENURE_HANG_IN", place}, {"TENURE_TEST_SECONDS", "1"}},
                   .working_dir = dir.path(),
                   .output = dir / "output"});
  program.Wait();
  return ReadFile(dir / "output");
}

TEST(Watchdog, EndsAProgramThatHangsAndSaysWhere) {
  EXPECT_THAT(EndOf("test"), testing::HasSubstr("Hanging.Body hangs\n"));
  EXPECT_THAT(EndOf("suite"), testing::HasSubstr("SetUpTestSuite of Hanging hangs\n"));
  EXPECT_THAT(EndOf("environment"), testing::HasSubstr("an environment's SetUp hangs\n"));
  EXPECT_THAT(EndOf("nowhere"), testing::HasSubstr("[  PASSED  ] 1 test."));
}

TEST(Watchdog, BitesBeforeCtestDoes) {
  const char* const allowed = std::getenv("TENURE_TEST_SECONDS");
  if (!allowed) GTEST_SKIP() << "not run by ctest";
  EXPECT_STREQ(allowed, "usual") << "this program has no TIMEOUT of its own";
}

}  // namespace
}  // namespace tenure::support
