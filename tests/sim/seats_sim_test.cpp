// Seats over whole simulated histories: K1 and K2 as clients believe, nobody overtakes, prove holds. Planted bugs are
// found.

#include "sim/seat_run.hpp"

namespace tenure::sim {
namespace {

TEST(SimulatedSeats, K1_K2_HoldInEveryHistoryAndTheLogProvesIt) {
  ExpectHolds<SeatRun>({70, 100'000},
                       {{"grants", 5}, {"revivals", 0.1}, {"offers that were told", 0.1}});
}

TEST(SimulatedSeats, K1_HoldsWhileOlderCopiesOfTheStoreArePutBack) {
  ExpectHolds<RestoredSeatRun>({50, 100'000},
                               {{"grants", 3}, {"restores", 0.5}, {"revivals", 0.05}});
}

TEST(SimulatedSeats, ASeedReplaysExactly) { ExpectReplays<SeatRun>(); }

TEST(SimulatedSeats, EveryPlantedBugIsFound) {
  using enum SeatRun::Planted;
  ExpectFound<SeatRun>(300, {{kGrantWhileDraining, "K1", 12},
                             {kDeadlineMovesBack, "K1", 114},
                             {kRevivePastTheLine, "overtakes"},
                             {kOfferIsASignal, "and it is not given it", 92},
                             {kResumeByAnybody, "who still believes in it"},
                             {kPriorIsForgotten, "K1", 20},
                             {kExpiredWhenWritten, "EXPIRED", 37},
                             {kLookIsNotLowered, "K2", 2},
                             {kLogInAnotherTransaction, "prove", 43}});
  ExpectFound<RestoredSeatRun>(300, {{kReviveInTheFreeze, "K1", 50}, {kNoFreeze, "K1", 4}});
}

}  // namespace
}  // namespace tenure::sim
