// Leases and reliable tasks under the simulation: thousands of seeds, and planted bugs that must be
// found.

#include <gtest/gtest.h>

#include "sim/lease_run.hpp"

namespace tenure::sim {
namespace {

TEST(SimulatedLeases, L1_L2_L3_L4_T1_HoldInEveryHistory) {
  ExpectHolds<LeaseRun>({10'000, 1'000'000}, {{"grants", 5}, {"completed runs of tasks", 0.5}});
}

TEST(SimulatedLeases, ASeedReplaysExactly) { ExpectReplays<LeaseRun>(); }

TEST(SimulatedLeases, EveryPlantedBugIsFound) {
  using enum LeaseRun::Planted;
  ExpectFound<LeaseRun>(2'000, {{kReleaseByAnybody, "L4: a lease was released by another"},
                                {kExpiredIsRenewed, "L4: a lease was renewed"},
                                {kEarlyClock, "by a time from before the transaction"},
                                {kTrustFromReply, "L3"},
                                {kNoMargin, "L3"},
                                {kFinishByAnybody, "T1"}});
}

}  // namespace
}  // namespace tenure::sim
