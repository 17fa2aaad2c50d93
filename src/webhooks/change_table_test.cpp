// What becomes of bots' queues when another file is put in force, while three processes run and
// messages wait: every row of the table of changes (docs/webhooks.md).

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "webhooks/test_process.hpp"

namespace tenure::webhooks {
namespace {

using queues::Blocked;
using queues::HeldSession;
using queues::Report;
using store::EngineKind;
using testing::ElementsAre;

class ChangeTable : public testing::TestWithParam<EngineKind> {
 protected:
  std::unique_ptr<TestProcess> Another() {
    return store_.is_sqlite() ? nullptr : std::make_unique<TestProcess>(store_);
  }
  /// The bots of the file that process `a_` puts in force; the others have never seen it.
  void Apply(std::string_view bots) {
    a_.Apply(fmt::format("sources: [{{name: github, secrets: [{{env: S}}]}}]\nbots: [{}]\n", bots));
  }
  /// One bot `b` that wants issues.
  void ApplyBot(std::string_view options) {
    Apply(fmt::format("{{name: b, events: [issues], {}}}", options));
  }
  /// An event of an issue, received by process `b_`.
  ReceiveReply Receive(int issue) {
    return b_.Receive({.id = std::to_string(++deliveries_),
                       .body = fmt::format(R"({{"action":"edited","issue":{{"number":{}}},)"
                                           R"("repository":{{"id":1,"full_name":"a/b"}}}})",
                                           issue)});
  }
  /// What a consumer of process `c_` is handed.
  HeldSession AcceptOne() {
    const auto reply = c_.Accept("b", 1);
    EXPECT_EQ(reply.sessions.size(), 1U);
    return reply.sessions.empty() ? HeldSession() : reply.sessions.front();
  }
  static std::vector<base::Uuid> EventsOf(const HeldSession& held) {
    std::vector<base::Uuid> events;
    for (const auto& message : held.messages) events.push_back(message.event_id.value());
    return events;
  }

