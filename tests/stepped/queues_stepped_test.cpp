// Ordered queues under the stepped scheduler: Q1, Q3 and Q4 over whole histories, beside users' own transactions that stay
// open; no deadlock ever, the counters equal a recount after every commit, and planted bugs that must be found.

#include <iostream>
#include <utility>

#include <gtest/gtest.h>

#include "stepped/queue_step_run.hpp"

namespace tenure::stepped {
namespace {

constexpr support::Seeds kQueueSeeds{15, 3'000};

TEST(SteppedQueues, Q1_Q3_Q4_HoldInEveryInterleavingAndNothingDeadlocks) {
  QueueStepRun run(QueueBug::kNothing);
  const std::int64_t seeds = support::ExpectEverySeedHolds(run, kQueueSeeds);
  std::cout << run.handed() << " messages were handed out\n";
  EXPECT_GE(run.handed(), seeds * 5);
}

struct Planted {
  QueueBug bug;
  const char* by_name;
  std::uint64_t known;  ///< a seed that finds it
};
class SteppedQueuesBroken : public testing::TestWithParam<Planted> {};

TEST_P(SteppedQueuesBroken, APlantedBugIsFound) {
  support::ExpectFound(QueueStepRun(GetParam().bug), kSeedsForABug, GetParam().by_name,
                       GetParam().known);
}

INSTANTIATE_TEST_SUITE_P(
    Bugs, SteppedQueuesBroken,
    testing::Values(Planted{QueueBug::kSendWithoutLock, "VIOLATION: ", 1},
                    Planted{QueueBug::kNextWithTheLock, "VIOLATION: ", 11},
                    Planted{QueueBug::kNumbersOfASequence, "took the place of another", 3},
                    Planted{QueueBug::kAcceptWithoutLock, "VIOLATION: ", 6},
                    Planted{QueueBug::kCompleteWithoutLock, "VIOLATION: ", 1},
                    Planted{QueueBug::kCompleteByAnyFence, "Q1: a fence that is over counted", 19},
                    Planted{QueueBug::kNoGate, "Q3: more holds", 10},
                    Planted{QueueBug::kHoldsWithTheGate, "Q3: more holds", 8},
                    Planted{QueueBug::kOlderCap, "Q3: more holds", 46},
                    Planted{QueueBug::kCountersApart, "Q3: the counters", 1},
                    Planted{QueueBug::kMarkNotRead, "VIOLATION: ", 5},
                    Planted{QueueBug::kMarkNotCompared, "under a fence that is over", 39},
                    Planted{QueueBug::kMarkWithoutKeyShare, "VIOLATION: ", 25},
                    Planted{QueueBug::kStagedAtTheCall, "and stands before it", 392},
                    Planted{QueueBug::kStagedPassedOver, "VIOLATION: ", 1},
                    Planted{QueueBug::kStagedByReport, "of an older generation", 283},
                    Planted{QueueBug::kGenerationTooEarly, "did not wait for the old one", 3}),
    [](const auto& one) { return "Bug" + std::to_string(static_cast<int>(one.param.bug)); });

}  // namespace
}  // namespace tenure::stepped
