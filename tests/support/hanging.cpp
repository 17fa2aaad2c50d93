// A test program that hangs where TENURE_HANG_IN says (watchdog_test.cpp).

#include <chrono>
#include <cstdlib>
#include <string_view>
#include <thread>

#include <gtest/gtest.h>

namespace {

void HangIf(std::string_view place) {
  const char* const chosen = std::getenv("TENURE_HANG_IN");
  if (chosen && chosen == place) std::this_thread::sleep_for(std::chrono::hours(1));
}

class Surroundings final : public testing::Environment {
  void SetUp() override { HangIf("environment"); }
};
const auto* const surroundings = testing::AddGlobalTestEnvironment(new Surroundings());

class Hanging : public testing::Test {
 public:
  static void SetUpTestSuite() { HangIf("suite"); }
};

TEST_F(Hanging, Body) { HangIf("test"); }

}  // namespace