  store::TestStore store_{GetParam(), AllQueries()};
  TestProcess a_{store_};
  const std::unique_ptr<TestProcess> second_ = Another(), third_ = Another();
  TestProcess& b_ = second_ ? *second_ : a_;
  TestProcess& c_ = third_ ? *third_ : a_;
  int deliveries_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Stores, ChangeTable,
                         testing::Values(EngineKind::kSqlite, EngineKind::kPostgres),
                         store::EngineName);

TEST_P(ChangeTable, ABotThatIsAddedGetsWhatCommitsFromThenOn) {
  Apply("");
  EXPECT_EQ(Receive(7).messages, 0);
  ApplyBot("ordering_scope: entity");
  const ReceiveReply later = Receive(7);
  EXPECT_EQ(later.messages, 1);
  EXPECT_THAT(EventsOf(AcceptOne()), ElementsAre(later.event_id));
}

TEST_P(ChangeTable, ABotThatIsRemovedDrainsAndComesBackAsTheSameQueueOrIsDroppedWhenItIsEmpty) {
  ApplyBot("ordering_scope: entity");
  const ReceiveReply first = Receive(7);
  Apply("");
  EXPECT_EQ(Receive(7).messages, 0);
  EXPECT_EQ(c_.Send("b", "k").kind, queues::SendReply::Kind::kDraining);
  c_.Tidy();
  HeldSession held = AcceptOne();
  EXPECT_THAT(EventsOf(held), ElementsAre(first.event_id));

  ApplyBot("ordering_scope: entity");
  const ReceiveReply later = Receive(7);
  c_.Tell("b", Report::Kind::kRelease, held);
  held = AcceptOne();
  EXPECT_THAT(EventsOf(held), ElementsAre(first.event_id, later.event_id));

  Apply("");
  c_.CompleteAll("b", held);
  c_.Tidy();
  EXPECT_EQ(c_.Accept("b").kind, queues::AcceptReply::Kind::kNoQueue);
  EXPECT_EQ(c_.Send("b", "k").kind, queues::SendReply::Kind::kNoQueue);
}

TEST_P(ChangeTable, ABotWithoutOrderThatIsRemovedIsNotDroppedBeforeItsTopicIsEmpty) {
  ApplyBot("ordering_scope: none");
  Receive(7);
  Apply("");
  c_.Tidy();
  const auto states = [&] {
    std::vector<std::string_view> listed;
    for (const auto& row : c_.Call(c_.queues(), &queues::Queues::List, {.tenant = "default"}).rows)
      listed.push_back(ToText(row.queue.state));
    return listed;
  };
  EXPECT_THAT(states(), ElementsAre("draining"));
  const auto messages = c_.ClaimMessages("queue:b");
  ASSERT_EQ(messages.size(), 1U);
  c_.Acknowledge(messages[0]);
  c_.Tidy();
  EXPECT_THAT(states(), ElementsAre()) << "it is dropped";
}

TEST_P(ChangeTable, OtherKeysAreHandedOutWhenNothingOlderWaitsWhateverIsParked) {
  ApplyBot("ordering_scope: entity, max_delivery_count: 1");
  const ReceiveReply seven = Receive(7), eight = Receive(8);
  ApplyBot("ordering_scope: repository, max_delivery_count: 1");
  const ReceiveReply later = Receive(7);
  const auto older = c_.Accept("b");
  ASSERT_EQ(older.sessions.size(), 2U) << "the new generation waits";
  EXPECT_EQ(c_.Accept("b").blocked, Blocked::kGeneration);
  c_.CompleteAll("b", older.sessions[0]);
  c_.Tell("b", Report::Kind::kFail, older.sessions[1], 1);
  EXPECT_EQ(c_.Accept("b").blocked, Blocked::kGeneration) << "one is parked";
  queues::Report resume{.kind = Report::Kind::kResume, .session = older.sessions[1].id};
  c_.Call(c_.queues(), &queues::Queues::Report, {"default", "b", {resume}});
  c_.CompleteAll("b", AcceptOne());
  EXPECT_THAT(EventsOf(AcceptOne()), ElementsAre(later.event_id));
  EXPECT_NE(seven.event_id, eight.event_id);
}

TEST_P(ChangeTable, AnOlderGenerationThatHasNothingLeftIsForgotten) {
  const auto oldest = [&] {
    return store_.Number("select oldest from queues", "select oldest from tenure.queues");
  };
  ApplyBot("ordering_scope: entity");
  Receive(7);
  ApplyBot("ordering_scope: repository");
  c_.Tidy();
  EXPECT_EQ(oldest(), 1) << "it has a message";
  c_.CompleteAll("b", AcceptOne());
  c_.Tidy();
  EXPECT_EQ(oldest(), 2);
}

TEST_P(ChangeTable, ABotThatGetsAnOrderWaitsUntilItsTopicIsEmpty) {
  ApplyBot("ordering_scope: none");
  Receive(7);
  ApplyBot("ordering_scope: entity");
  const ReceiveReply later = Receive(7);
  EXPECT_EQ(later.messages, 1);
  EXPECT_EQ(c_.Accept("b").blocked, Blocked::kGeneration);
  auto chosen = TestProcess::Asking("b", 1);
  chosen.key = "github.com/r1/thread/7";
  const auto reply = c_.Call(c_.queues(), &queues::Queues::Accept, chosen);
  ASSERT_TRUE(reply.unavailable);
  EXPECT_EQ(reply.unavailable->reason, queues::NotToBeHad::Reason::kGeneration);
  c_.Tidy();
  const auto messages = c_.ClaimMessages("queue:b");
  ASSERT_EQ(messages.size(), 1U);
  EXPECT_EQ(c_.Accept("b").blocked, Blocked::kGeneration) << "somebody works on it";
  c_.Acknowledge(messages[0]);
  EXPECT_THAT(EventsOf(AcceptOne()), ElementsAre(later.event_id));
  c_.Tidy();
  EXPECT_EQ(store_.Number("select oldest from queues", "select oldest from tenure.queues"), 2);
}

TEST_P(ChangeTable, ABotThatLosesItsOrderHandsOutWhatIsLeftAndIsATopicAtOnce) {
  ApplyBot("ordering_scope: entity");
  const ReceiveReply first = Receive(7);
  ApplyBot("ordering_scope: none");
  Receive(7);
  EXPECT_EQ(c_.Claim("queue:b").size(), 1U);
  const HeldSession held = AcceptOne();
  EXPECT_THAT(EventsOf(held), ElementsAre(first.event_id));
  c_.CompleteAll("b", held);
  EXPECT_EQ(c_.Accept("b").kind, queues::AcceptReply::Kind::kUnordered);
}

TEST_P(ChangeTable, Q3_ALowerCapDrainsAndAHigherOneWakes) {
  ApplyBot("ordering_scope: entity");
  for (int issue = 1; issue <= 5; ++issue) Receive(issue);
  const auto held = c_.Accept("b", 3).sessions;
  ASSERT_EQ(held.size(), 3U);
  ApplyBot("ordering_scope: entity, max_concurrent_sessions: 1");
  for (const HeldSession& each : held) {
    EXPECT_EQ(c_.Accept("b").blocked, Blocked::kCap);
    EXPECT_EQ(c_.Tell("b", Report::Kind::kRenew, each).kind, queues::ReportOutcome::Kind::kDone)
        << "what is held stays held";
    c_.CompleteAll("b", each);
  }
  AcceptOne();
  std::size_t woken = 0;
  c_.queues().AcceptWaiting(TestProcess::Asking("b"), 60'000, nullptr,
                            [&](db::Result<queues::AcceptReply> reply) {
                              woken = reply.ok() ? reply.value().sessions.size() : 0;
                            });
  c_.Drive();
  EXPECT_EQ(woken, 0U);
  ApplyBot("ordering_scope: entity, max_concurrent_sessions: 2");
  c_.Pass(2'000);
  EXPECT_EQ(woken, 1U);
}

TEST_P(ChangeTable, TimesAndPoliciesCountFromTheNextDecisionOnAndGivenDeadlinesStay) {
  ApplyBot("ordering_scope: entity, session_timeout: 10m, max_delivery_count: 1");
  Receive(7);
  Receive(8);
  const HeldSession held = AcceptOne();
  const std::int64_t now_ms = store_.clock().WallMs();
  EXPECT_EQ(held.lease_until_ms, now_ms + 600'000);
  const HeldSession parked = AcceptOne();
  c_.Tell("b", Report::Kind::kFail, parked, 1);
  ApplyBot(
      "ordering_scope: entity, session_timeout: 1m, max_delivery_count: 1, "
      "on_dead_letter: skip");
  store_.clock().Advance(120'000);
  EXPECT_EQ(c_.Accept("b").sessions.size(), 0U)
      << "the deadline that was given stays, and so does what is parked";
  EXPECT_EQ(c_.Tell("b", Report::Kind::kFail, held, 1).then, queues::Then::kSkipped);
  Receive(9);
  EXPECT_EQ(AcceptOne().lease_until_ms, store_.clock().WallMs() + 60'000);
}

TEST_P(ChangeTable, EventsAndRepositoriesCountForWhatCommitsFromThenOn) {
  ApplyBot("ordering_scope: entity");
  EXPECT_EQ(Receive(7).messages, 1);
  Apply("{name: b, events: [push], ordering_scope: entity}");
  EXPECT_EQ(Receive(7).messages, 0);
  ApplyBot("ordering_scope: entity, repositories: [\"other/*\"]");
  EXPECT_EQ(Receive(7).messages, 0);
  ApplyBot("ordering_scope: entity, repositories: [\"A/*\"]");
  const HeldSession held = AcceptOne();
  EXPECT_EQ(held.messages.size(), 1U);
  EXPECT_EQ(Receive(7).messages, 1);
  EXPECT_EQ(c_.Tell("b", Report::Kind::kComplete, held, 1).messages.size(), 1U)
      << "it is the same session";
}

}  // namespace
}  // namespace tenure::webhooks
