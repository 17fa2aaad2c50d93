// Several processes on one store (spec 30; M1 to M3).

#include <functional>
#include <utility>

#include <gmock/gmock.h>

#include "messages/contract_fixture.hpp"

namespace tenure::messages {
namespace {

using store::EngineKind;
using Outcomes = std::vector<ReportOutcome>;

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
  EXPECT_EQ(c.Ack(got), ReportOutcome::kDone);
}

TEST_P(EnsembleContract, M2_TopicsThatAProcessKnowsAndOthersAreFinishedAlikeAndKept) {
  a_.ChangeTopic({.name = "kept", .retention_ms = 5'000});
  a_.ChangeTopic({.name = "foreign kept", .retention_ms = 5'000});
  std::vector<messages::Report> reports;
  const auto claim = [&](TestProcess& process, const std::string& topic) {
    process.Enqueue(topic);
    const ClaimedMessage got = process.ClaimOne(topic);
    reports.push_back({got.id, got.fence, {}, {}, {}});
  };
  for (const std::string topic : {"plain", "kept"}) claim(b_, topic);
  for (const std::string topic : {"foreign", "foreign kept"}) claim(a_, topic);
  auto stale = reports;
  for (messages::Report& each : stale) each.fence += 1;
  EXPECT_EQ(b_.Report(Verdict::kDone, reports, "another tenant"),
            Outcomes(4, ReportOutcome::kGone));
  EXPECT_EQ(b_.Report(Verdict::kDone, stale), Outcomes(4, ReportOutcome::kStale));
  EXPECT_EQ(b_.Report(Verdict::kDone, reports), Outcomes(4, ReportOutcome::kDone));
  EXPECT_EQ(b_.Report(Verdict::kDone, reports), Outcomes(4, ReportOutcome::kGone));
  for (const std::size_t i : {0u, 2u}) EXPECT_FALSE(b_.Find(reports[i].id));
  for (const std::size_t i : {1u, 3u})
    EXPECT_EQ(b_.Find(reports[i].id).value().state, MessageState::kDone);
}

TEST_P(EnsembleContract, ALinePriorityThatIsNewIsFoundByWhoeverKnewTheTopicBefore) {
  a_.Enqueue("t");
  EXPECT_EQ(b_.Claim("t").size(), 1u);
  NewMessage urgent = TestProcess::Of("t", "urgent");
  urgent.priority = 0;
  a_.Enqueue(urgent);
  EXPECT_EQ(Payloads(b_.Claim("t")), std::vector<std::string>{"urgent"});
}

/// Before one step of a claim somebody else does something, once.
class Meanwhile final : public db::StepHook {
 public:
  Meanwhile(std::string_view step, std::function<void()> action)
      : step_(step), action_(std::move(action)) {}
  void Before(std::string_view step) override {
    if (step == step_ && action_) std::exchange(action_, nullptr)();
  }
  void After(std::string_view) override {}

 private:
  const std::string_view step_;
  std::function<void()> action_;
};

TEST_P(EnsembleContract, ATopicThatIsOpenedInTheMiddleOfAClaimHasItsSettings) {
  if (store_.is_sqlite()) GTEST_SKIP() << "nobody else writes in the middle of a transaction";
  for (const std::string step : {"messages.find_ready", "messages.load_topics"}) {
    base::Uuid id{};
    Meanwhile hook(step, [&] { id = a_.Enqueue(step); });
    db::Connection& connection = b_.store().WriteLane(0).connection();
    connection.SetHook(&hook);
    auto got = b_.Claim(step);
    connection.SetHook(nullptr);
    if (got.empty()) got = b_.Claim(step);
    ASSERT_EQ(got.size(), 1u) << step;
    EXPECT_EQ(got.front().id, id);
    EXPECT_EQ(got.front().lease_until_ms, clock().WallMs() + kDefaultLeaseMs) << step;
  }
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
