// Several processes on one store (M1 to M3).

#include <utility>

#include <gmock/gmock.h>

#include "messages/contract_fixture.hpp"

namespace tenure::messages {
namespace {

using store::EngineKind;
using Outcomes = std::vector<SettleOutcome>;

class EnsembleContract : public MessagesContract {
 protected:
  TestProcess b_{store_, "q"};
};
INSTANTIATE_TEST_SUITE_P(Stores, EnsembleContract,
                         testing::Values(EngineKind::kSharedSqlite, EngineKind::kPostgres,
                                         EngineKind::kPooledPostgres),
                         store::EngineName);

TEST_P(EnsembleContract, WhatOneEnqueuesAnotherClaimsAndAThirdFinishes) {
  TestProcess c{store_, "r"};
  const auto id = a_.Enqueue("t");
  const auto got = b_.ClaimOne("t");
  EXPECT_EQ(got.id, id);
  EXPECT_TRUE(a_.Claim("t").empty());
  EXPECT_EQ(c.Ack(got), SettleOutcome::kDone);
}

TEST_P(EnsembleContract, M2_TopicsThatAProcessKnowsAndOthersAreFinishedAlikeAndKept) {
  a_.ChangeTopic({.name = "kept", .retention_ms = 5'000});
  a_.ChangeTopic({.name = "foreign kept", .retention_ms = 5'000});
  std::vector<messages::Settlement> settlements;
  const auto claim = [&](TestProcess& process, const std::string& topic) {
    process.Enqueue(topic);
    const ClaimedMessage got = process.ClaimOne(topic);
    settlements.push_back({got.id, got.fence, {}, {}, {}});
  };
  for (const std::string topic : {"plain", "kept"}) claim(b_, topic);
  for (const std::string topic : {"foreign", "foreign kept"}) claim(a_, topic);
  auto stale = settlements;
  for (messages::Settlement& each : stale) each.fence += 1;
  EXPECT_EQ(b_.Settle(Disposition::kDone, settlements, "another tenant"),
            Outcomes(4, SettleOutcome::kGone));
  EXPECT_EQ(b_.Settle(Disposition::kDone, stale), Outcomes(4, SettleOutcome::kStale));
  EXPECT_EQ(b_.Settle(Disposition::kDone, settlements), Outcomes(4, SettleOutcome::kDone));
  EXPECT_EQ(b_.Settle(Disposition::kDone, settlements), Outcomes(4, SettleOutcome::kGone));
  for (const std::size_t i : {0u, 2u}) EXPECT_FALSE(b_.Find(settlements[i].id));
  for (const std::size_t i : {1u, 3u})
    EXPECT_EQ(b_.Find(settlements[i].id).value().state, MessageState::kDone);
}

TEST_P(EnsembleContract, ALinePriorityThatIsNewIsFoundByWhoeverKnewTheTopicBefore) {
  a_.Enqueue("t");
  EXPECT_EQ(b_.Claim("t").size(), 1u);
  NewMessage urgent = TestProcess::Of("t", "urgent");
  urgent.priority = 0;
  a_.Enqueue(urgent);
  EXPECT_EQ(Payloads(b_.Claim("t")), std::vector<std::string>{"urgent"});
}

TEST_P(EnsembleContract, AWaitingClaimFindsWhatAnotherProcessEnqueued) {
  const auto waiting = b_.Wait(TestProcess::Ask({"t"}), 60'000);
  b_.Pass(200);
  a_.Enqueue("t");
  EXPECT_FALSE(waiting->outcome);
  b_.Pass(1'000);
  EXPECT_TRUE(waiting->outcome) << "also when no signal reaches it";
}

TEST_P(EnsembleContract, M3_TwoWhoPromoteAtOncePromoteOnce) {
  NewMessage timer = TestProcess::Of("t");
  timer.delay_ms = 10;
  a_.EnqueueAll(std::vector<NewMessage>(10, timer));
  clock().Advance(10);
  EXPECT_EQ(a_.Promote().rows + b_.Promote().rows, 10);
  EXPECT_EQ(a_.Claim("t").size(), 10u);
}

}  // namespace
}  // namespace tenure::messages
