// Messages and timers under the simulation: thousands of seeds, and planted bugs that must be
// found.

#include <gtest/gtest.h>

#include "sim/message_run.hpp"

namespace tenure::sim {
namespace {

TEST(SimulatedMessages, M1_M2_M3_HoldInEveryHistory) {
  ExpectHolds<MessageRun>({1'000, 100'000}, {{"claims", 10}, {"messages finished", 5}});
}

TEST(SimulatedMessages, ASeedReplaysExactly) { ExpectReplays<MessageRun>(); }

TEST(SimulatedMessages, EveryPlantedBugIsFound) {
  using enum MessageRun::Planted;
  ExpectFound<MessageRun>(500, {{kAckByAnybody, "M2: message"},
                                {kExtensionIsForgotten, "was told that it holds"},
                                {kTimerFiresTwice, "M3: a message with payload"},
                                {kClaimIsNotHeld, "to somebody who does not hold it"},
                                {kEverythingCrashes, "counts 1 crashes more"},
                                {kKeysAreForgotten, "two messages of the dedup key"},
                                {kPauseIsIgnored, "a pause was answered"},
                                {kMarksPassOver, "a claim waits"}});
}

}  // namespace
}  // namespace tenure::sim
