#include "couriers/in_hand.hpp"

#include <gtest/gtest.h>

#include "tenure/testing/virtual_clock.hpp"

namespace tenure::couriers {
namespace {

Claimed Batch(const std::string& claim, std::vector<std::int64_t> crashes) {
  Claimed claimed{claim, {}};
  for (std::size_t i = 0; i < crashes.size(); ++i) {
    Delivery& each = claimed.messages.emplace_back();
    each.id = claim + std::to_string(i);
    each.fence = 1;
    each.crashes = crashes[i];
  }
  return claimed;
}

class InHandTest : public ::testing::Test {
 protected:
  JobPtr Next() {
    return in_hand_.Next([this](const std::string& claim, std::int64_t count) {
      marks_.push_back(claim + std::to_string(count));
    });
  }
  std::int64_t In(std::int64_t ms) const { return clock_.NowMs() + ms; }

  tenure::testing::VirtualClock clock_;
  InHand in_hand_{{.most = 10, .threads = 2, .beats = true}, clock_};
  std::vector<std::string> marks_;
};

TEST_F(InHandTest, BeginsNothingThatIsNotMarkedAndMarksLargerGroupsWhenTheyAreQuick) {
  in_hand_.SetHold(7, In(8'000));
  in_hand_.Add(Batch("a", std::vector<std::int64_t>(10)), 7, {});
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Next()->delivery.id, "a" + std::to_string(i));
  EXPECT_EQ(marks_, (std::vector<std::string>{"a2", "a6", "a10"}));
}

TEST_F(InHandTest, LosesEverythingWhenTheLastHeartbeatVouchesNoMore) {
  in_hand_.SetHold(7, In(8'000));
  in_hand_.Add(Batch("a", {0, 0, 0}), 7, {});
  const JobPtr begun = Next();
  in_hand_.Renewed(in_hand_.Snapshot(), {}, In(8'000));
  clock_.Advance(7'999);
  in_hand_.LoseOverdue();
  EXPECT_FALSE(begun->stop.stop_requested());
  clock_.Advance(1);
  in_hand_.LoseOverdue();
  EXPECT_TRUE(begun->stop.stop_requested());
  EXPECT_EQ(in_hand_.AwaitFinished().size(), 2u);  // given back, if they are still ours
  EXPECT_EQ(in_hand_.count(), 3);                  // the result of the one is still reported
  EXPECT_TRUE(in_hand_.NeedsHold());
  EXPECT_TRUE(in_hand_.Snapshot().messages.empty());  // and its hold never renewed
}

TEST_F(InHandTest, GoesOnRenewingAHoldThatWasRetiredWhileSomethingOfItIsInHand) {
  in_hand_.SetHold(7, In(8'000));
  in_hand_.Add(Batch("a", {0}), 7, {});
  const JobPtr begun = Next();
  in_hand_.Retire(7);
  in_hand_.SetHold(8, In(8'000));
  const auto holds = in_hand_.Snapshot();
  EXPECT_EQ(holds.current, 8);
  ASSERT_EQ(holds.messages.size(), 1u);
  EXPECT_EQ(holds.messages.front().hold, 7);
  in_hand_.Drop(begun);
  EXPECT_TRUE(in_hand_.Snapshot().messages.empty());
}

TEST_F(InHandTest, GivesBackWhatWasNotBegunWhenItStops) {
  in_hand_.SetHold(7, In(8'000));
  in_hand_.Add(Batch("a", {0, 0, 0}), 7, {});
  const JobPtr begun = Next();
  in_hand_.Stop();
  EXPECT_EQ(Next(), nullptr);
  in_hand_.Add(Batch("b", {0}), 7, {});  // was under way
  const auto finished = in_hand_.AwaitFinished();
  ASSERT_EQ(finished.size(), 3u);
  for (const JobPtr& each : finished) EXPECT_EQ(each->verdict, Verdict::kUntouched);
  EXPECT_EQ(in_hand_.AwaitRoom().count, 0u);
}

}  // namespace
}  // namespace tenure::couriers
