// The contract of messages and timers (spec 30; M1 to M3) on every store.

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include <gmock/gmock.h>

#include "db/maintenance.hpp"
#include "messages/test_process.hpp"

namespace tenure::messages {
namespace {

using store::EngineKind;
using Outcomes = std::vector<ReportOutcome>;

const auto* const every_query_runs =
    testing::AddGlobalTestEnvironment(new store::EveryQueryRuns(sql::All()));

class MessagesContract : public testing::TestWithParam<EngineKind> {
 protected:
  base::ManualClock& clock() { return store_.clock(); }

  store::TestStore store_{GetParam(), sql::All()};
  TestProcess a_{store_};
};

INSTANTIATE_TEST_SUITE_P(Stores, MessagesContract,
                         testing::Values(EngineKind::kSqlite, EngineKind::kSharedSqlite,
                                         EngineKind::kPostgres, EngineKind::kPooledPostgres),
                         store::EngineName);

std::vector<std::string> Payloads(const std::vector<ClaimedMessage>& messages) {
  std::vector<std::string> payloads;
  for (const ClaimedMessage& each : messages) payloads.push_back(each.payload);
  return payloads;
}

TEST_P(MessagesContract, AMessageIsHandedOutWholeAndFinishedOnce) {
  NewMessage message = TestProcess::Of("mail", R"({"to":"you"})");
  message.correlation_id = "order 7";
  message.headers = R"({"kind":"x"})";
  message.trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  message.priority = 3;
  const auto id = a_.Enqueue(message);
  const auto got = a_.ClaimOne("mail");
  EXPECT_EQ(got.id, id);
  EXPECT_EQ(got.fence, 1);
  EXPECT_EQ(got.topic, "mail");
  EXPECT_EQ(got.payload, message.payload);
  EXPECT_EQ(got.kind, PayloadKind::kJson);
  EXPECT_EQ(got.priority, 3);
  EXPECT_EQ(got.attempts, 0);
  EXPECT_EQ(got.crashes, 0);
  EXPECT_EQ(got.correlation_id, message.correlation_id);
  EXPECT_EQ(got.headers, message.headers);
  EXPECT_EQ(got.trace, message.trace);
  EXPECT_EQ(got.lease_until_ms, clock().WallMs() + kDefaultLeaseMs);
  EXPECT_TRUE(a_.Claim("mail").empty()) << "it is in somebody's hands";
  EXPECT_EQ(a_.Ack(got), ReportOutcome::kDone);
  EXPECT_EQ(a_.Ack(got), ReportOutcome::kGone);
  EXPECT_FALSE(a_.Find(id)) << "it leaves no trace";
}

TEST_P(MessagesContract, PayloadsOfAnySizeAndAnyBytesComeBackTheSame) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<char>(i));
  NewMessage small = TestProcess::Of("blob", bytes);
  small.kind = PayloadKind::kBytes;
  NewMessage large = TestProcess::Of("blob", std::string(300'000, '\xFF'));
  large.kind = PayloadKind::kBytes;
  a_.EnqueueAll({small, large, TestProcess::Of("blob", "")});
  const auto got = a_.Claim("blob");
  ASSERT_EQ(got.size(), 3u);
  EXPECT_EQ(got[0].payload, bytes);
  EXPECT_EQ(got[0].kind, PayloadKind::kBytes);
  EXPECT_EQ(got[1].payload, large.payload);
  EXPECT_EQ(got[2].payload, "");
}

TEST_P(MessagesContract, AClaimTakesByPriorityThenByWhenTheyBecameReady) {
  std::vector<NewMessage> messages;
  for (const auto& [payload, priority] :
       std::vector<std::pair<std::string, int>>{{"1", 5}, {"2", 0}, {"3", 9}, {"4", 5}, {"5", 0}}) {
    messages.push_back(TestProcess::Of("t", payload));
    messages.back().priority = priority;
  }
  a_.EnqueueAll(messages);
  clock().Advance(1);
  a_.Enqueue("u", "6");
  EXPECT_EQ(Payloads(a_.Claim(TestProcess::Ask({"t", "u"})).messages),
            (std::vector<std::string>{"2", "5", "1", "4", "6", "3"}));
}

TEST_P(MessagesContract, AClaimTakesNoMoreThanItAskedForAndOnlyItsTopics) {
  for (int i = 0; i < 5; ++i) a_.Enqueue("t", std::to_string(i));
  a_.Enqueue("other", "x");
  EXPECT_EQ(Payloads(a_.Claim("t", 2)), (std::vector<std::string>{"0", "1"}));
  EXPECT_EQ(Payloads(a_.Claim("t", 2)), (std::vector<std::string>{"2", "3"}));
  EXPECT_EQ(Payloads(a_.Claim("t")), (std::vector<std::string>{"4"}));
  EXPECT_TRUE(a_.Claim("t").empty());
  EXPECT_TRUE(a_.Claim("never used").empty());
}

TEST_P(MessagesContract, ClaimsOfOneBatchShareWhatIsThereInOrderOfArrival) {
  for (int i = 0; i < 5; ++i) a_.Enqueue("t", std::to_string(i));
  std::vector<std::vector<std::string>> got;
  for (int i = 0; i < 3; ++i)
    a_.messages().Claim(TestProcess::Ask({"t"}, 2), nullptr, [&](db::Result<ClaimReply> result) {
      got.push_back(Payloads(result.value().messages));
    });
  store::Drive(a_.store());
  EXPECT_EQ(got, (std::vector<std::vector<std::string>>{{"0", "1"}, {"2", "3"}, {"4"}}));
}

TEST_P(MessagesContract, OtherTenantsSeeAndChangeNothing) {
  const auto id = a_.Enqueue("t");
  ClaimRequest foreign = TestProcess::Ask({"t"});
  foreign.tenant = "other";
  EXPECT_TRUE(a_.Claim(foreign).messages.empty());
  const auto got = a_.ClaimOne("t");
  for (const Verdict verdict :
       {Verdict::kDone, Verdict::kRetry, Verdict::kDead, Verdict::kExtend, Verdict::kUntouched})
    EXPECT_EQ(a_.Report(verdict, {{got.id, got.fence, {}, {}, {}}}, "other"),
              Outcomes{ReportOutcome::kGone});
  EXPECT_FALSE(a_.Find(id, "other"));
  EXPECT_EQ(a_.Cancel(id, "other"), CancelOutcome::kUnknown);
  EXPECT_EQ(a_.Ack(got), ReportOutcome::kDone);
}

TEST_P(MessagesContract, M2_AForeignTenantInTheSameBatchHidesNothing) {
  const auto id = a_.Enqueue("t");
  const auto got = a_.ClaimOne("t");
  Outcomes outcomes;
  for (const std::string tenant : {"other", "default"})
    a_.messages().Report({tenant, Verdict::kDone, {{id, got.fence, {}, {}, {}}}, {}}, nullptr,
                         [&](db::Result<ReportResult> result) {
                           outcomes.push_back(result.value().reply.outcomes.front());
                         });
  store::Drive(a_.store());
  EXPECT_EQ(outcomes, (Outcomes{ReportOutcome::kGone, ReportOutcome::kDone}));
}

TEST_P(MessagesContract, M2_AFormerOwnerChangesNothingAndIsToldSo) {
  const auto id = a_.Enqueue("t");
  const auto first = a_.ClaimOne("t");
  clock().Advance(kDefaultLeaseMs);
  EXPECT_EQ(a_.Reap().crashed, 1);
  for (const Verdict verdict :
       {Verdict::kDone, Verdict::kRetry, Verdict::kDead, Verdict::kExtend, Verdict::kUntouched})
    EXPECT_EQ(a_.Report(verdict, first), ReportOutcome::kStale) << "ready again";
  const auto second = a_.ClaimOne("t");
  EXPECT_EQ(second.id, id);
  EXPECT_GT(second.fence, first.fence);
  EXPECT_EQ(second.crashes, 1);
  for (const Verdict verdict :
       {Verdict::kDone, Verdict::kRetry, Verdict::kDead, Verdict::kExtend, Verdict::kUntouched})
    EXPECT_EQ(a_.Report(verdict, first), ReportOutcome::kStale) << "in other hands";
  EXPECT_EQ(a_.Ack(second), ReportOutcome::kDone);
  EXPECT_EQ(a_.Ack(first), ReportOutcome::kGone);
}

TEST_P(MessagesContract, M2_WhoeverReportsTwiceInOneBatchIsDoneOnce) {
  a_.Enqueue("t");
  const auto got = a_.ClaimOne("t");
  EXPECT_EQ(
      a_.Report(Verdict::kDone, {{got.id, got.fence, {}, {}, {}}, {got.id, got.fence, {}, {}, {}}}),
      (Outcomes{ReportOutcome::kDone, ReportOutcome::kGone}));
  a_.Enqueue("t");
  const auto next = a_.ClaimOne("t");
  EXPECT_EQ(a_.Report(Verdict::kDead,
                      {{next.id, next.fence, "e", {}, {}}, {next.id, next.fence, "e", {}, {}}}),
            (Outcomes{ReportOutcome::kDone, ReportOutcome::kGone}));
}

TEST_P(MessagesContract, UntilItIsTakenBackALateAcknowledgementStillCounts) {
  a_.Enqueue("t");
  const auto got = a_.ClaimOne("t");
  clock().Advance(kDefaultLeaseMs * 10);
  EXPECT_EQ(a_.Ack(got), ReportOutcome::kDone) << "nobody else has it";
}

TEST_P(MessagesContract, ARetryComesAfterTheBackOffAndCountsAnAttempt) {
  const auto id = a_.Enqueue("t");
  EXPECT_EQ(a_.Report(Verdict::kRetry, a_.ClaimOne("t"), "no luck"), ReportOutcome::kDone);
  EXPECT_TRUE(a_.Claim("t").empty());
  const auto view = a_.Find(id).value();
  EXPECT_EQ(view.state, MessageState::kWaiting);
  EXPECT_EQ(view.error, "no luck");
  EXPECT_GE(view.due_ms, clock().WallMs() + 500);
  EXPECT_LE(view.due_ms, clock().WallMs() + 1'000);
  EXPECT_EQ(a_.Promote().rows, 0);
  clock().Advance(view.due_ms - clock().WallMs() - 1);
  EXPECT_EQ(a_.Promote().next_due_ms, view.due_ms);
  clock().Advance(1);
  EXPECT_EQ(a_.Promote().rows, 1);
  const auto again = a_.ClaimOne("t");
  EXPECT_EQ(again.id, id);
  EXPECT_EQ(again.attempts, 1);
  EXPECT_EQ(again.fence, 2);
}

TEST_P(MessagesContract, AHandlerMayAskForATimeAndMayGiveUpForGood) {
  const auto id = a_.Enqueue("t");
  a_.Report(Verdict::kRetry, a_.ClaimOne("t"), "later", 5'000);
  EXPECT_EQ(a_.Find(id)->due_ms, clock().WallMs() + 5'000);
  clock().Advance(5'000);
  a_.Promote();
  a_.Report(Verdict::kRetry, a_.ClaimOne("t"), "at once", 0);
  a_.Report(Verdict::kDead, a_.ClaimOne("t"), "broken");
  const auto view = a_.Find(id).value();
  EXPECT_EQ(view.state, MessageState::kDead);
  EXPECT_EQ(view.reason, DeathReason::kFailed);
  EXPECT_EQ(view.error, "broken");
  EXPECT_EQ(view.attempts, 2);
}

TEST_P(MessagesContract, SpentAttemptsEndInTheDeadLetters) {
  a_.ChangeTopic({.name = "t", .max_attempts = 3});
  const auto id = a_.Enqueue("t");
  for (int attempt = 1; attempt <= 3; ++attempt)
    EXPECT_EQ(a_.Report(Verdict::kRetry, a_.ClaimOne("t"), std::to_string(attempt), 0),
              ReportOutcome::kDone);
  const auto view = a_.Find(id).value();
  EXPECT_EQ(view.state, MessageState::kDead);
  EXPECT_EQ(view.reason, DeathReason::kAttempts);
  EXPECT_EQ(view.error, "3");
  a_.ChangeTopic({.name = "t", .max_attempts = 0});
  const auto patient = a_.Enqueue("t");
  for (int attempt = 1; attempt <= 50; ++attempt)
    a_.Report(Verdict::kRetry, a_.ClaimOne("t"), "again", 0);
  EXPECT_EQ(a_.StateOf(patient), MessageState::kReady) << "without limit";
}

TEST_P(MessagesContract, SpentCrashesEndInTheDeadLettersAndSuspectsComeAlone) {
  const auto poison = a_.Enqueue("t", "poison");
  for (int i = 0; i < 4; ++i) a_.Enqueue("t", "good");
  const auto claimed = a_.Claim("t");
  ASSERT_EQ(claimed.size(), 5u);
  for (std::size_t i = 1; i < claimed.size(); ++i) a_.Report(Verdict::kUntouched, claimed[i]);
  for (int crash = 1; crash <= 2; ++crash) {
    clock().Advance(kDefaultLeaseMs);
    EXPECT_EQ(a_.Reap().crashed, 1);
    clock().Advance(1);
    a_.Enqueue("t", "behind it");
    // Those that were ready before it come first, without it.
    if (crash == 1) {
      for (const ClaimedMessage& each : a_.Claim("t", 4))
        EXPECT_EQ(a_.Ack(each), ReportOutcome::kDone);
    }
    const auto alone = a_.Claim("t");
    ASSERT_EQ(alone.size(), 1u) << "a suspect takes no neighbour along";
    EXPECT_EQ(alone.front().id, poison);
    EXPECT_EQ(alone.front().crashes, crash);
    EXPECT_EQ(a_.Ack(a_.ClaimOne("t")), ReportOutcome::kDone);
  }
  clock().Advance(kDefaultLeaseMs);
  const auto reaped = a_.Reap();
  EXPECT_EQ(reaped.dead, 1);
  EXPECT_EQ(a_.Find(poison)->reason, DeathReason::kCrashes);
  EXPECT_EQ(a_.Dead({.filter = {.tenant = "default"}}).letters.size(), 1u);
}

TEST_P(MessagesContract, AnExtensionHoldsItLongerAndNeverShortens) {
  const auto id = a_.Enqueue("t");
  const auto got = a_.ClaimOne("t");
  clock().Advance(20'000);
  EXPECT_EQ(a_.Report(Verdict::kExtend, {{got.id, got.fence, {}, {}, {}}}, "default", 1'000),
            Outcomes{ReportOutcome::kDone});
  EXPECT_EQ(a_.Find(id)->lease_until_ms, got.lease_until_ms);
  EXPECT_EQ(a_.Report(Verdict::kExtend, got), ReportOutcome::kDone);
  clock().Advance(29'999);
  EXPECT_EQ(a_.Reap().crashed, 0);
  EXPECT_EQ(a_.StateOf(id), MessageState::kClaimed);
  clock().Advance(1);
  EXPECT_EQ(a_.Reap().crashed, 1);
}

TEST_P(MessagesContract, TheSameClaimIdGetsTheSameMessagesAndFences) {
  for (int i = 0; i < 4; ++i) a_.Enqueue("t", std::to_string(i));
  ClaimRequest request = TestProcess::Ask({"t"}, 2);
  request.claim_id = base::Uuid::V7(1);
  const auto first = a_.Claim(request).messages;
  const auto again = a_.Claim(request).messages;
  ASSERT_EQ(again.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(again[i].id, first[i].id);
    EXPECT_EQ(again[i].fence, first[i].fence);
    EXPECT_EQ(again[i].payload, first[i].payload);
    EXPECT_EQ(again[i].lease_until_ms, first[i].lease_until_ms);
  }
  a_.Ack(first[0]);
  EXPECT_EQ(Payloads(a_.Claim(request).messages), std::vector<std::string>{"1"});
  a_.Ack(first[1]);
  EXPECT_TRUE(a_.Claim(request).messages.empty()) << "nothing new under an old name";
  EXPECT_EQ(a_.Claim("t").size(), 2u);

  ClaimRequest nothing = TestProcess::Ask({"empty"});
  nothing.claim_id = base::Uuid::V7(2);
  EXPECT_TRUE(a_.Claim(nothing).messages.empty());
  a_.Enqueue("empty");
  EXPECT_EQ(a_.Claim(nothing).messages.size(), 1u) << "an empty answer is not kept";
}

TEST_P(MessagesContract, TheSameClaimIdTwiceInOneBatchIsOneClaim) {
  for (int i = 0; i < 4; ++i) a_.Enqueue("t", std::to_string(i));
  ClaimRequest request = TestProcess::Ask({"t"}, 2);
  request.claim_id = base::Uuid::V7(1);
  std::vector<std::vector<std::string>> got;
  for (int i = 0; i < 2; ++i)
    a_.messages().Claim(request, nullptr, [&](db::Result<ClaimReply> result) {
      got.push_back(Payloads(result.value().messages));
    });
  store::Drive(a_.store());
  EXPECT_EQ(got, (std::vector<std::vector<std::string>>{{"0", "1"}, {"0", "1"}}));
}

TEST_P(MessagesContract, AWorkerHoldsForAsLongAsItsHeartbeatGoesOn) {
  const std::int64_t worker = NewWorker();
  a_.Beat(HeartbeatRequest::Kind::kJoin, worker);
  const auto id = a_.Enqueue("t");
  ClaimRequest request = TestProcess::Ask({"t"});
  request.worker = worker;
  request.started = 0;
  const auto claim = a_.Claim(request);
  ASSERT_EQ(claim.messages.size(), 1u);
  for (int i = 0; i < 30; ++i) {
    clock().Advance(kHeartbeatMs);
    EXPECT_TRUE(a_.Beat(HeartbeatRequest::Kind::kBeat, worker));
    EXPECT_EQ(a_.Reap().returned, 0) << "far beyond the lease";
  }
  a_.Start(claim.claim, 1);
  clock().Advance(kWorkerTtlMs - 1);
  EXPECT_EQ(a_.Reap().crashed, 0);
  clock().Advance(1);
  EXPECT_EQ(a_.Reap(false).crashed, 1) << "given up, within ten seconds";
  EXPECT_FALSE(a_.Beat(HeartbeatRequest::Kind::kBeat, worker)) << "and told so";
  EXPECT_EQ(a_.Ack(claim.messages.front()), ReportOutcome::kStale);
  EXPECT_EQ(a_.Find(id)->crashes, 1);
}

TEST_P(MessagesContract, AClockThatIsSetBackDoesNotKeepADeadWorkerAlive) {
  const std::int64_t worker = NewWorker();
  a_.Beat(HeartbeatRequest::Kind::kJoin, worker);
  const auto id = a_.Enqueue("t");
  ClaimRequest request = TestProcess::Ask({"t"});
  request.worker = worker;
  a_.Claim(request);
  clock().StepWall(-3'600'000);
  EXPECT_TRUE(a_.Beat(HeartbeatRequest::Kind::kBeat, worker));
  clock().Advance(kWorkerTtlMs);
  EXPECT_EQ(a_.Reap(false).crashed, 1);
  EXPECT_EQ(a_.StateOf(id), MessageState::kReady);
}

TEST_P(MessagesContract, OnlyWhatWasBegunCountsACrash) {
  const std::int64_t worker = NewWorker();
  a_.Beat(HeartbeatRequest::Kind::kJoin, worker);
  for (int i = 0; i < 10; ++i) a_.Enqueue("t", std::to_string(i));
  ClaimRequest request = TestProcess::Ask({"t"});
  request.worker = worker;
  request.started = 0;
  const auto claim = a_.Claim(request);
  a_.Start(claim.claim, 3);
  a_.Start(claim.claim, 2);  // never back
  a_.Ack(claim.messages[0]);
  clock().Advance(kWorkerTtlMs);
  const auto reaped = a_.Reap();
  EXPECT_EQ(reaped.crashed, 2);
  EXPECT_EQ(reaped.returned, 7);
  std::multiset<std::size_t> sizes;
  for (int claim_number = 0; claim_number < 3; ++claim_number) sizes.insert(a_.Claim("t").size());
  EXPECT_EQ(sizes, (std::multiset<std::size_t>{1, 1, 7})) << "suspects alone, the rest together";
}

TEST_P(MessagesContract, AWorkerThatLeavesHoldsByItsLeasesOnly) {
  const std::int64_t worker = NewWorker();
  a_.Beat(HeartbeatRequest::Kind::kJoin, worker);
  const auto id = a_.Enqueue("t");
  ClaimRequest request = TestProcess::Ask({"t"});
  request.worker = worker;
  a_.Claim(request);
  a_.Beat(HeartbeatRequest::Kind::kLeave, worker);
  clock().Advance(kDefaultLeaseMs);
  EXPECT_EQ(a_.Reap(false).crashed, 0) << "leases are not taken back yet";
  EXPECT_EQ(a_.StateOf(id), MessageState::kClaimed);
  EXPECT_EQ(a_.Reap().crashed, 1);
}

TEST_P(MessagesContract, M3_ATimerFiresWhenItIsDueAndNotBefore) {
  NewMessage timer = TestProcess::Of("t");
  timer.delay_ms = 1'500;
  const auto id = a_.Enqueue(timer);
  NewMessage later = TestProcess::Of("t");
  later.due_at_ms = clock().WallMs() + 3'000;
  a_.Enqueue(later);
  EXPECT_EQ(a_.Promote().next_due_ms, clock().WallMs() + 1'500);
  clock().Advance(1'499);
  EXPECT_EQ(a_.Promote().rows, 0);
  EXPECT_TRUE(a_.Claim("t").empty());
  clock().Advance(1);
  const auto promoted = a_.Promote();
  EXPECT_EQ(promoted.rows, 1);
  EXPECT_EQ(promoted.late_ms, 0);
  EXPECT_EQ(a_.Promote().rows, 0);
  EXPECT_EQ(a_.ClaimOne("t").id, id);
}

TEST_P(MessagesContract, ATimerCanBeCancelledUntilItHasFired) {
  NewMessage timer = TestProcess::Of("t");
  timer.delay_ms = 1'000;
  const auto cancelled = a_.Enqueue(timer);
  const auto fired = a_.Enqueue(timer);
  EXPECT_EQ(a_.Cancel(cancelled), CancelOutcome::kCancelled);
  EXPECT_EQ(a_.Cancel(cancelled), CancelOutcome::kUnknown);
  clock().Advance(1'000);
  a_.Promote();
  EXPECT_EQ(a_.Cancel(fired), CancelOutcome::kFired);
  a_.Report(Verdict::kRetry, a_.ClaimOne("t"), "again");
  EXPECT_EQ(a_.Cancel(fired), CancelOutcome::kFired) << "a retry is no timer";
  EXPECT_EQ(a_.Cancel(base::Uuid::V7(1)), CancelOutcome::kUnknown);
}

TEST_P(MessagesContract, ADedupKeyHoldsForItsWindow) {
  NewMessage message = TestProcess::Of("t", "1");
  message.dedup_key = "order 7";
  const auto first = a_.EnqueueAll({message, message});
  EXPECT_FALSE(first[0].duplicate);
  EXPECT_TRUE(first[1].duplicate) << "also within one request";
  EXPECT_EQ(first[1].id, first[0].id);
  a_.Ack(a_.ClaimOne("t"));
  clock().Advance(599'999);
  const auto again = a_.EnqueueAll({message});
  EXPECT_TRUE(again[0].duplicate) << "also when it is done";
  EXPECT_EQ(again[0].id, first[0].id);
  NewMessage other = message;
  other.topic = "u";
  EXPECT_FALSE(a_.EnqueueAll({other})[0].duplicate) << "another topic";
  EXPECT_FALSE(a_.EnqueueAll({message}, "tenant")[0].duplicate) << "another tenant";
  clock().Advance(1);
  const auto fresh = a_.EnqueueAll({message});
  EXPECT_FALSE(fresh[0].duplicate);
  EXPECT_NE(fresh[0].id, first[0].id);
  EXPECT_EQ(a_.Claim("t").size(), 1u);
}

TEST_P(MessagesContract, APausedTopicHandsOutNothingAndLosesNothing) {
  a_.Enqueue("t");
  a_.ChangeTopic({.name = "t", .paused = true, .paused_reason = "maintenance"});
  EXPECT_TRUE(a_.Claim("t").empty());
  const auto id = a_.Enqueue("t");
  EXPECT_THAT(Why(a_.Find(id).value()), testing::HasSubstr("maintenance"));
  a_.ChangeTopic({.name = "t", .paused = false});
  EXPECT_EQ(a_.Claim("t").size(), 2u);
  a_.ChangeTopic({.name = "new", .paused = true});
  a_.Enqueue("new");
  EXPECT_TRUE(a_.Claim("new").empty()) << "paused before its first message";
}

TEST_P(MessagesContract, AClaimIsToldWhichOfItsTopicsArePaused) {
  a_.Enqueue("open");
  a_.ChangeTopic({.name = "shut", .paused = true, .paused_reason = "maintenance"});
  const auto reply = a_.Claim(TestProcess::Ask({"open", "shut", "never heard of"}));
  EXPECT_EQ(reply.messages.size(), 1u);
  EXPECT_THAT(reply.paused, testing::ElementsAre("shut"));
  EXPECT_TRUE(a_.Claim(TestProcess::Ask({"open"})).paused.empty());

  const auto waiting = a_.Wait(TestProcess::Ask({"shut"}), 1'000);
  a_.Pass(1'000);
  ASSERT_TRUE(waiting->outcome);
  EXPECT_THAT(waiting->outcome->value().paused, testing::ElementsAre("shut"));
}

TEST_P(MessagesContract, FinishedMessagesAreKeptWhereTheTopicSaysSo) {
  a_.ChangeTopic({.name = "t", .retention_ms = 5'000});
  const auto id = a_.Enqueue("t");
  const auto got = a_.ClaimOne("t");
  a_.Report(Verdict::kDone, {{got.id, got.fence, {}, {}, R"({"ok":true})"}});
  const auto view = a_.Find(id).value();
  EXPECT_EQ(view.state, MessageState::kDone);
  EXPECT_EQ(view.output, R"({"ok":true})");
  EXPECT_EQ(view.ended_ms, clock().WallMs());
  EXPECT_EQ(a_.Tidy().rows, 0);
  clock().Advance(5'000);
  EXPECT_EQ(a_.Tidy().rows, 1);
  EXPECT_FALSE(a_.Find(id));
}

TEST_P(MessagesContract, DeadLettersAreListedRedrivenAndDiscarded) {
  std::vector<base::Uuid> ids;
  for (const std::string topic : {"t", "t", "u"}) {
    clock().Advance(1);
    ids.push_back(a_.Enqueue(topic, "kept"));
    a_.Report(Verdict::kDead, a_.ClaimOne(topic), "bad");
  }
  const DeadFilter all{.tenant = "default"};
  EXPECT_EQ(a_.Dead({.filter = all}).letters.size(), 3u);
  EXPECT_EQ(a_.Dead({.filter = {.tenant = "other"}}).letters.size(), 0u);
  EXPECT_EQ(
      a_.Dead({.filter = {.tenant = "default", .reason = DeathReason::kCrashes}}).letters.size(),
      0u);
  const auto page = a_.Dead({.filter = all, .limit = 2});
  EXPECT_TRUE(page.has_more);
  EXPECT_EQ(a_.Dead({.filter = all, .after = page.letters.back().id}).letters.front().id, ids[2]);

  const auto dry = a_.ChangeDead({.filter = {.tenant = "default", .topic = "t"}, .dry_run = true});
  EXPECT_EQ(dry.ids.size(), 2u);
  EXPECT_EQ(a_.Dead({.filter = all}).letters.size(), 3u) << "nothing was changed";
  const auto redriven = a_.ChangeDead({.filter = {.tenant = "default", .topic = "t"}});
  EXPECT_EQ(redriven.ids, (std::vector<base::Uuid>{ids[0], ids[1]}));
  const auto again = a_.Claim("t");
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(again[0].id, ids[0]);
  EXPECT_EQ(again[0].payload, "kept");
  EXPECT_EQ(again[0].fence, 2) << "fences go on";
  EXPECT_EQ(again[0].attempts, 0);
  a_.Report(Verdict::kDead, again[0], "still bad");
  EXPECT_EQ(a_.Find(ids[0])->error, "still bad");

  const auto discarded = a_.ChangeDead({.kind = DeadChangeRequest::Kind::kDiscard,
                                        .filter = {.tenant = "default", .ids = {ids[0], ids[2]}}});
  EXPECT_EQ(discarded.ids.size(), 2u);
  EXPECT_TRUE(a_.Dead({.filter = all}).letters.empty());
  a_.Ack(again[1]);
  clock().Advance(90LL * 24 * 3'600'000);
  EXPECT_GE(a_.Tidy().rows, 1) << "the record of the redriven one";
}

TEST_P(MessagesContract, ARedriveWithARateSpreadsThemOut) {
  for (int i = 0; i < 4; ++i) {
    a_.Enqueue("t");
    a_.Report(Verdict::kDead, a_.ClaimOne("t"), "bad");
  }
  a_.ChangeDead({.filter = {.tenant = "default"}, .rate = 2});
  EXPECT_EQ(a_.Claim("t").size(), 1u);
  clock().Advance(500);
  a_.Promote();
  EXPECT_EQ(a_.Claim("t").size(), 1u);
  clock().Advance(1'000);
  a_.Promote();
  EXPECT_EQ(a_.Claim("t").size(), 2u);
}

TEST_P(MessagesContract, ASuspectThatIsRedrivenStaysASuspect) {
  a_.ChangeTopic({.name = "t", .max_crashes = 1});
  a_.Enqueue("t", "poison");
  a_.ClaimOne("t");
  clock().Advance(kDefaultLeaseMs);
  EXPECT_EQ(a_.Reap().dead, 1);
  a_.ChangeTopic({.name = "t", .max_crashes = -1});
  a_.ChangeDead({.filter = {.tenant = "default"}});
  clock().Advance(1);
  a_.Enqueue("t", "good");
  EXPECT_EQ(Payloads(a_.Claim("t")), std::vector<std::string>{"poison"});
  EXPECT_EQ(Payloads(a_.Claim("t")), std::vector<std::string>{"good"});
}

TEST_P(MessagesContract, L2_AfterANewIncarnationFencesStartAboveAllThatWereForgotten) {
  a_.Enqueue("t");
  const auto before = a_.ClaimOne("t");
  a_.Report(Verdict::kUntouched, before);
  db::NewIncarnation(a_.store().engine());
  EXPECT_EQ(a_.ClaimOne("t").fence, 2 * (std::int64_t{1} << 40) + 1);
  EXPECT_EQ(a_.Ack(before), ReportOutcome::kStale);
}

TEST_P(MessagesContract, WhyTellsWhatAMessageWaitsFor) {
  const auto why = [&](const base::Uuid& id) { return Why(a_.Find(id).value()); };
  const auto lonely = a_.Enqueue("lonely");
  EXPECT_THAT(why(lonely), testing::HasSubstr("nobody has ever asked"));
  const auto id = a_.Enqueue("t");
  const auto second = a_.Enqueue("t");
  a_.Claim("t", 1);
  a_.Drive();
  EXPECT_THAT(why(id), testing::HasSubstr("somebody has it since"));
  EXPECT_THAT(why(second), testing::HasSubstr("next in its line"));
  NewMessage timer = TestProcess::Of("t");
  timer.delay_ms = 60'000;
  EXPECT_THAT(why(a_.Enqueue(timer)), testing::HasSubstr("due at"));
  clock().Advance(kUnhandledMs + 1);
  EXPECT_THAT(why(second), testing::HasSubstr("nobody has asked for messages of t since"));
}

TEST_P(MessagesContract, TopicsTellHowFullTheyAre) {
  for (int i = 0; i < 3; ++i) a_.Enqueue("t");
  a_.ClaimOne("t");
  a_.Enqueue("u");
  a_.Report(Verdict::kDead, a_.ClaimOne("u"), "bad");
  clock().Advance(700);
  const auto topics = a_.Topics().topics;
  ASSERT_EQ(topics.size(), 2u);
  EXPECT_EQ(topics[0].name, "t");
  EXPECT_EQ(topics[0].ready, 2);
  EXPECT_EQ(topics[0].claimed, 1);
  EXPECT_EQ(topics[0].now_ms - topics[0].oldest_ms, 700);
  EXPECT_EQ(topics[1].dead, 1);
  EXPECT_EQ(a_.Topics("u").topics.size(), 1u);
  EXPECT_TRUE(a_.Topics("", "other").topics.empty());
  const auto counts = a_.Count();
  ASSERT_EQ(counts.topics.size(), 1u);
  EXPECT_EQ(counts.topics[0].ready, 2);
  EXPECT_EQ(counts.topics[0].oldest_age_ms, 700);
  EXPECT_EQ(counts.dead, 1);
}

TEST_P(MessagesContract, ABatchOfAThousandGoesThroughInOrder) {
  std::vector<NewMessage> many;
  for (int i = 0; i < 1'000; ++i) many.push_back(TestProcess::Of("t", std::to_string(i)));
  a_.EnqueueAll(many);
  std::vector<messages::Report> reports;
  int next = 0;
  for (int claim = 0; claim < 2; ++claim)
    for (const ClaimedMessage& each : a_.Claim("t", 500)) {
      EXPECT_EQ(each.payload, std::to_string(next++));
      reports.push_back({each.id, each.fence, {}, {}, {}});
    }
  EXPECT_EQ(next, 1'000);
  const auto outcomes = a_.Report(Verdict::kDone, reports);
  EXPECT_EQ(std::count(outcomes.begin(), outcomes.end(), ReportOutcome::kDone), 1'000);
}

// Waiting

TEST_P(MessagesContract, AWaitingClaimIsAnsweredWhenSomethingComes) {
  const auto waiting = a_.Wait(TestProcess::Ask({"t", "u"}), 5'000);
  EXPECT_FALSE(waiting->outcome);
  const auto id = a_.Enqueue("u");
  a_.Drive();
  ASSERT_TRUE(waiting->outcome);
  EXPECT_EQ(waiting->outcome->value().messages.front().id, id);
}

TEST_P(MessagesContract, AWaitingClaimIsNotSentAwayWhenEverybodyIsWoken) {
  const auto waiting = a_.Wait(TestProcess::Ask({"t"}), 3'000);
  a_.wake().SignalEverybody();  // the connection for notifications was made, perhaps again
  a_.Drive();
  EXPECT_FALSE(waiting->outcome);
  a_.Pass(2'999);
  EXPECT_FALSE(waiting->outcome);
  a_.Pass(1);
  EXPECT_TRUE(waiting->outcome);
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

TEST_P(MessagesContract, StoppingAnswersWhoWaits) {
  const auto waiting = a_.Wait(TestProcess::Ask({"t"}), 60'000);
  a_.messages().Stop();
  ASSERT_TRUE(waiting->outcome);
  EXPECT_EQ(waiting->outcome->fault().kind(), base::FaultKind::kStopping);
}

TEST_P(MessagesContract, TheClockworkFiresTimersOnTimeAndTakesBackWhatWasLost) {
  a_.messages().StartClockwork();
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

// Several processes on one store

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
