#include "client/seats/acquisition.hpp"

#include <gtest/gtest.h>

namespace tenure::client {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kNowMs = 1'000'000;

SeatAcquisition Plan(SeatAcquisition::Rules rules) { return {rules, kNowMs, 7}; }

TEST(SeatAcquisition, WhoDoesNotWaitAsksWithoutAWait) {
  EXPECT_EQ(Plan({}).WaitSeconds(kNowMs), 0);
}

TEST(SeatAcquisition, WhoWaitsAsksForAtMostHalfAMinuteAtATime) {
  const auto plan = Plan({.wait = 45s});
  EXPECT_EQ(plan.WaitSeconds(kNowMs), 30);
  EXPECT_EQ(plan.WaitSeconds(kNowMs + 30'000), 15);
  EXPECT_EQ(plan.WaitSeconds(kNowMs + 44'100), 1);
  EXPECT_EQ(plan.WaitSeconds(kNowMs + 45'000), 0);
  EXPECT_EQ(plan.WaitSeconds(kNowMs + 60'000), 0);
}

TEST(SeatAcquisition, AfterATicketItAsksAgainAtOnceUntilTheWaitIsOver) {
  auto plan = Plan({.wait = 45s});
  plan.Asked(kNowMs);
  EXPECT_EQ(plan.AfterTicket(kNowMs + 30'000), kNowMs + 30'000);
  plan.Asked(kNowMs + 30'000);
  EXPECT_EQ(plan.AfterTicket(kNowMs + 45'000), std::nullopt);
}

TEST(SeatAcquisition, AServerThatDoesNotWaitIsNotAskedMoreThanOnceASecond) {
  auto plan = Plan({.wait = 45s});
  plan.Asked(kNowMs);
  EXPECT_EQ(plan.AfterTicket(kNowMs + 5), kNowMs + 1'000);
}

TEST(SeatAcquisition, WhenAllAreTakenItAsksThreeTimesMoreAfterTheTimeThatTheServerNames) {
  auto plan = Plan({});
  EXPECT_EQ(plan.AfterInUse(kNowMs, 12s), kNowMs + 12'000);
  EXPECT_EQ(plan.AfterInUse(kNowMs, 0s), kNowMs + 1'000);
  EXPECT_EQ(plan.AfterInUse(kNowMs, 24h), kNowMs + 120'000);
  EXPECT_EQ(plan.AfterInUse(kNowMs, 1s), std::nullopt);
  EXPECT_EQ(Plan({.tries_when_in_use = 0}).AfterInUse(kNowMs, 1s), std::nullopt);
}

TEST(SeatAcquisition, WhoWaitsAndGetsNoPlaceAsksUntilTheWaitIsOver) {
  auto plan = Plan({.wait = 10s, .tries_when_in_use = 0});
  for (int i = 0; i < 5; ++i) EXPECT_EQ(plan.AfterInUse(kNowMs, 9s), kNowMs + 9'000);
  EXPECT_EQ(plan.AfterInUse(kNowMs + 9'000, 9s), std::nullopt);
}

TEST(SeatAcquisition, WithoutTimeOnlyALostAnswerIsAskedForOnceMore) {
  auto plan = Plan({});
  EXPECT_EQ(plan.AfterFailure(kNowMs, true, 0s), kNowMs);
  EXPECT_EQ(plan.AfterFailure(kNowMs, true, 0s), std::nullopt);
  EXPECT_EQ(Plan({}).AfterFailure(kNowMs, false, 0s), std::nullopt);
}

TEST(SeatAcquisition, WithTimeAServerThatIsAwayIsAskedAgainWithGrowingPauses) {
  auto plan = Plan({.wait = 1h});
  std::int64_t longest_ms = 0;
  for (int i = 0; i < 12; ++i) {
    const auto next = plan.AfterFailure(kNowMs, false, 0s);
    ASSERT_TRUE(next);
    EXPECT_GE(*next, kNowMs + 250);
    EXPECT_LE(*next, kNowMs + 30'000);
    longest_ms = std::max(longest_ms, *next - kNowMs);
  }
  EXPECT_GE(longest_ms, 15'000);
  EXPECT_EQ(plan.AfterFailure(kNowMs + 3'600'000, false, 0s), std::nullopt);
}

TEST(SeatAcquisition, AServerThatIsBusyIsLeftAloneForAsLongAsItSays) {
  auto plan = Plan({.wait = 1h});
  EXPECT_EQ(plan.AfterFailure(kNowMs, false, 40s), kNowMs + 40'000);
}

TEST(SeatAcquisition, AHolderThatLostItsSeatGoesOnForEver) {
  auto plan = Plan({.is_patient = true});
  for (int i = 0; i < 100; ++i)
    EXPECT_TRUE(plan.AfterFailure(kNowMs + i * 86'400'000LL, false, 0s));
}

}  // namespace
}  // namespace tenure::client
