// Jobs under the simulation: hundreds of seeds, and planted bugs that must be found.

#include <gtest/gtest.h>

#include "sim/job_run.hpp"

namespace tenure::sim {
namespace {

TEST(SimulatedJobs, M3_EachJobHasExactlyTheRunsThatItsPoliciesAskFor) {
  ExpectHolds<JobRun>({40, 20'000}, {{"rows of the schedule", 10},
                                     {"left out for another run", 2},
                                     {"missed", 5},
                                     {"waited", 0.5},
                                     {"acknowledged", 5}});
}

TEST(SimulatedJobs, ASeedReplaysExactly) { ExpectReplays<JobRun>(); }

TEST(SimulatedJobs, EveryPlantedBugIsFound) {
  using enum JobRun::Planted;
  ExpectFound<JobRun>(100, {{kTimeIsForgotten, "the next time of"},
                            {kRunWithoutMessage, "has no message"},
                            {kEndIsForgotten, "a run that is live has no message"},
                            {kNoteIsLost, "are not those of its policies"},
                            {kWaitsForEver, "a run that waits can be claimed"},
                            {kUnchangedIsChanged, "the next time of"}});
}

}  // namespace
}  // namespace tenure::sim
