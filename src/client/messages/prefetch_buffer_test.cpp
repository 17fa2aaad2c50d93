#include "client/messages/prefetch_buffer.hpp"

#include <gtest/gtest.h>

#include "tenure/testing/virtual_clock.hpp"

namespace tenure::client {
namespace {

ClaimedMessages Batch(const std::string& claim, std::vector<std::int64_t> crashes) {
  ClaimedMessages claimed{claim, {}};
  for (std::size_t i = 0; i < crashes.size(); ++i) {
    Delivery& each = claimed.messages.emplace_back();
    each.id = claim + std::to_string(i);
    each.fence = 1;
    each.crashes = crashes[i];
  }
  return claimed;
}

class PrefetchBufferTest : public ::testing::Test {
 protected:
  WorkItemPtr Next() {
    return buffer_.Next([this](const std::string& claim, std::int64_t count) {
      marks_.push_back(claim + std::to_string(count));
    });
  }
  std::int64_t In(std::int64_t ms) const { return clock_.NowMs() + ms; }

  tenure::testing::VirtualClock clock_;
  PrefetchBuffer buffer_{{.most = 10, .threads = 2, .beats = true}, clock_};
  std::vector<std::string> marks_;
};

TEST_F(PrefetchBufferTest, BeginsNothingThatIsNotMarkedAndMarksLargerGroupsWhenTheyAreQuick) {
  buffer_.SetHold(7, In(8'000));
  buffer_.Add(Batch("a", std::vector<std::int64_t>(10)), 7, {});
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Next()->delivery.id, "a" + std::to_string(i));
  EXPECT_EQ(marks_, (std::vector<std::string>{"a2", "a6", "a10"}));
}

TEST_F(PrefetchBufferTest, LosesEverythingWhenTheLastHeartbeatVouchesNoMore) {
  buffer_.SetHold(7, In(8'000));
  buffer_.Add(Batch("a", {0, 0, 0}), 7, {});
  const WorkItemPtr begun = Next();
  buffer_.Renewed(buffer_.Snapshot(), {}, In(8'000));
  clock_.Advance(7'999);
  buffer_.LoseOverdue();
  EXPECT_FALSE(begun->stop.stop_requested());
  clock_.Advance(1);
  buffer_.LoseOverdue();
  EXPECT_TRUE(begun->stop.stop_requested());
  EXPECT_EQ(buffer_.AwaitFinished().size(), 2u);  // given back, if they are still ours
  EXPECT_EQ(buffer_.count(), 3);                  // the result of the one is still reported
  EXPECT_TRUE(buffer_.NeedsHold());
  EXPECT_TRUE(buffer_.Snapshot().messages.empty());  // and its hold never renewed
}

TEST_F(PrefetchBufferTest, GoesOnRenewingAHoldThatWasRetiredWhileSomethingOfItIsInHand) {
  buffer_.SetHold(7, In(8'000));
  buffer_.Add(Batch("a", {0}), 7, {});
  const WorkItemPtr begun = Next();
  buffer_.Retire(7);
  buffer_.SetHold(8, In(8'000));
  const auto holds = buffer_.Snapshot();
  EXPECT_EQ(holds.current, 8);
  ASSERT_EQ(holds.messages.size(), 1u);
  EXPECT_EQ(holds.messages.front().hold, 7);
  buffer_.Drop(begun);
  EXPECT_TRUE(buffer_.Snapshot().messages.empty());
}

TEST_F(PrefetchBufferTest, GivesBackWhatWasNotBegunWhenItStops) {
  buffer_.SetHold(7, In(8'000));
  buffer_.Add(Batch("a", {0, 0, 0}), 7, {});
  const WorkItemPtr begun = Next();
  buffer_.Stop();
  EXPECT_EQ(Next(), nullptr);
  buffer_.Add(Batch("b", {0}), 7, {});  // was under way
  const auto finished = buffer_.AwaitFinished();
  ASSERT_EQ(finished.size(), 3u);
  for (const WorkItemPtr& each : finished) EXPECT_EQ(each->disposition, Disposition::kUntouched);
  EXPECT_EQ(buffer_.AwaitRoom().count, 0u);
}

}  // namespace
}  // namespace tenure::client
