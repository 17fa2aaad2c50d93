// Seats whose heartbeats a Redis keeps, over whole simulated histories: K1 as machines believe, K2 at the end. Planted bugs
// are found.

#include "base/log.hpp"
#include "sim/ledger_run.hpp"
#include "support/long_run.hpp"

namespace tenure::sim {
namespace {

/// A Redis goes and comes all the time here, and each time it is told of.
class SimulatedSeatLedger : public testing::Test {
 protected:
  void SetUp() override { base::SetLogLevel(base::LogLevel::kError); }
  void TearDown() override { base::SetLogLevel(base::LogLevel::kInfo); }
};

TEST_F(SimulatedSeatLedger, K1_K2_HoldInEveryHistory) {
  ExpectHolds<LedgerRun>(
      {30, 100'000},
      {{"grants", 5}, {"heartbeats that a Redis kept", 5}, {"testimonies of a death", 0.5}});
}

TEST_F(SimulatedSeatLedger, ASeedReplaysExactly) {
  Simulation<LedgerRun> one;
  Simulation<LedgerRun> another;
  another.Run(1'000);
  for (std::uint64_t seed = 1; seed <= 5; ++seed) support::ExpectTheSame(one, another, seed);
}

struct LedgerBugCase {
  const char* name = "";
  LedgerBug planted{};
  std::uint64_t known = 0;  ///< a seed that finds it
  bool is_rare = false;     ///< looked for in --long only
};
void PrintTo(const LedgerBugCase& bug, std::ostream* out) { *out << bug.name; }

class SeatLedgerBugs : public testing::TestWithParam<LedgerBugCase> {
 protected:
  void SetUp() override { base::SetLogLevel(base::LogLevel::kError); }
  void TearDown() override { base::SetLogLevel(base::LogLevel::kInfo); }
};

INSTANTIATE_TEST_SUITE_P(
    Planted, SeatLedgerBugs,
    testing::Values(LedgerBugCase{"SameEpoch", LedgerBug::kSameEpoch, 51},
                    LedgerBugCase{"NoHorizon", LedgerBug::kNoHorizon, 35},
                    LedgerBugCase{"AbsentIsDead", LedgerBug::kAbsentIsDead, 5},
                    LedgerBugCase{"RedisRevives", LedgerBug::kRedisRevives, 1},
                    LedgerBugCase{"JumpBelieved", LedgerBug::kJumpBelieved, 1},
                    LedgerBugCase{"NoFreeze", LedgerBug::kNoFreeze, 14},
                    LedgerBugCase{"ShortFreeze", LedgerBug::kShortFreeze, 8},
                    LedgerBugCase{"LowerHorizon", LedgerBug::kLowerHorizon, 2},
                    LedgerBugCase{"StaleTestimony", LedgerBug::kStaleTestimony, 9},
                    LedgerBugCase{"ReleaseForgets", LedgerBug::kReleaseForgets, 23},
                    LedgerBugCase{"OldRecord", LedgerBug::kOldRecord, 37},
                    LedgerBugCase{"LatePut", LedgerBug::kLatePut, 182, true},
                    LedgerBugCase{"NoAuthority", LedgerBug::kNoAuthority, 262},
                    LedgerBugCase{"LowerEpoch", LedgerBug::kLowerEpoch, 489, true}),
    [](const auto& bug) { return std::string(bug.param.name); });

TEST_P(SeatLedgerBugs, IsFound) {
  if (GetParam().is_rare && !support::IsLongRun()) GTEST_SKIP() << "in --long";
  ExpectFound<LedgerRun>(1'000, {{GetParam().planted, "K1", GetParam().known}});
}

}  // namespace
}  // namespace tenure::sim
