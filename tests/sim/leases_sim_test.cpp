// Leases and reliable tasks under the simulation: thousands of seeds, and planted bugs that must be
// found.

#include <cstdlib>
#include <iostream>
#include <memory>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/run.hpp"
#include "sim/seeds.hpp"

namespace tenure::sim {
namespace {

/// Fresh after so many runs: what is left of each (a floor per tenant) adds up.
constexpr int kRunsPerServer = 5'000;

/// Runs seeds one after another on one server.
class Simulation {
 public:
  std::string Execute(std::uint64_t seed, Planted planted = Planted::kNothing) {
    return Execute({.seed = seed, .planted = planted});
  }
  /// The same with every step of it.
  std::string TraceOf(std::uint64_t seed, Planted planted = Planted::kNothing) {
    Execute({.seed = seed, .planted = planted, .trace = true});
    return fmt::format("seed {}:\n{}", seed, trace_);
  }
  const Run::Counts& counts() const { return counts_; }

 private:
  std::string Execute(Run::Options options) {
    if (!server_ || runs_ % kRunsPerServer == 0) {
      server_.reset();
      server_ = std::make_unique<Server>(clock_);
    }
    options.tenant = fmt::format("t{}", runs_++);
    Run run(*server_, clock_, options);
    const std::string violations = run.Execute();
    trace_ = run.trace();
    counts_.grants += run.counts().grants;
    counts_.task_runs += run.counts().task_runs;
    return violations;
  }

  base::ManualClock clock_{1'766'311'200'000};
  std::unique_ptr<Server> server_;
  int runs_ = 0;
  std::string trace_;
  Run::Counts counts_;
};

std::uint64_t Seeds() { return std::getenv("TENURE_TEST_LONG") ? 1'000'000 : 10'000; }

TEST(SimulatedLeases, L1_L2_L3_L4_T1_HoldInEveryHistory) {
  Simulation simulation;
  const std::int64_t seeds = ExpectEverySeedHolds(simulation, Seeds());
  // A simulation in which nothing happens finds nothing.
  std::cout << simulation.counts().grants << " grants, " << simulation.counts().task_runs
            << " completed runs of tasks\n";
  EXPECT_GE(simulation.counts().grants, seeds * 5);
  EXPECT_GE(simulation.counts().task_runs, seeds / 2);
}

TEST(SimulatedLeases, ASeedReplaysExactly) {
  Simulation first;
  Simulation second;
  second.Execute(1'000);  // what ran before plays no part
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    ASSERT_EQ(first.TraceOf(seed), second.TraceOf(seed));
}

bool IsFound(Planted planted, std::string_view by_name) {
  Simulation simulation;
  return FindsPlanted(simulation, 2'000, planted, by_name);
}

TEST(PlantedBugs, L4_AReleaseByAnybodyIsFound) {
  EXPECT_TRUE(IsFound(Planted::kReleaseByAnybody, "L4: a lease was released by another"));
}
TEST(PlantedBugs, L4_ARenewalAfterTheDeadlineIsFound) {
  EXPECT_TRUE(IsFound(Planted::kExpiredIsRenewed, "L4: a lease was renewed"));
}
TEST(PlantedBugs, L4_AClockThatIsReadTooEarlyIsFound) {
  EXPECT_TRUE(IsFound(Planted::kEarlyClock, "by a time from before the transaction"));
}
TEST(PlantedBugs, L3_TrustThatCountsFromTheReplyIsFound) {
  EXPECT_TRUE(IsFound(Planted::kTrustFromReply, "L3"));
}
TEST(PlantedBugs, L3_TrustWithoutAMarginIsFound) { EXPECT_TRUE(IsFound(Planted::kNoMargin, "L3")); }
TEST(PlantedBugs, T1_ACompletionByAnybodyIsFound) {
  EXPECT_TRUE(IsFound(Planted::kFinishByAnybody, "T1"));
}

}  // namespace
}  // namespace tenure::sim
