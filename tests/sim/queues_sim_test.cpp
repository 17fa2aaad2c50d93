// The rule book of ordered queues over whole histories, held against a judge that knows the contract only: Q1, Q3, Q4.

#include <utility>

#include <gtest/gtest.h>

#include "sim/queue_run.hpp"
#include "support/seeds.hpp"

namespace tenure::sim {
namespace {

TEST(SimulatedQueues, Q1_Q3_Q4_HoldInEveryHistoryAndTheCountersEqualARecount) {
  QueueRun run(QueueFlaw::kNothing);
  const std::int64_t seeds = support::ExpectEverySeedHolds(run, {10'000, 1'000'000});
  EXPECT_GE(run.handed(), seeds * 5);
}

TEST(SimulatedQueues, ASeedReplaysExactly) {
  QueueRun one(QueueFlaw::kNothing), another(QueueFlaw::kNothing);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) support::ExpectTheSame(one, another, seed);
}

TEST(SimulatedQueues, EveryPlantedBugIsFound) {
  using enum QueueFlaw;
  using Flaw = std::pair<QueueFlaw, const char*>;
  for (const auto& [flaw, by_name] :
       {Flaw{kCompleteByAnyFence, "Q1: complete"}, Flaw{kSliceOutlivesAbandon, "Q1: complete"},
        Flaw{kCompleteHolds, "Q1: held, and nobody holds it"},
        Flaw{kExpiredHeadSkipped, "Q4: the head moved, and nobody knows of it"},
        Flaw{kResumeMovesTheHead, "Q4: the head moved, and nobody knows of it"},
        Flaw{kRewindKeepsTheFence, "Q1: the fence"}, Flaw{kBreakKeepsTheFence, "Q1: the fence"},
        Flaw{kDecidedBeforeTheLock, "Q4: it is not ready though it has messages"},
        Flaw{kEndWakesNobody, "was not woken"}, Flaw{kMarkNotRead, "Q1: a slice does not begin"},
        Flaw{kCountersForgetParked, "Q3: the counters"}})
    support::ExpectFound(QueueRun(flaw), 300, by_name);
}

}  // namespace
}  // namespace tenure::sim
