// Accepting: caps, turns, shares, times, generations and waiting (Q1, Q3, Q4) on every store.

#include <map>

#include "queues/batch.hpp"
#include "queues/contract_fixture.hpp"

namespace tenure::queues {
namespace {

using store::EngineKind;
using testing::ElementsAre;

class AcceptContract : public QueuesContract {
 protected:
  std::vector<std::string> Keys(std::int64_t sessions, const std::string& consumer = "c") {
    std::vector<std::string> keys;
    for (const HeldSession& each : a_.Accept(a_.Ask(sessions, consumer)).sessions)
      keys.push_back(each.key);
    return keys;
  }
  void SendShare(const std::string& key, const std::string& share) {
    NewMessage message = a_.Of(key);
    message.share = share;
    a_.Send({message});
  }
};
INSTANTIATE_TEST_SUITE_P(Stores, AcceptContract,
                         testing::Values(EngineKind::kSqlite, EngineKind::kSharedSqlite,
                                         EngineKind::kPostgres, EngineKind::kPooledPostgres),
                         store::EngineName);

TEST_P(AcceptContract, NobodyKnowsSuchAQueue) {
  EXPECT_EQ(a_.Accept(a_.Ask()).kind, AcceptReply::Kind::kNoQueue);
  a_.Declare({.scope = Scope::kNone});
  EXPECT_EQ(a_.Accept(a_.Ask()).kind, AcceptReply::Kind::kUnordered);
}

TEST_P(AcceptContract, SessionsTakeTurns) {
  a_.Declare({.max_messages = 1});
  for (const char* const key : {"a", "b"})
    for (int i = 0; i < 2; ++i) a_.Send(key);
  std::string order;
  for (int i = 0; i < 4; ++i) {
    const HeldSession held = a_.AcceptOne();
    order += held.key;
    a_.Complete(held, held.messages.front().sequence);
  }
  EXPECT_EQ(order, "abab") << "whose turn is over goes behind the others";
}

/// Ten shares that have ready sessions: of any hundred that are handed out each gets at least five while it has them.
TEST_P(AcceptContract, OneShareWithTenThousandSessionsDoesNotKeepNineOthersWaiting) {
  a_.Declare();
  constexpr int kAtOnce = 500;
  // Once for each way to store them.
  const bool is_large = GetParam() == EngineKind::kSqlite || GetParam() == EngineKind::kPostgres;
  const int all = is_large ? 10'000 : 1'000;
  for (int first = 0; first < all; first += kAtOnce) {
    std::vector<NewMessage> many;
    for (int i = first; i < first + kAtOnce; ++i) {
      many.push_back(a_.Of("big" + std::to_string(i)));
      many.back().share = "big";
    }
    a_.Send(many);
  }
  std::vector<NewMessage> others;
  for (char share = '1'; share <= '9'; ++share)
    for (int i = 0; i < 10; ++i) {
      others.push_back(a_.Of(share + std::to_string(i)));
      others.back().share = share;
    }
  a_.Send(others);
  std::map<char, int> served;
  const auto hand_out = [&](int count) {
    for (int i = 0; i < count; ++i) ++served[a_.AcceptOne().key.front()];
  };
  hand_out(100);
  for (char share = '1'; share <= '9'; ++share) EXPECT_GE(served[share], 5) << share;
  hand_out(100);
  for (char share = '1'; share <= '9'; ++share) EXPECT_EQ(served[share], 10) << share;
}

TEST_P(AcceptContract, Q3_NeverMoreHoldsThanTheCapAndAnEndMakesRoom) {
  a_.Declare({.max_concurrent_sessions = 2});
  for (const char* const key : {"a", "b", "c", "d"}) a_.Send(key);
  const AcceptReply first = a_.Accept(a_.Ask(3));
  ASSERT_EQ(first.sessions.size(), 2u);
  const AcceptReply full = a_.Accept(a_.Ask(3));
  EXPECT_TRUE(full.sessions.empty());
  EXPECT_EQ(full.blocked, Blocked::kCap);
  EXPECT_EQ(full.look_in_ms, 300'000) << "then a hold may be over";
  a_.Complete(first.sessions[0], 1);
  EXPECT_THAT(Keys(3), ElementsAre("c"));
  a_.Declare({.max_concurrent_sessions = 1});
  a_.Complete(first.sessions[1], 1);
  EXPECT_EQ(a_.Accept(a_.Ask()).blocked, Blocked::kCap) << "a lower cap drains";
  a_.Declare({.max_concurrent_sessions = 3});
  EXPECT_THAT(Keys(3), ElementsAre("d")) << "a higher one is there at once";
}

TEST_P(AcceptContract, Q3_ExpiredHoldsGiveTheirPlacesUnderTheCapAlsoWithoutMessages) {
  a_.Declare({.max_concurrent_sessions = 1});
  a_.Send("a");
  a_.Send("b");
  EXPECT_THAT(Keys(1), ElementsAre("a"));
  clock().Advance(300'000);
  EXPECT_THAT(Keys(2, "d"), ElementsAre("b")) << "b waited for longer";
  clock().Advance(300'000);
  EXPECT_THAT(Keys(2, "e"), ElementsAre("a"));
}

TEST_P(AcceptContract, ARenewedHoldIsNotTakenOver) {
  a_.Declare();
  a_.Send("k");
  const HeldSession held = a_.AcceptOne();
  clock().Advance(200'000);
  EXPECT_EQ(a_.Tell(a_.Of(Report::Kind::kRenew, held)).row.lease_until_ms,
            clock().WallMs() + 300'000);
  clock().Advance(299'999);
  const AcceptReply nothing = a_.Accept(a_.Ask());
  EXPECT_TRUE(nothing.sessions.empty());
  EXPECT_EQ(nothing.look_in_ms, 1);
  clock().Advance(1);
  EXPECT_EQ(a_.AcceptOne("d").attempt, 2);
}

TEST_P(AcceptContract, WhatIsTransferredIsReservedUntilItsTime) {
  a_.Declare();
  a_.Send("k");
  Report transfer = a_.Of(Report::Kind::kTransfer, a_.AcceptOne());
  transfer.to = "d";
  transfer.for_ms = 5'000;
  a_.Tell(transfer);
  EXPECT_TRUE(Keys(1, "c").empty());
  EXPECT_THAT(Keys(1, "d"), ElementsAre("k"));
  Report again = a_.Of(Report::Kind::kTransfer, {.id = transfer.session, .fence = 2});
  again.to = "nobody";
  again.for_ms = 5'000;
  a_.Tell(again);
  EXPECT_TRUE(Keys(1, "c").empty());
  clock().Advance(5'000);
  EXPECT_THAT(Keys(1, "c"), ElementsAre("k")) << "afterwards all may have it";
}

TEST_P(AcceptContract, AChosenSessionIsHadOrItIsSaidWhyNot) {
  using Reason = NotToBeHad::Reason;
  a_.Declare();
  const auto choose = [&](const std::string& key) {
    AcceptRequest request = a_.Ask();
    request.key = key;
    return a_.Accept(std::move(request));
  };
  EXPECT_EQ(choose("k").unavailable->reason, Reason::kUnknown);
  a_.Send("j");
  a_.Send("k");
  const AcceptReply chosen = choose("k");
  ASSERT_EQ(chosen.sessions.size(), 1u);
  const auto held = choose("k").unavailable;
  EXPECT_EQ(held->reason, Reason::kHeld);
  EXPECT_EQ(held->consumer, "c");
  EXPECT_EQ(held->until_ms, clock().WallMs() + 300'000);
  const ReportOutcome failed = a_.Fail(chosen.sessions[0], 1);
  EXPECT_EQ(choose("k").unavailable->until_ms, failed.until_ms);
  clock().Advance(10'000);
  const HeldSession again = choose("k").sessions.at(0);
  Report reject = a_.Of(Report::Kind::kFail, again, 1);
  reject.rejected = true;
  a_.Tell(reject);
  EXPECT_EQ(choose("k").unavailable->reason, Reason::kParked);
  a_.Complete(again, 1);
  EXPECT_EQ(choose("k").unavailable->reason, Reason::kEmpty);
  a_.Pause(true);
  EXPECT_EQ(choose("j").unavailable->reason, Reason::kPaused);
}

TEST_P(AcceptContract, TheSameAcceptAgainIsAnsweredWithItsHolds) {
  a_.Declare();
  for (const char* const key : {"a", "b", "c"})
    for (int i = 0; i < 3; ++i) a_.Send(key);
  AcceptRequest request = a_.Ask(2, "c", 2);
  request.accept_id = SessionIdOf(1, 1, "an accept");
  const AcceptReply first = a_.Accept(request);
  ASSERT_EQ(first.sessions.size(), 2u);
  a_.Complete(first.sessions[0], 1);
  const AcceptReply again = a_.Accept(request);
  ASSERT_EQ(again.sessions.size(), 2u);
  for (const HeldSession& session : again.sessions) {
    const bool completed = session.id == first.sessions[0].id;
    EXPECT_EQ(session.messages.front().sequence, completed ? 2 : 1);
    EXPECT_EQ(session.messages.back().sequence, completed ? 3 : 2) << "what was handed out";
  }
  a_.Release(again.sessions[0]);
  a_.Release(again.sessions[1]);
  EXPECT_EQ(a_.Accept(request).sessions.size(), 2u) << "they are over: others, or the same anew";
}

TEST_P(AcceptContract, ExpiredMessagesGoByPolicyWhenTheirTurnComes) {
  a_.Declare({.on_dead_letter = DeadLetterPolicy::kSkip, .ttl_ms = 1'000});
  a_.Send("k");
  a_.Send("k");
  clock().Advance(1'000);
  a_.Send("k");
  EXPECT_THAT(Sequences(a_.AcceptOne().messages), ElementsAre(3));
  a_.Declare({.ttl_ms = 1'000});
  a_.Send("l");
  a_.Send("l");
  clock().Advance(1'000);
  EXPECT_TRUE(Keys(1).empty()) << "it is parked";
  Report resume;
  resume.kind = Report::Kind::kResume;
  resume.session = SessionIdOf(1, 1, "l");
  a_.Tell(resume);
  EXPECT_THAT(Sequences(a_.AcceptOne().messages), ElementsAre(1, 2)) << "both are lifted";
}

TEST_P(AcceptContract, AnExpiredMessageEndsTheSliceBeforeIt) {
  a_.Declare();
  NewMessage brief = a_.Of("k");
  brief.ttl_ms = 500;
  a_.Send({a_.Of("k"), brief, a_.Of("k")});
  clock().Advance(500);
  const HeldSession held = a_.AcceptOne();
  EXPECT_THAT(Sequences(held.messages), ElementsAre(1));
  const ReportOutcome done = a_.Complete(held, 1);
  EXPECT_EQ(done.hold, Hold::kEnded);
  EXPECT_TRUE(Keys(1).empty()) << "parked at the expired one";
}

TEST_P(AcceptContract, ANewGenerationWaitsForTheOldOne) {
  a_.Declare({}, "by entity");
  a_.Send("k");
  EXPECT_EQ(a_.Declare({}, "by repository").changed, Changed::kGeneration);
  const SentMessage later = a_.Send("k");
  EXPECT_EQ(later.sequence, 1) << "a session of the new generation";
  const AcceptReply reply = a_.Accept(a_.Ask(2));
  ASSERT_EQ(reply.sessions.size(), 1u);
  EXPECT_NE(reply.sessions[0].id, later.session);
  EXPECT_EQ(a_.Accept(a_.Ask()).blocked, Blocked::kGeneration);
  a_.Complete(reply.sessions[0], 1);
  EXPECT_EQ(a_.AcceptOne().id, later.session);
}

TEST_P(AcceptContract, AKeyThatIsOfANewerGenerationOnlyWaitsForTheOlderOne) {
  using Reason = NotToBeHad::Reason;
  a_.Declare();
  a_.Send("old");
  a_.Send("both");
  a_.Complete(a_.Accept(a_.Ask(2)).sessions.at(1), 1);
  a_.Declare({}, "another rule");
  a_.Send("new");
  a_.Send("both");
  const auto reason_of = [&](const std::string& key) {
    AcceptRequest request = a_.Ask();
    request.key = key;
    return a_.Accept(std::move(request)).unavailable->reason;
  };
  EXPECT_EQ(reason_of("new"), Reason::kGeneration);
  EXPECT_EQ(reason_of("both"), Reason::kGeneration) << "of the older one it has nothing left";
  EXPECT_EQ(reason_of("old"), Reason::kHeld);
  EXPECT_EQ(reason_of("nobody"), Reason::kUnknown);
}

TEST_P(AcceptContract, AQueueThatBecomesUnorderedHandsOutWhatIsLeftAndThenSaysWhereToGo) {
  a_.Declare();
  a_.Send("k");
  a_.Declare({.scope = Scope::kNone});
  const HeldSession held = a_.AcceptOne();
  a_.Complete(held, 1);
  EXPECT_EQ(a_.Accept(a_.Ask()).kind, AcceptReply::Kind::kUnordered);
}

TEST_P(AcceptContract, ASliceHasNoMoreThanItsBytesAndOneMessageAtLeast) {
  a_.Declare();
  NewMessage large = a_.Of("k");
  large.event_id = SessionIdOf(1, 1, "an event");
  large.payload.clear();
  large.payload_bytes = 5 << 20;
  a_.Send({large, large, large});
  const HeldSession held = a_.AcceptOne();
  EXPECT_THAT(Sequences(held.messages), ElementsAre(1));
  EXPECT_THAT(Sequences(a_.Complete(held, 1).messages), ElementsAre(2));
}

TEST_P(AcceptContract, Q4_AWaitingAcceptIsWokenByWhatMakesASessionReady) {
  a_.Declare({.max_concurrent_sessions = 1});
  std::vector<std::string> got;
  const auto wait = [&] {
    a_.queues().AcceptWaiting(a_.Ask(), 60'000, nullptr, [&](db::Result<AcceptReply> reply) {
      if (!reply.ok()) return;
      for (const HeldSession& each : reply.value().sessions) got.push_back(each.key);
    });
    a_.Drive();
  };
  wait();
  EXPECT_TRUE(got.empty());
  a_.Send("a");
  a_.Drive();
  EXPECT_THAT(got, ElementsAre("a"));
  a_.Send("b");
  wait();
  EXPECT_THAT(got, ElementsAre("a")) << "the cap";
  a_.Complete({.id = SessionIdOf(1, 1, "a"), .fence = 1}, 1);
  a_.Drive();
  EXPECT_THAT(got, ElementsAre("a", "b")) << "an end of a hold makes room";
  a_.Fail({.id = SessionIdOf(1, 1, "b"), .fence = 1}, 1);
  wait();
  a_.Pass(2'000);
  EXPECT_THAT(got, ElementsAre("a", "b", "b")) << "a back-off that is over is a timer";
  wait();
  a_.Pass(310'000, 10'000);
  EXPECT_EQ(got.size(), 3u) << "its time was over";
  a_.Accept(a_.Ask());
}

TEST_P(AcceptContract, Q4_AReservationWakesTheOneItIsFor) {
  a_.Declare();
  a_.Send("k");
  const HeldSession held = a_.AcceptOne();
  std::vector<std::string> got;
  for (const char* const consumer : {"first in line", "d"})
    a_.queues().AcceptWaiting(a_.Ask(1, consumer), 60'000, nullptr,
                              [&, consumer](db::Result<AcceptReply> reply) {
                                if (reply.ok() && !reply.value().sessions.empty())
                                  got.emplace_back(consumer);
                              });
  a_.Drive();
  Report transfer = a_.Of(Report::Kind::kTransfer, held);
  transfer.to = "d";
  a_.Tell(transfer);
  a_.Drive();
  EXPECT_THAT(got, ElementsAre("d"));
}

/// A signal wakes one of those who wait.
TEST_P(AcceptContract, Q4_AWaiterThatWasChosenPassesOnWhatItLeavesAlsoWhenItGoes) {
  a_.Declare();
  std::vector<std::string> got;
  const auto wait = [&] {
    const auto id =
        a_.queues().AcceptWaiting(a_.Ask(), 60'000, nullptr, [&](db::Result<AcceptReply> reply) {
          if (!reply.ok()) return;
          for (const HeldSession& each : reply.value().sessions) got.push_back(each.key);
        });
    a_.Drive();
    return id;
  };
  wait();
  wait();
  a_.Send({a_.Of("a"), a_.Of("b")});
  a_.Drive();
  EXPECT_THAT(got, testing::UnorderedElementsAre("a", "b")) << "of one transaction";
  const auto first = wait();
  wait();
  a_.Send("c");
  a_.wake().RunDue();
  a_.queues().Abandon(first);
  a_.Drive();
  EXPECT_THAT(got, testing::UnorderedElementsAre("a", "b", "c"));
}

TEST_P(AcceptContract, OneThatGoesWhileItWaitsTakesNothingWithIt) {
  a_.Declare();
  const auto id = a_.queues().AcceptWaiting(a_.Ask(), 60'000, nullptr,
                                            [](const auto&) { FAIL() << "it has gone"; });
  a_.Drive();
  a_.Send("k");  // its question is under way now, and is answered after it has gone
  a_.wake().RunDue();
  a_.queues().Abandon(id);
  a_.Drive();
  EXPECT_EQ(a_.AcceptOne().attempt, 1) << "it was given back";
}

/// What meets in one transaction stood in memory together, however much it was: 512 accepts of 8 MiB.
class LargeSessions : public AcceptContract {
 protected:
  static constexpr std::size_t kLarge = 5 << 20;

  static std::int64_t BytesOf(const std::vector<Message>& messages) {
    std::int64_t bytes = 0;
    for (const Message& each : messages) bytes += std::ssize(each.payload);
    return bytes;
  }
};
INSTANTIATE_TEST_SUITE_P(Stores, LargeSessions,
                         testing::Values(EngineKind::kSqlite, EngineKind::kPostgres),
                         store::EngineName);

TEST_P(LargeSessions, WhatOneTransactionHasNoRoomForIsForTheNext) {
  constexpr int kAccepts = 20;
  a_.Declare();
  for (int i = 0; i < kAccepts; ++i)
    a_.Send(std::to_string(i), "\"" + std::string(kLarge, 'x') + "\"");
  int answered = 0;
  std::int64_t bytes = 0;
  for (int i = 0; i < kAccepts; ++i) {
    AcceptRequest chosen = a_.Ask();
    chosen.key = std::to_string(i);
    a_.queues().Accept(chosen, nullptr, [&](const db::Result<AcceptReply>& result) {
      ASSERT_TRUE(result.ok());
      ASSERT_EQ(result.value().sessions.size(), 1u);
      ++answered;
      bytes += BytesOf(result.value().sessions.front().messages);
    });
  }
  while (answered == 0)
    for (db::Lane* lane : a_.store().AllLanes()) lane->RunOnce();
  EXPECT_LE(bytes, kMaxBatchBytes + kMaxAcceptBytes);
  a_.Drive();
  EXPECT_EQ(answered, kAccepts);
}

TEST_P(LargeSessions, AReportOnManyHandsOutNoMoreThanAnAcceptAndEndsTheOtherHolds) {
  a_.Declare();
  for (const char* const key : {"a", "b", "c"})
    a_.Send({a_.Of(key), a_.Of(key, "\"" + std::string(kLarge, 'x') + "\"")});
  std::vector<Report> reports;
  for (const HeldSession& each : a_.Accept(a_.Ask(3, "c", 1)).sessions) {
    reports.push_back(a_.Of(Report::Kind::kComplete, each, 1));
    reports.back().keep = true;
    reports.back().max_messages = 1;
  }
  ASSERT_EQ(reports.size(), 3u);
  std::int64_t bytes = 0, ended = 0;
  for (const ReportOutcome& outcome : a_.Reports(reports).outcomes) {
    EXPECT_EQ(outcome.kind, ReportOutcome::Kind::kDone);
    bytes += BytesOf(outcome.messages);
    ended += outcome.hold == Hold::kEnded ? 1 : 0;
  }
  EXPECT_LT(bytes, 2 * kMaxAcceptBytes);
  EXPECT_EQ(ended, 1);
  EXPECT_EQ(a_.AcceptOne().messages.size(), 1u) << "it is had by the next accept";
}

}  // namespace
}  // namespace tenure::queues
