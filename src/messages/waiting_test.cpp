// Claims that wait, on every store.

#include <set>

#include <gmock/gmock.h>

#include "messages/contract_fixture.hpp"

namespace tenure::messages {
namespace {

TEST_P(MessagesContract, AWaitingClaimIsAnsweredWhenSomethingComes) {
  const auto waiting = a_.Wait(TestProcess::Ask({"t", "u"}), 5'000);
  EXPECT_FALSE(waiting->outcome);
  const auto id = a_.Enqueue("u");
  a_.Drive();
  ASSERT_TRUE(waiting->outcome);
  EXPECT_EQ(waiting->outcome->value().messages.front().id, id);
}

TEST_P(MessagesContract, AWaitingClaimEndsEmptyWhenItsTimeIsOver) {
  const auto waiting = a_.Wait(TestProcess::Ask({"t"}), 3'000);
  a_.Pass(2'999);
  EXPECT_FALSE(waiting->outcome);
  a_.Pass(1);
  ASSERT_TRUE(waiting->outcome);
  EXPECT_TRUE(waiting->outcome->value().messages.empty());
}

TEST_P(MessagesContract, ABurstReachesAllWhoWait) {
  std::vector<std::shared_ptr<TestProcess::Waiting>> all;
  for (int i = 0; i < 20; ++i) all.push_back(a_.Wait(TestProcess::Ask({"t"}, 1), 60'000));
  a_.EnqueueAll(std::vector<NewMessage>(20, TestProcess::Of("t")));
  a_.Drive();
  std::set<base::Uuid> ids;
  for (const auto& each : all) {
    ASSERT_TRUE(each->outcome);
    ids.insert(each->outcome->value().messages.front().id);
  }
  EXPECT_EQ(ids.size(), 20u);
}

TEST_P(MessagesContract, WhoeverWentGivesBackWhatItWasHanded) {
  auto gone = std::make_shared<TestProcess::Waiting>();
  gone->id = a_.messages().ClaimWaiting(TestProcess::Ask({"t"}), 5'000, nullptr,
                                        [gone](db::Result<ClaimReply>) { ADD_FAILURE(); });
  a_.Drive();
  const auto waiting = a_.Wait(TestProcess::Ask({"t"}), 60'000);
  a_.messages().Enqueue({"default", {TestProcess::Of("t")}}, nullptr, [](const auto&) {});
  store::Drive(a_.store());
  a_.wake().RunDue();  // its question is under way
  a_.messages().Abandon(gone->id);
  a_.Drive();
  ASSERT_TRUE(waiting->outcome) << "the next one gets it";
  const auto& got = waiting->outcome->value().messages.front();
  EXPECT_EQ(got.attempts, 0);
  EXPECT_EQ(got.crashes, 0);
}

TEST_P(MessagesContract, TheSchedulerFiresTimersOnTimeAndTakesBackWhatWasLost) {
  a_.messages().StartScheduler();
  a_.Drive();
  NewMessage timer = TestProcess::Of("t");
  timer.delay_ms = 730;
  a_.Enqueue(timer);
  const auto waiting = a_.Wait(TestProcess::Ask({"t"}), 60'000);
  a_.Pass(729, 1);
  EXPECT_FALSE(waiting->outcome);
  a_.Pass(1, 1);
  ASSERT_TRUE(waiting->outcome) << "to the millisecond";
  const auto again = a_.Wait(TestProcess::Ask({"t"}), 600'000);
  a_.Pass(kDefaultLeaseMs + 2'000);
  ASSERT_TRUE(again->outcome) << "the lease was over";
  EXPECT_EQ(again->outcome->value().messages.front().crashes, 1);
}

}  // namespace
}  // namespace tenure::messages
