// Messages in somebody's hands, on every store: retries, budgets, extensions, workers and their
// heartbeat (M1, M2).

#include <set>

#include <gmock/gmock.h>

#include "messages/contract_fixture.hpp"

namespace tenure::messages {
namespace {

using Outcomes = std::vector<SettleOutcome>;

ClaimRequest AskAs(std::int64_t worker) {
  ClaimRequest request = TestProcess::Ask({"t"});
  request.worker = worker;
  return request;
}

TEST_P(MessagesContract, UntilItIsTakenBackALateAcknowledgementStillCounts) {
  a_.Enqueue("t");
  const auto got = a_.ClaimOne("t");
  clock().Advance(kDefaultLeaseMs * 10);
  EXPECT_EQ(a_.Ack(got), SettleOutcome::kDone) << "nobody else has it";
}

TEST_P(MessagesContract, ARetryComesAfterTheBackOffAndCountsAnAttempt) {
  const auto id = a_.Enqueue("t");
  EXPECT_EQ(a_.Settle(Disposition::kRetry, a_.ClaimOne("t"), "no luck"), SettleOutcome::kDone);
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
  a_.Settle(Disposition::kRetry, a_.ClaimOne("t"), "later", 5'000);
  EXPECT_EQ(a_.Find(id)->due_ms, clock().WallMs() + 5'000);
  clock().Advance(5'000);
  a_.Promote();
  a_.Settle(Disposition::kRetry, a_.ClaimOne("t"), "at once", 0);
  a_.Settle(Disposition::kDead, a_.ClaimOne("t"), "broken");
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
    EXPECT_EQ(a_.Settle(Disposition::kRetry, a_.ClaimOne("t"), std::to_string(attempt), 0),
              SettleOutcome::kDone);
  const auto view = a_.Find(id).value();
  EXPECT_EQ(view.state, MessageState::kDead);
  EXPECT_EQ(view.reason, DeathReason::kAttempts);
  EXPECT_EQ(view.error, "3");
  a_.ChangeTopic({.name = "t", .max_attempts = 0});
  const auto patient = a_.Enqueue("t");
  for (int attempt = 1; attempt <= 50; ++attempt)
    a_.Settle(Disposition::kRetry, a_.ClaimOne("t"), "again", 0);
  EXPECT_EQ(a_.StateOf(patient), MessageState::kReady) << "without limit";
}

TEST_P(MessagesContract, SpentCrashesEndInTheDeadLettersAndSuspectsComeAlone) {
  const auto poison = a_.Enqueue("t", "poison");
  for (int i = 0; i < 4; ++i) a_.Enqueue("t", "good");
  const auto claimed = a_.Claim("t");
  ASSERT_EQ(claimed.size(), 5u);
  for (std::size_t i = 1; i < claimed.size(); ++i) a_.Settle(Disposition::kUntouched, claimed[i]);
  for (int crash = 1; crash <= 2; ++crash) {
    clock().Advance(kDefaultLeaseMs);
    EXPECT_EQ(a_.Reap().crashed, 1);
    clock().Advance(1);
    a_.Enqueue("t", "behind it");
    // Those that were ready before it come first, without it.
    if (crash == 1) {
      for (const ClaimedMessage& each : a_.Claim("t", 4))
        EXPECT_EQ(a_.Ack(each), SettleOutcome::kDone);
    }
    const auto alone = a_.Claim("t");
    ASSERT_EQ(alone.size(), 1u) << "a suspect takes no neighbour along";
    EXPECT_EQ(alone.front().id, poison);
    EXPECT_EQ(alone.front().crashes, crash);
    EXPECT_EQ(a_.Ack(a_.ClaimOne("t")), SettleOutcome::kDone);
  }
  clock().Advance(kDefaultLeaseMs);
  const auto reaped = a_.Reap();
  EXPECT_EQ(reaped.dead, 1);
  EXPECT_EQ(a_.Find(poison)->reason, DeathReason::kCrashes);
  EXPECT_EQ(a_.Dead({.filter = {.tenant = "default"}}).rows.size(), 1u);
}

TEST_P(MessagesContract, AnExtensionHoldsItLongerAndNeverShortens) {
  const auto id = a_.Enqueue("t");
  const auto got = a_.ClaimOne("t");
  clock().Advance(20'000);
  EXPECT_EQ(a_.Settle(Disposition::kExtend, {{got.id, got.fence, {}, {}, {}}}, "default", 1'000),
            Outcomes{SettleOutcome::kDone});
  EXPECT_EQ(a_.Find(id)->lease_until_ms, got.lease_until_ms);
  EXPECT_EQ(a_.Settle(Disposition::kExtend, got), SettleOutcome::kDone);
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

TEST_P(MessagesContract, ManyRepetitionsOfOneClaimAreAnsweredAFewAtATime) {
  a_.Enqueue("t");
  std::vector<ClaimReply> replies;
  ClaimRequest request = TestProcess::Ask({"t"});
  request.claim_id = base::Uuid::V7(1);
  for (int i = 0; i < 40; ++i)
    a_.messages().Claim(request, nullptr, [&](db::Result<ClaimReply> result) {
      replies.push_back(std::move(result.value()));
    });
  // Each answer may weigh 8 MiB.
  std::size_t most = 0;
  for (std::size_t before = 0; replies.size() < 40; before = replies.size()) {
    bool ran = false;
    for (db::Lane* lane : a_.store().AllLanes()) ran = lane->RunOnce() || ran;
    ASSERT_TRUE(ran);
    most = std::max(most, replies.size() - before);
  }
  EXPECT_LE(most, 5u);
  for (const ClaimReply& reply : replies) {
    ASSERT_EQ(reply.messages.size(), 1u);
    EXPECT_EQ(reply.messages.front().fence, replies.front().messages.front().fence);
  }
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
  ClaimRequest request = AskAs(worker);
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
  EXPECT_EQ(a_.Ack(claim.messages.front()), SettleOutcome::kStale);
  EXPECT_EQ(a_.Find(id)->crashes, 1);
}

TEST_P(MessagesContract, AClockThatIsSetBackDoesNotKeepADeadWorkerAlive) {
  const std::int64_t worker = NewWorker();
  a_.Beat(HeartbeatRequest::Kind::kJoin, worker);
  const auto id = a_.Enqueue("t");
  a_.Claim(AskAs(worker));
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
  ClaimRequest request = AskAs(worker);
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
  a_.Claim(AskAs(worker));
  a_.Beat(HeartbeatRequest::Kind::kLeave, worker);
  clock().Advance(kDefaultLeaseMs);
  EXPECT_EQ(a_.Reap(false).crashed, 0) << "leases are not taken back yet";
  EXPECT_EQ(a_.StateOf(id), MessageState::kClaimed);
  EXPECT_EQ(a_.Reap().crashed, 1);
}

}  // namespace
}  // namespace tenure::messages
