// Usage under the simulation: many seeds, and planted bugs that must be found.

#include <cstdlib>
#include <iostream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/log.hpp"
#include "sim/seeds.hpp"
#include "sim/usage_run.hpp"

namespace tenure::sim {
namespace {

/// Runs seeds one after another on one store.
class UsageSimulation {
 public:
  UsageSimulation() {
    // A receiver that refuses and fails is what this is about.
    base::SetLogLevel(base::LogLevel::kError);
  }

  std::string Execute(std::uint64_t seed, PlantedInUsage planted = PlantedInUsage::kNothing) {
    return Execute(UsageRun::Options{.seed = seed, .planted = planted});
  }
  /// The same with every step of it.
  std::string TraceOf(std::uint64_t seed) {
    Execute(UsageRun::Options{.seed = seed, .trace = true});
    return fmt::format("seed {}:\n{}", seed, trace_);
  }
  std::int64_t records() const { return records_; }
  std::int64_t windows() const { return windows_; }

 private:
  std::string Execute(UsageRun::Options options) {
    UsageRun run(ensemble_, clock_, options);
    const std::string violations = run.Execute();
    trace_ = run.trace();
    records_ += run.book().applied();
    windows_ += run.book().windows();
    return violations;
  }

  base::ManualClock clock_{1'766'311'200'000};
  UsageEnsemble ensemble_{clock_};
  std::string trace_;
  std::int64_t records_ = 0;
  std::int64_t windows_ = 0;
};

std::uint64_t Seeds() { return std::getenv("TENURE_TEST_LONG") ? 100'000 : 500; }

TEST(SimulatedUsage, U1_U2_HoldInEveryHistory) {
  UsageSimulation simulation;
  const std::int64_t seeds = ExpectEverySeedHolds(simulation, Seeds());
  // A simulation in which nothing happens finds nothing.
  std::cout << simulation.windows() << " windows, " << simulation.records() << " records\n";
  EXPECT_GE(simulation.windows(), seeds * 10);
  EXPECT_GE(simulation.records(), seeds * 20);
}

bool IsFound(PlantedInUsage planted, std::string_view by_name) {
  UsageSimulation simulation;
  return FindsPlanted(simulation, 500, planted, by_name);
}

TEST(PlantedInUsage, U1_AChunkThatIsForgottenIsFound) {
  EXPECT_TRUE(IsFound(PlantedInUsage::kChunkIsForgotten, "U2: chunk"));
}
TEST(PlantedInUsage, U1_ASilenceThatCountsAsConsentIsFound) {
  EXPECT_TRUE(IsFound(PlantedInUsage::kSilenceIsConsent, "the receiver has not taken it"));
}
TEST(PlantedInUsage, U1_AFactorThatReachesBackIsFound) {
  EXPECT_TRUE(IsFound(PlantedInUsage::kFactorReachesBack, "U1: the factor of kind"));
}
TEST(PlantedInUsage, U1_ARemovalBeforeTheUsageIsTakenIsFound) {
  EXPECT_TRUE(IsFound(PlantedInUsage::kRemovedBeforeTaken, "was removed"));
}
TEST(PlantedInUsage, U1_ANumberThatIsLeftOutIsFound) {
  EXPECT_TRUE(IsFound(PlantedInUsage::kWindowIsSkipped, "U1: there is no window"));
}
TEST(PlantedInUsage, U1_AnEndThatIsMovedIntoAClosedWindowIsFound) {
  EXPECT_TRUE(IsFound(PlantedInUsage::kEndIsMoved, "in a window that was closed"));
}

}  // namespace
}  // namespace tenure::sim
