// The rule book: every row of the table of states in README.md.

#include "queues/session.hpp"

#include <gtest/gtest.h>

#include "queues/line.hpp"

namespace tenure::queues {
namespace {

constexpr std::int64_t kNow = 1'000'000;
constexpr std::int64_t kLease = 10'000;

QueueRow QueueOf(const QueueSettings& settings) {
  return {.id = 7, .tenant = "default", .name = "q", .settings = settings};
}
const QueueRow kQueue = QueueOf({});

/// `depth` messages from 1 on, nobody's.
SessionRow Ready(std::int64_t depth) {
  SessionRow row;
  row.id = SessionIdOf(7, 1, "k");
  row.queue = 7;
  row.head = 1;
  row.next = 1 + depth;
  row.state = depth > 0 ? State::kReady : State::kIdle;
  row.position = depth > 0 ? 5 : 0;
  return row;
}
/// Held by "c" under fence 1 since kNow, all of it handed out.
SessionRow Held(std::int64_t depth, const QueueRow& queue = kQueue) {
  SessionRow row = Ready(depth);
  row.state = State::kReady;
  Session session(row, queue, kNow);
  session.Accept({"c", kLease, {}}, {});
  session.HandOut(depth);
  return session.row();
}
Failure FailureOf(std::int64_t fence, std::int64_t sequence) {
  return {fence, sequence, false, "it broke at 0x12ab: 17", "", {}};
}

TEST(QueueSession, EnqueueMakesAnIdleSessionReadyBehindOthersAndTellsTheQueue) {
  Session session(Ready(0), kQueue, kNow);
  EXPECT_EQ(session.Put(2), 1);
  EXPECT_EQ(session.row().state, State::kReady);
  EXPECT_EQ(session.row().position, kNewPlace);
  EXPECT_EQ(session.row().next, 3);
  EXPECT_TRUE(session.tells_queue());
}

TEST(QueueSession, EnqueueToAReadyHeldOrParkedSessionMovesNextOnly) {
  SessionRow parked = Ready(1);
  parked.state = State::kParked;
  parked.position = 0;
  for (const SessionRow& before : {Ready(1), Held(1), parked}) {
    Session session(before, kQueue, kNow);
    session.Put(3);
    SessionRow expected = before;
    expected.next += 3;
    expected.activity_ms = session.row().activity_ms;
    EXPECT_EQ(session.row().next, expected.next);
    EXPECT_EQ(session.row().state, expected.state);
    EXPECT_EQ(session.row().position, expected.position);
    EXPECT_EQ(session.row().due_ms, expected.due_ms);
  }
}

TEST(QueueSession, WhatPeopleSeeOfItFollowsTheLatestMessage) {
  Session session(Ready(1), kQueue, kNow);
  session.Describe("", "");
  EXPECT_FALSE(session.changed());
  session.Describe("acme/new/issue/7", "issue");
  EXPECT_EQ(session.row().name, "acme/new/issue/7");
  EXPECT_EQ(session.row().entity, "issue");
}

TEST(QueueSession, EnqueueToADrainedHoldTellsItsHolderAndTheQueue) {
  SessionRow row = Held(1);
  row.head = 2;  // drained, and lingering
  Session session(row, kQueue, kNow);
  session.Put(1);
  EXPECT_EQ(session.row().state, State::kHeld);
  EXPECT_TRUE(session.tells_session());
  EXPECT_TRUE(session.tells_queue());
}

TEST(QueueSession, ANewOneAndOneThatWasTidiedAwayStartAboveTheFloors) {
  QueueRow queue = kQueue;
  queue.floor_fence = 41;
  queue.floor_sequence = 9;
  SessionRow row;
  row.queue = 7;
  Session session(row, queue, kNow);
  EXPECT_EQ(session.Put(1), 9);
  session.Accept({"c", kLease, {}}, {});
  EXPECT_EQ(session.row().fence, 42);
}

TEST(QueueSession, Q1_AcceptRaisesTheFenceAndHandsOutNothingYet) {
  SessionRow row = Ready(3);
  row.fence = 8;
  Session session(row, kQueue, kNow);
  ASSERT_TRUE(session.IsReadyFor("c"));
  session.Accept({"c", kLease, {}}, {});
  EXPECT_EQ(session.row().fence, 9);
  EXPECT_EQ(session.row().state, State::kHeld);
  EXPECT_EQ(session.row().lease_until_ms, kNow + kLease);
  EXPECT_EQ(session.row().handed, 0);
  EXPECT_EQ(session.row().position, 0);
  EXPECT_EQ(session.Complete(9, 1), Completed::kOutOfOrder) << "it was not handed out";
}

TEST(QueueSession, FencesOfALaterIncarnationAreAboveAllThatMayBeForgotten) {
  SessionRow row = Ready(1);
  row.fence = 8;
  row.lease_ms = 90'000;
  Session session(row, kQueue, kNow);
  const Limits limits{.incarnation = 2, .frozen_ms = kNow - 1'000, .freeze_ms = 60'000};
  EXPECT_EQ(session.FrozenUntilMs(limits), kNow - 1'000 + 90'000) << "the lease of its last hold";
  Session later(row, kQueue, kNow + 89'000);
  EXPECT_EQ(later.FrozenUntilMs(limits), 0);
  later.Accept({"c", kLease, {}}, limits);
  EXPECT_EQ(later.row().fence, (std::int64_t{2} << 40) + 1);
  EXPECT_EQ(later.FrozenUntilMs(limits), 0);
}

TEST(QueueSession, ALeaseIsNoLongerThanTheQueueAllows) {
  Session session(Ready(1), kQueue, kNow);
  session.Accept({"c", 99'999'999, {}}, {});
  EXPECT_EQ(session.row().lease_until_ms, kNow + kQueue.settings.session_timeout_ms);
}

TEST(QueueSession, CompleteIsCumulativeAndKeepsTheHold) {
  Session session(Held(5), kQueue, kNow + 100);
  EXPECT_EQ(session.Complete(1, 3), Completed::kDone);
  EXPECT_EQ(session.row().head, 4);
  EXPECT_EQ(session.GoOn(1, true, false), Hold::kHeld);
  EXPECT_EQ(session.row().lease_until_ms, kNow + 100 + kLease) << "the lease begins anew";
  EXPECT_EQ(session.Complete(1, 3), Completed::kGone);
  EXPECT_EQ(session.Complete(1, 6), Completed::kOutOfOrder);
  EXPECT_EQ(session.Complete(2, 4), Completed::kStale) << "a fence of the future";
}

TEST(QueueSession, CompleteOfTheLastMakesItIdleOrLetsItLinger) {
  Session drained(Held(1), kQueue, kNow);
  drained.Complete(1, 1);
  EXPECT_EQ(drained.GoOn(1, true, false), Hold::kDrained);
  EXPECT_EQ(drained.row().state, State::kIdle);
  EXPECT_TRUE(drained.tells_queue()) << "its place under a cap is free";

  Session lingers(Held(1), kQueue, kNow);
  lingers.Complete(1, 1);
  EXPECT_EQ(lingers.GoOn(1, true, true), Hold::kHeld);
  EXPECT_EQ(lingers.row().state, State::kHeld);

  const QueueRow capped = QueueOf({.max_concurrent_sessions = 5});
  Session not_under_a_cap(Held(1, capped), capped, kNow);
  not_under_a_cap.Complete(1, 1);
  EXPECT_EQ(not_under_a_cap.GoOn(1, true, true), Hold::kDrained);
}

TEST(QueueSession, CompleteWithoutKeepingLeavesTheRestReadyBehindOthers) {
  Session session(Held(3), kQueue, kNow);
  session.Complete(1, 1);
  EXPECT_EQ(session.GoOn(1, false, false), Hold::kEnded);
  EXPECT_EQ(session.row().state, State::kReady);
  EXPECT_EQ(session.row().position, kNewPlace);
}

TEST(QueueSession, ATurnEndsByItsMessagesAndByItsTime) {
  const QueueRow short_turns = QueueOf({.max_duration_ms = 60'000, .max_messages = 2});
  Session by_count(Held(5, short_turns), short_turns, kNow);
  EXPECT_EQ(by_count.SliceLimit(10), 2);
  by_count.Complete(1, 2);
  EXPECT_EQ(by_count.GoOn(1, true, false), Hold::kTurn);
  EXPECT_EQ(by_count.row().state, State::kReady);

  Session by_time(Held(5, short_turns), short_turns, kNow + 60'000);
  by_time.Complete(1, 1);
  EXPECT_EQ(by_time.GoOn(1, true, false), Hold::kMaxDuration);
}

TEST(QueueSession, Q1_ACompleteAfterTheEndOfTheHoldCountsAndNeverHoldsAgain) {
  Session released(Held(3), kQueue, kNow);
  ASSERT_TRUE(released.Release(1));
  EXPECT_EQ(released.Complete(1, 2), Completed::kDone);
  EXPECT_EQ(released.GoOn(1, true, true), Hold::kEnded);
  EXPECT_EQ(released.row().state, State::kReady);
  EXPECT_EQ(released.row().head, 3);

  Session parked(Held(2), kQueue, kNow);
  parked.Fail({1, 1, true, "no", "", {}});
  ASSERT_EQ(parked.row().state, State::kParked);
  EXPECT_EQ(parked.Complete(1, 1), Completed::kDone) << "a parked head is done after all";
  EXPECT_EQ(parked.row().state, State::kReady);
  EXPECT_EQ(parked.row().parked_ms, 0);
}

TEST(QueueSession, ALateCompleteKeepsThePlaceOfAReadySession) {
  Session session(Held(3), kQueue, kNow);
  session.Release(1);
  session.PlaceAt(12);
  session.Complete(1, 1);
  EXPECT_EQ(session.row().position, 12);
}

TEST(QueueSession, AbandonBacksOffAndVoidsTheRestOfTheSlice) {
  Session session(Held(3), kQueue, kNow);
  const Failed failed = session.Fail(FailureOf(1, 1));
  EXPECT_EQ(failed.outcome, Completed::kDone);
  EXPECT_EQ(failed.then, Then::kBackoff);
  EXPECT_GE(failed.until_ms, kNow + 500);
  EXPECT_LE(failed.until_ms, kNow + 1'000);
  EXPECT_EQ(session.row().state, State::kReady);
  EXPECT_EQ(session.row().due_ms, failed.until_ms);
  EXPECT_EQ(session.row().position, 0);
  EXPECT_EQ(session.row().attempts, 1);
  EXPECT_EQ(session.row().error_class, "it broke at #: #");
  EXPECT_EQ(session.Complete(1, 2), Completed::kOutOfOrder) << "the rest is void";
  EXPECT_FALSE(session.IsReadyFor("c"));
  Session due(session.row(), kQueue, failed.until_ms);
  due.ComeDue();
  EXPECT_TRUE(due.IsReadyFor("c"));
  EXPECT_EQ(due.row().position, kNewPlace);
  EXPECT_EQ(due.SliceLimit(10), 1) << "what failed takes nobody with it";
}

TEST(QueueSession, AbandonIsOfTheHeadAndWhileTheHoldLasts) {
  Session session(Held(3), kQueue, kNow);
  EXPECT_EQ(session.Fail(FailureOf(1, 2)).outcome, Completed::kOutOfOrder);
  session.Complete(1, 1);
  EXPECT_EQ(session.Fail(FailureOf(1, 1)).outcome, Completed::kGone);
  EXPECT_EQ(session.Fail(FailureOf(9, 2)).outcome, Completed::kStale);
  session.Release(1);
  EXPECT_EQ(session.Fail(FailureOf(1, 2)).outcome, Completed::kStale);
}

TEST(QueueSession, RetryAfterIsTheBackOff) {
  Session session(Held(1), kQueue, kNow);
  Failure failure = FailureOf(1, 1);
  failure.retry_after_ms = 0;
  EXPECT_EQ(session.Fail(failure).until_ms, kNow);
  EXPECT_EQ(session.row().position, kNewPlace) << "at once";
}

TEST(QueueSession, AtTheBudgetItGoesByPolicy) {
  for (const DeadLetterPolicy policy :
       {DeadLetterPolicy::kPark, DeadLetterPolicy::kSkip, DeadLetterPolicy::kStop}) {
    const QueueRow queue = QueueOf({.max_delivery_count = 1, .on_dead_letter = policy});
    Session session(Held(2, queue), queue, kNow);
    const Failed failed = session.Fail(FailureOf(1, 1));
    if (policy == DeadLetterPolicy::kSkip) {
      EXPECT_EQ(failed.then, Then::kSkipped);
      ASSERT_EQ(session.deaths().size(), 1u);
      EXPECT_EQ(session.deaths().front().sequence, 1);
      EXPECT_EQ(session.deaths().front().reason, DeathReason::kMaxDeliveryCount);
      EXPECT_EQ(session.row().head, 2);
      EXPECT_EQ(session.row().attempts, 0);
      EXPECT_EQ(session.row().state, State::kReady);
    } else {
      EXPECT_EQ(failed.then, policy == DeadLetterPolicy::kPark ? Then::kParked : Then::kStopped);
      EXPECT_EQ(session.row().state, State::kParked);
      EXPECT_EQ(session.row().head, 1) << "it stays in its place";
      EXPECT_EQ(session.row().reason, DeathReason::kMaxDeliveryCount);
      EXPECT_TRUE(session.deaths().empty());
    }
    EXPECT_EQ(session.pauses_queue(), policy == DeadLetterPolicy::kStop);
    EXPECT_TRUE(session.tells_queue());
  }
}

TEST(QueueSession, ReleaseCountsNothingAndTransferReserves) {
  Session session(Held(2), kQueue, kNow);
  EXPECT_FALSE(session.Release(2));
  ASSERT_TRUE(session.Transfer(1, "d", 30'000));
  EXPECT_EQ(session.row().attempts, 0);
  EXPECT_FALSE(session.IsReadyFor("c"));
  EXPECT_TRUE(session.IsReadyFor("d"));
  EXPECT_EQ(session.row().due_ms, kNow + 30'000);
  EXPECT_FALSE(session.Release(1)) << "its hold is over";
  Session later(session.row(), kQueue, kNow + 30'000);
  later.ComeDue();
  EXPECT_TRUE(later.IsReadyFor("c"));
  EXPECT_EQ(later.row().position, kNewPlace);
}

TEST(QueueSession, AnExpiredHoldLivesUntilSomebodyNeedsItAndThenCountsAnAttempt) {
  Session still(Held(2), kQueue, kNow + kLease + 5);
  EXPECT_EQ(still.Renew(1, 0), Lost::kHeld);
  Session taken(Held(2), kQueue, kNow + kLease);
  taken.ComeDue();
  EXPECT_EQ(taken.row().state, State::kReady);
  EXPECT_EQ(taken.row().attempts, 1);
  EXPECT_EQ(taken.row().not_before_ms, 0) << "no back-off";
  EXPECT_EQ(taken.Renew(1, 0), Lost::kExpired);
  const QueueRow strict = QueueOf({.max_delivery_count = 1});
  Session dead(Held(2, strict), strict, kNow + kLease);
  dead.ComeDue();
  EXPECT_EQ(dead.row().state, State::kParked);
}

TEST(QueueSession, AHoldThatHandedOutNothingNewExpiresWithoutAnAttempt) {
  SessionRow row = Held(1);
  row.head = 2;  // lingers
  Session session(row, kQueue, kNow + kLease);
  session.ComeDue();
  EXPECT_EQ(session.row().state, State::kIdle);
  EXPECT_EQ(session.row().attempts, 0);
}

TEST(QueueSession, AReportRestartsTheLeaseAndWhoeverLooksThenIsToldLater) {
  Session session(Held(2), kQueue, kNow + 5'000);
  session.Renew(1, 0);
  EXPECT_EQ(session.row().due_ms, kNow + kLease) << "no index is changed";
  Session looked(session.row(), kQueue, kNow + kLease);
  looked.ComeDue();
  EXPECT_EQ(looked.row().state, State::kHeld);
  EXPECT_EQ(looked.row().due_ms, kNow + 5'000 + kLease);
}

TEST(QueueSession, RenewSaysWhyAHoldIsLost) {
  Session broken(Held(2), kQueue, kNow);
  ASSERT_TRUE(broken.Break());
  EXPECT_EQ(broken.row().fence, 2);
  EXPECT_EQ(broken.Renew(1, 0), Lost::kBroken);
  EXPECT_EQ(broken.Complete(1, 1), Completed::kStale);
  EXPECT_EQ(broken.Complete(2, 1), Completed::kOutOfOrder) << "nobody has that fence";
  broken.Accept({"d", kLease, {}}, {});
  EXPECT_EQ(broken.Renew(1, 0), Lost::kTakenOver);
  Session released(Held(2), kQueue, kNow);
  released.Release(1);
  EXPECT_EQ(released.Renew(1, 0), Lost::kReleased);
  const QueueRow queue = QueueOf({.max_duration_ms = 60'000});
  Session too_long(Held(2, queue), queue, kNow + 60'000);
  EXPECT_EQ(too_long.Renew(1, 0), Lost::kTooLong);
}

TEST(QueueSession, ResumeGoesOnAtTheVeryMessageAndLiftsTheTimeToLive) {
  Session session(Held(3), kQueue, kNow);
  EXPECT_FALSE(session.Resume());
  session.Fail({1, 1, true, "no", "mine", {}});
  EXPECT_EQ(session.row().error_class, "mine");
  EXPECT_EQ(session.row().reason, DeathReason::kRejected);
  ASSERT_TRUE(session.Resume());
  EXPECT_EQ(session.row().state, State::kReady);
  EXPECT_EQ(session.row().head, 1);
  EXPECT_EQ(session.row().attempts, 0);
  EXPECT_FALSE(session.ExpireHead(kNow)) << "else each of them would park it again";
}

TEST(QueueSession, SkipIsOfTheHeadAndNotOfAHeldSession) {
  Session held(Held(3), kQueue, kNow);
  EXPECT_FALSE(held.Skip(1, "why"));
  Session session(Ready(3), kQueue, kNow);
  EXPECT_FALSE(session.Skip(2, "why"));
  ASSERT_TRUE(session.Skip(1, "why"));
  EXPECT_EQ(session.row().head, 2);
  EXPECT_EQ(session.deaths().front().reason, DeathReason::kSkipped);
  EXPECT_EQ(session.row().position, 5) << "in its place";
}

TEST(QueueSession, DiscardEmptiesWhatNobodyHolds) {
  Session held(Held(3), kQueue, kNow);
  EXPECT_FALSE(held.Discard());
  Session session(Ready(3), kQueue, kNow);
  ASSERT_TRUE(session.Discard());
  EXPECT_EQ(session.row().state, State::kIdle);
  EXPECT_EQ(session.row().head, session.row().next);
  EXPECT_EQ(session.row().position, 0);
}

TEST(QueueSession, AnExpiredHeadGoesByPolicyAndNothingIsSkippedInSilence) {
  Session parks(Ready(2), kQueue, kNow);
  EXPECT_FALSE(parks.ExpireHead(0));
  EXPECT_FALSE(parks.ExpireHead(kNow + 1));
  EXPECT_TRUE(parks.ExpireHead(kNow));
  EXPECT_EQ(parks.row().state, State::kParked);
  EXPECT_EQ(parks.row().reason, DeathReason::kTtl);
  const QueueRow queue = QueueOf({.on_dead_letter = DeadLetterPolicy::kSkip});
  Session skips(Ready(2), queue, kNow);
  EXPECT_TRUE(skips.ExpireHead(kNow));
  EXPECT_EQ(skips.row().head, 2);
  EXPECT_EQ(skips.deaths().front().reason, DeathReason::kTtl);
  EXPECT_TRUE(skips.IsReadyFor("c"));
}

TEST(QueueSession, Q1_AHeadThatDiedOfItsAgeIsNotCompletedByWhoNeverHadIt) {
  SessionRow row = Held(2);
  Session completes(row, kQueue, kNow);
  completes.Complete(1, 2);
  completes.Put(1);
  completes.Release(1);
  Session expires(completes.row(), kQueue, kNow);
  ASSERT_TRUE(expires.ExpireHead(kNow));
  EXPECT_EQ(expires.row().state, State::kParked);
  EXPECT_EQ(expires.Complete(1, 3), Completed::kOutOfOrder) << "it was never handed out";
  EXPECT_EQ(expires.row().state, State::kParked);
}

TEST(QueueSession, AMarkCompletesByItsFenceAndKeepsTheHold) {
  Session session(Held(3), kQueue, kNow);
  session.Apply({.fence = 2, .sequence = 1});
  EXPECT_EQ(session.row().head, 1);
  session.Apply({.fence = 1, .sequence = 2});
  EXPECT_EQ(session.row().head, 3);
  EXPECT_EQ(session.row().state, State::kHeld);
  session.Apply({.fence = 1, .sequence = 2});
  EXPECT_EQ(session.row().head, 3);
}

TEST(QueueSession, IdsAreOfVersionEightAndTellGenerationsApart) {
  const base::Uuid id = SessionIdOf(7, 1, "k");
  EXPECT_EQ(id.ToString()[14], '8');
  EXPECT_EQ(id, SessionIdOf(7, 1, "k"));
  EXPECT_NE(id, SessionIdOf(7, 2, "k"));
  EXPECT_NE(SessionIdOf(7, 11, "k"), SessionIdOf(71, 1, "k"));
}

TEST(QueueSession, ErrorsThatDifferInNumbersAndIdsAreOfOneClass) {
  EXPECT_EQ(ErrorClassOf("HTTP 503 from host-7 after 1.5 s\nat line 9"),
            "HTTP # from host-# after #.# s");
  EXPECT_EQ(ErrorClassOf("no user 0190a6b2-7c1e-7000-8000-00000000002a"), "no user #");
  EXPECT_EQ(ErrorClassOf("deadbeef is a word"), "deadbeef is a word");
  EXPECT_EQ(ErrorClassOf(std::string(500, 'x')).size(), 200u);
}

TEST(QueueLine, OneShareWithThousandsDoesNotKeepOthersWaiting) {
  Line line;
  const Line::Share big{1, 1, "big"}, small{1, 1, "small"};
  line.Know(big, 0, 0);
  for (int i = 1; i <= 1'000; ++i) EXPECT_EQ(line.NextPlace(big), i);
  line.Know(small, 1, 0);
  EXPECT_EQ(line.NextPlace(small), 2) << "behind the first of all, not behind the thousand";
  EXPECT_EQ(line.NextPlace(small), 3);
}

}  // namespace
}  // namespace tenure::queues
