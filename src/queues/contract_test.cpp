// Sending, and what holders say: the contract of ordered queues (Q1, Q4) on every store.

#include "queues/contract_fixture.hpp"

namespace tenure::queues {
namespace {

using store::EngineKind;
using testing::ElementsAre;
using Outcome = ReportOutcome::Kind;

const auto* const every_query_runs =
    testing::AddGlobalTestEnvironment(new store::EveryQueryRuns(sql::All()));

class ReportContract : public QueuesContract {};
INSTANTIATE_TEST_SUITE_P(Stores, ReportContract,
                         testing::Values(EngineKind::kSqlite, EngineKind::kSharedSqlite,
                                         EngineKind::kPostgres, EngineKind::kPooledPostgres),
                         store::EngineName);

TEST_P(ReportContract, Q1_MessagesOfASessionAreHandedOutInTheOrderInWhichTheyWereSent) {
  a_.Declare();
  for (int i = 1; i <= 5; ++i) EXPECT_EQ(a_.Send("k", std::to_string(i)).sequence, i);
  const HeldSession held = a_.AcceptOne();
  EXPECT_EQ(held.key, "k");
  EXPECT_EQ(held.name, "k");
  EXPECT_EQ(held.attempt, 1);
  EXPECT_EQ(held.depth, 5);
  EXPECT_EQ(held.lease_until_ms, clock().WallMs() + 300'000);
  EXPECT_THAT(Sequences(held.messages), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_EQ(held.messages[3].payload, "4");
  EXPECT_EQ(held.messages[3].enqueued_ms, clock().WallMs());
  EXPECT_TRUE(a_.Accept(a_.Ask()).sessions.empty()) << "one at a time";
  const ReportOutcome done = a_.Complete(held, 5);
  EXPECT_EQ(done.kind, Outcome::kDone);
  EXPECT_EQ(done.hold, Hold::kDrained);
  EXPECT_EQ(done.row.depth(), 0);
  EXPECT_EQ(a_.Complete(held, 5).kind, Outcome::kGone);
}

TEST_P(ReportContract, ABatchEntersSeveralSessionsInItsOrder) {
  a_.Declare();
  const SendReply reply = a_.Send({a_.Of("b"), a_.Of("a"), a_.Of("b"), a_.Of("a"), a_.Of("b")});
  std::vector<std::int64_t> sequences;
  for (const SentMessage& each : reply.messages) sequences.push_back(each.sequence);
  EXPECT_THAT(sequences, ElementsAre(1, 1, 2, 2, 3));
  EXPECT_EQ(reply.messages[0].session, reply.messages[2].session);
  const AcceptReply accepted = a_.Accept(a_.Ask(5));
  ASSERT_EQ(accepted.sessions.size(), 2u);
  EXPECT_FALSE(accepted.has_left);
}

TEST_P(ReportContract, BytesTextsAndReferencesToEventsComeBackAsTheyWent) {
  a_.Declare();
  NewMessage message = a_.Of("k", std::string("a\0b\xff", 4));
  message.kind = PayloadKind::kBytes;
  message.name = "acme/widgets/pull_request/7";
  message.entity = "pull_request";
  message.correlation_id = "c-1";
  message.headers = R"({"x":"y"})";
  message.trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  message.copy = "2/3";
  NewMessage event = a_.Of("k");
  event.payload.clear();
  event.event_id = SessionIdOf(1, 1, "an event");
  event.payload_bytes = 5'000'000;
  a_.Send({message, event});
  const HeldSession held = a_.AcceptOne();
  EXPECT_EQ(held.name, "acme/widgets/pull_request/7");
  EXPECT_EQ(held.entity, "pull_request");
  ASSERT_EQ(held.messages.size(), 2u);
  const Message& got = held.messages[0];
  EXPECT_EQ(got.payload, message.payload);
  EXPECT_EQ(got.kind, PayloadKind::kBytes);
  EXPECT_EQ(got.correlation_id, "c-1");
  EXPECT_EQ(got.headers, message.headers);
  EXPECT_EQ(got.trace, message.trace);
  EXPECT_EQ(got.copy, "2/3");
  EXPECT_FALSE(got.event_id);
  EXPECT_EQ(held.messages[1].event_id, event.event_id);
  EXPECT_EQ(held.messages[1].payload_bytes, 5'000'000);
}

TEST_P(ReportContract, WhatDoesNotGoIsRefusedAsAWhole) {
  using Kind = SendReply::Kind;
  EXPECT_EQ(a_.Send({a_.Of("k")}).kind, Kind::kNoQueue);
  a_.Declare({.scope = Scope::kNone}, "", "plain");
  EXPECT_EQ(a_.Send({a_.Of("k")}, "plain").kind, Kind::kUnordered);
  a_.Declare({.max_bytes = 10});
  EXPECT_EQ(a_.Send({a_.Of("k", "12345"), a_.Of("k", "67890")}).kind, Kind::kSent);
  EXPECT_EQ(a_.Send({a_.Of("l", "1")}).kind, Kind::kFull);
  const HeldSession held = a_.AcceptOne();
  a_.Complete(held, 1);
  EXPECT_EQ(a_.Send({a_.Of("l", "1")}).kind, Kind::kSent) << "there is room again";
  a_.Call(a_.queues(), &Queues::Declare, {"default", "q", {{}, "", true}});
  EXPECT_EQ(a_.Send({a_.Of("k")}).kind, Kind::kDraining);
  EXPECT_EQ(a_.Complete(held, 2).kind, Outcome::kDone) << "what is there is handed out";
  EXPECT_EQ(a_.Declare().changed, Changed::kResumed);
  EXPECT_EQ(a_.Send({a_.Of("k")}).kind, Kind::kSent);
}

TEST_P(ReportContract, ADedupKeyIsOneMessageWithinItsWindow) {
  a_.Declare({.dedup_ms = 1'000});
  NewMessage message = a_.Of("k");
  message.dedup_key = "once";
  const SendReply both = a_.Send({message, message});
  EXPECT_FALSE(both.messages[0].duplicate);
  EXPECT_TRUE(both.messages[1].duplicate);
  const SendReply again = a_.Send({message});
  EXPECT_TRUE(again.messages[0].duplicate);
  EXPECT_EQ(again.messages[0].id, both.messages[0].id);
  EXPECT_EQ(again.messages[0].sequence, 1);
  clock().Advance(1'000);
  EXPECT_EQ(a_.Send({message}).messages[0].sequence, 2);
}

TEST_P(ReportContract, CompleteIsCumulativeAndAnswersWithTheNextSlice) {
  a_.Declare();
  for (int i = 0; i < 5; ++i) a_.Send("k");
  HeldSession held = a_.Accept(a_.Ask(1, "c", 2)).sessions.at(0);
  EXPECT_THAT(Sequences(held.messages), ElementsAre(1, 2));
  EXPECT_EQ(a_.Complete(held, 3).kind, Outcome::kOutOfOrder) << "it was not handed out";
  Report complete = a_.Of(Report::Kind::kComplete, held, 2);
  complete.max_messages = 2;
  const ReportOutcome next = a_.Tell(complete);
  EXPECT_EQ(next.hold, Hold::kHeld);
  EXPECT_THAT(Sequences(next.messages), ElementsAre(3, 4));
  const ReportOutcome again = a_.Tell(complete);
  EXPECT_EQ(again.kind, Outcome::kGone);
  EXPECT_THAT(Sequences(again.messages), ElementsAre(3, 4)) << "a lost answer costs nothing";
  EXPECT_THAT(Sequences(a_.Complete(held, 4).messages), ElementsAre(5));
  Report last = a_.Of(Report::Kind::kComplete, held, 5);
  last.keep = false;
  EXPECT_EQ(a_.Tell(last).hold, Hold::kDrained);
}

TEST_P(ReportContract, StateIsWrittenWithTheCompletionOrNotAtAll) {
  a_.Declare();
  a_.Send("k");
  a_.Send("k");
  const HeldSession held = a_.AcceptOne();
  EXPECT_FALSE(held.state);
  Report stale = a_.Of(Report::Kind::kComplete, held, 1);
  stale.state = "of a stale fence";
  ++stale.fence;
  EXPECT_EQ(a_.Tell(stale).kind, Outcome::kStale);
  Report complete = a_.Of(Report::Kind::kComplete, held, 1);
  complete.state = std::string("one\0", 4);
  complete.keep = false;
  a_.Tell(complete);
  EXPECT_EQ(a_.AcceptOne().state, complete.state);
}

TEST_P(ReportContract, Q1_AReportOfAnEarlierHoldIsStale) {
  a_.Declare();
  a_.Send("k");
  const HeldSession first = a_.AcceptOne();
  clock().Advance(300'000);
  const HeldSession second = a_.AcceptOne("d");
  EXPECT_EQ(second.id, first.id);
  EXPECT_GT(second.fence, first.fence);
  EXPECT_EQ(second.attempt, 2);
  for (const auto kind : {Report::Kind::kRenew, Report::Kind::kComplete, Report::Kind::kRelease,
                          Report::Kind::kTransfer, Report::Kind::kReceive, Report::Kind::kFail})
    EXPECT_EQ(a_.Tell(a_.Of(kind, first, 1)).kind, Outcome::kStale);
  EXPECT_EQ(a_.Complete(second, 1).kind, Outcome::kDone);
}

TEST_P(ReportContract, SessionsOfAnotherQueueOrTenantAreUnknown) {
  a_.Declare();
  a_.Declare({}, "", "other");
  a_.Send("k");
  const HeldSession held = a_.AcceptOne();
  for (const auto& [tenant, queue] : {std::pair("default", "other"), std::pair("other", "q")}) {
    const auto reply = a_.Await<ReportReply>([&](auto done) {
      a_.queues().Report({tenant, queue, {a_.Of(Report::Kind::kComplete, held, 1)}}, nullptr,
                         std::move(done));
    });
    EXPECT_EQ(reply.outcomes.front().kind, Outcome::kUnknown);
  }
  EXPECT_EQ(a_.Complete(held, 1).kind, Outcome::kDone);
}

TEST_P(ReportContract, AHandlerThatAlwaysFailsParksItsSessionInPlaceAndOthersGoOn) {
  a_.Declare({.max_delivery_count = 3, .backoff_ms = 1'000});
  for (int i = 0; i < 5; ++i) a_.Send("k");
  for (int attempt = 1; attempt <= 3; ++attempt) {
    const HeldSession held = a_.AcceptOne();
    EXPECT_EQ(held.attempt, attempt);
    if (attempt == 1) {
      EXPECT_THAT(Sequences(a_.Complete(held, 2).messages), ElementsAre(3, 4, 5));
    }
    const ReportOutcome failed = a_.Fail(held, 3, "it broke");
    ASSERT_EQ(failed.kind, Outcome::kDone);
    EXPECT_EQ(failed.then, attempt < 3 ? Then::kBackoff : Then::kParked);
    a_.Send("l" + std::to_string(attempt));
    a_.Complete(a_.AcceptOne(), 1);
    if (attempt < 3) {
      EXPECT_TRUE(a_.Accept(a_.Ask()).sessions.empty()) << "it backs off";
      clock().Advance(failed.until_ms - clock().WallMs());
    }
  }
  clock().Advance(100'000);
  EXPECT_TRUE(a_.Accept(a_.Ask()).sessions.empty()) << "it is parked";
  Report resume;
  resume.kind = Report::Kind::kResume;
  resume.session = SessionIdOf(1, 1, "k");
  EXPECT_EQ(a_.Tell(resume).kind, Outcome::kDone);
  EXPECT_EQ(a_.Tell(resume).kind, Outcome::kRefused);
  const HeldSession held = a_.AcceptOne();
  EXPECT_THAT(Sequences(held.messages), ElementsAre(3, 4, 5)) << "in exact order";
}

TEST_P(ReportContract, SkippedMessagesGoToTheDeadLettersAndTheSessionGoesOn) {
  a_.Declare({.max_delivery_count = 1, .on_dead_letter = DeadLetterPolicy::kSkip});
  a_.Send("k");
  a_.Send("k");
  EXPECT_EQ(a_.Fail(a_.AcceptOne(), 1).then, Then::kSkipped);
  EXPECT_THAT(Sequences(a_.AcceptOne().messages), ElementsAre(2));
  EXPECT_EQ(
      store_.Number("select count(*) from queue_dead where sequence = 1 and reason = 1",
                    "select count(*) from tenure.queue_dead where sequence = 1 and reason = 1"),
      1);
}

TEST_P(ReportContract, StopPausesTheQueue) {
  a_.Declare({.max_delivery_count = 1, .on_dead_letter = DeadLetterPolicy::kStop});
  a_.Send("k");
  a_.Send("l");
  EXPECT_EQ(a_.Fail(a_.AcceptOne(), 1).then, Then::kStopped);
  const AcceptReply reply = a_.Accept(a_.Ask());
  EXPECT_TRUE(reply.sessions.empty());
  EXPECT_EQ(reply.blocked, Blocked::kPaused);
  EXPECT_EQ(a_.Pause(false).queue->paused_ms, 0);
  EXPECT_EQ(a_.AcceptOne().key, "l");
}

TEST_P(ReportContract, WhatItCompletedBeforeItFailedIsOneReport) {
  a_.Declare();
  for (int i = 0; i < 3; ++i) a_.Send("k");
  Report fail = a_.Of(Report::Kind::kFail, a_.AcceptOne(), 3);
  fail.complete_through = 2;
  fail.rejected = true;
  const ReportOutcome outcome = a_.Tell(fail);
  EXPECT_EQ(outcome.then, Then::kParked);
  EXPECT_EQ(outcome.row.head, 3);
}

TEST_P(ReportContract, OperatorsBreakSkipAndDiscard) {
  a_.Declare();
  for (int i = 0; i < 4; ++i) a_.Send("k");
  const HeldSession held = a_.AcceptOne();
  const auto act = [&](Report::Kind kind, std::int64_t sequence = 0) {
    Report report;
    report.kind = kind;
    report.session = held.id;
    report.sequence = sequence;
    report.error = "an operator says so";
    return a_.Tell(report).kind;
  };
  EXPECT_EQ(act(Report::Kind::kSkip, 1), Outcome::kRefused) << "it is held";
  EXPECT_EQ(act(Report::Kind::kDiscard), Outcome::kRefused);
  EXPECT_EQ(act(Report::Kind::kBreak), Outcome::kDone);
  EXPECT_EQ(a_.Complete(held, 1).kind, Outcome::kStale) << "late reports are stale at once";
  EXPECT_EQ(act(Report::Kind::kSkip, 2), Outcome::kRefused) << "it is not the head";
  EXPECT_EQ(act(Report::Kind::kSkip, 1), Outcome::kDone);
  EXPECT_EQ(act(Report::Kind::kDiscard), Outcome::kDone);
  EXPECT_TRUE(a_.Accept(a_.Ask()).sessions.empty());
  EXPECT_EQ(a_.Send("k").sequence, 5);
  EXPECT_THAT(Sequences(a_.AcceptOne().messages), ElementsAre(5));
}

TEST_P(ReportContract, ReceiveGivesTheSliceFromTheHeadAndWaitsWhenDrained) {
  a_.Declare();
  a_.Send("k");
  const HeldSession held = a_.AcceptOne();
  const Report receive = a_.Of(Report::Kind::kReceive, held);
  EXPECT_THAT(Sequences(a_.Tell(receive).messages), ElementsAre(1));
  Report complete = a_.Of(Report::Kind::kComplete, held, 1);
  complete.linger = true;
  EXPECT_EQ(a_.Tell(complete).hold, Hold::kHeld);
  std::optional<ReportReply> answer;
  a_.queues().ReceiveWaiting({"default", "q", {receive}}, 10'000, nullptr,
                             [&](db::Result<ReportReply> reply) { answer = reply.value(); });
  a_.Drive();
  EXPECT_FALSE(answer);
  a_.Send("k");
  a_.Drive();
  ASSERT_TRUE(answer);
  EXPECT_THAT(Sequences(answer->outcomes.front().messages), ElementsAre(2));
}

TEST_P(ReportContract, AWaitingReceiveIsToldWhenTheHoldIsOver) {
  a_.Declare();
  a_.Send("k");
  const HeldSession held = a_.AcceptOne();
  Report complete = a_.Of(Report::Kind::kComplete, held, 1);
  complete.linger = true;
  a_.Tell(complete);
  std::optional<ReportReply> answer;
  a_.queues().ReceiveWaiting({"default", "q", {a_.Of(Report::Kind::kReceive, held)}}, 10'000,
                             nullptr,
                             [&](db::Result<ReportReply> reply) { answer = reply.value(); });
  a_.Drive();
  Report broken;
  broken.kind = Report::Kind::kBreak;
  broken.session = held.id;
  EXPECT_EQ(a_.Tell(broken).kind, Outcome::kDone);
  a_.Drive();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->outcomes.front().kind, Outcome::kStale);
}

}  // namespace
}  // namespace tenure::queues
