// Messages and timers under the simulation: thousands of seeds, and planted bugs that must be
// found.

#include <cstdlib>
#include <iostream>
#include <memory>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/message_run.hpp"
#include "sim/seeds.hpp"

namespace tenure::sim {
namespace {

/// Runs seeds one after another on one store.
class MessageSimulation {
 public:
  std::string Execute(std::uint64_t seed, PlantedInMessages planted = PlantedInMessages::kNothing) {
    return Execute(MessageRun::Options{.seed = seed, .planted = planted});
  }
  /// The same with every step of it.
  std::string TraceOf(std::uint64_t seed) {
    Execute(MessageRun::Options{.seed = seed, .trace = true});
    return fmt::format("seed {}:\n{}", seed, trace_);
  }
  std::int64_t claims() const { return claims_; }
  std::int64_t finished() const { return finished_; }

 private:
  std::string Execute(MessageRun::Options options) {
    MessageRun run(ensemble_, clock_, options);
    const std::string violations = run.Execute();
    trace_ = run.trace();
    claims_ += run.book().claims();
    finished_ += run.book().finished();
    return violations;
  }

  base::ManualClock clock_{1'766'311'200'000};
  Ensemble ensemble_{clock_};
  std::string trace_;
  std::int64_t claims_ = 0;
  std::int64_t finished_ = 0;
};

std::uint64_t Seeds() { return std::getenv("TENURE_TEST_LONG") ? 100'000 : 1'000; }

TEST(SimulatedMessages, M1_M2_M3_HoldInEveryHistory) {
  MessageSimulation simulation;
  const std::int64_t seeds = ExpectEverySeedHolds(simulation, Seeds());
  // A simulation in which nothing happens finds nothing.
  std::cout << simulation.claims() << " claims, " << simulation.finished() << " finished\n";
  EXPECT_GE(simulation.claims(), seeds * 10);
  EXPECT_GE(simulation.finished(), seeds * 5);
}

TEST(SimulatedMessages, ASeedReplaysExactly) {
  MessageSimulation first;
  MessageSimulation second;
  second.Execute(1'000);  // what ran before plays no part
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    ASSERT_EQ(first.TraceOf(seed), second.TraceOf(seed));
}

bool IsFound(PlantedInMessages planted, std::string_view by_name) {
  MessageSimulation simulation;
  return FindsPlanted(simulation, 500, planted, by_name);
}

TEST(PlantedInMessages, M2_AnAcknowledgementByAnybodyIsFound) {
  EXPECT_TRUE(IsFound(PlantedInMessages::kAckByAnybody, "M2: message"));
}
TEST(PlantedInMessages, M2_AnExtensionThatIsForgottenIsFound) {
  EXPECT_TRUE(IsFound(PlantedInMessages::kExtensionIsForgotten, "was told that it holds"));
}
TEST(PlantedInMessages, M3_ATimerThatFiresTwiceIsFound) {
  EXPECT_TRUE(IsFound(PlantedInMessages::kTimerFiresTwice, "M3: a message with payload"));
}
TEST(PlantedInMessages, M2_AClaimThatHoldsNothingIsFound) {
  EXPECT_TRUE(IsFound(PlantedInMessages::kClaimIsNotHeld, "to somebody who does not hold it"));
}
TEST(PlantedInMessages, ACrashOfWhatWasNotBegunIsFound) {
  EXPECT_TRUE(IsFound(PlantedInMessages::kEverythingCrashes, "counts 1 crashes more"));
}
TEST(PlantedInMessages, ADedupKeyThatIsForgottenIsFound) {
  EXPECT_TRUE(IsFound(PlantedInMessages::kKeysAreForgotten, "two messages of the dedup key"));
}
TEST(PlantedInMessages, APauseThatIsIgnoredIsFound) {
  EXPECT_TRUE(IsFound(PlantedInMessages::kPauseIsIgnored, "a pause was answered"));
}
TEST(PlantedInMessages, M1_AMarkThatPassesOverWhatIsReadyIsFound) {
  EXPECT_TRUE(IsFound(PlantedInMessages::kMarksPassOver, "a claim waits"));
}

}  // namespace
}  // namespace tenure::sim
