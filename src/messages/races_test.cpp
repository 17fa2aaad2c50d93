// What only happens where transactions overlap: late commits, users' own transactions that stay
// open, a process placed between two statements of another one. PostgreSQL only; every interleaving
// by machine is in tests/stepped.

#include <functional>
#include <memory>
#include <string>

#include <gmock/gmock.h>

#include "messages/test_process.hpp"
#include "store/before_step.hpp"
#include "store/tables.hpp"

namespace tenure::messages {
namespace {

using store::BeforeStep;
using store::EngineKind;

class MessageRaces : public testing::TestWithParam<EngineKind> {
 protected:
  /// The functions for users go by PostgreSQL's own clock: what they put in must be due here.
  MessageRaces() { clock().Advance(base::SystemClock().WallMs() + 3'600'000 - clock().WallMs()); }
  base::ManualClock& clock() { return store_.clock(); }
  static std::string Sql(const ClaimedMessage& delivery) {
    return "select tenure.acknowledge('" + delivery.id.ToString() + "', " +
           std::to_string(delivery.fence) + ")";
  }

  store::TestStore store_{GetParam(), sql::All()};
  TestProcess a_{store_};
  TestProcess b_{store_, "q"};
  std::unique_ptr<store::Tables> user_ = store::OpenPostgresTables(store_.url());
};

INSTANTIATE_TEST_SUITE_P(Stores, MessageRaces,
                         testing::Values(EngineKind::kPostgres, EngineKind::kPooledPostgres),
                         store::EngineName);

TEST_P(MessageRaces, ATopicThatIsMadeInTheMiddleOfAClaimIsHandedOutWhole) {
  for (const char* step : {"messages.find_ready", "messages.load_topics"}) {
    const std::string topic = std::string("made before ") + step;
    base::Uuid id{};
    const BeforeStep made(a_.store().WriteLane(0), step, [&] { id = b_.Enqueue(topic); });
    auto got = a_.Claim(topic);
    if (got.empty()) got = a_.Claim(topic);
    ASSERT_EQ(got.size(), 1u) << topic;
    EXPECT_EQ(got.front().id, id);
    EXPECT_EQ(got.front().lease_until_ms, clock().WallMs() + kDefaultLeaseMs);
  }
}

TEST_P(MessageRaces, M1_WhatAUserSendsToANewTopicIsSortedInOnceAndInOrder) {
  user_->Ask("begin");
  for (const char* payload : {"1", "2", "3"})
    user_->Ask("select tenure.enqueue('new', '" + std::string(payload) + "')");
  a_.Sort();
  a_.Enqueue("new", "0");
  EXPECT_EQ(a_.ClaimOne("new").payload, "0") << "nobody waits for the user";
  user_->Ask("commit");
  EXPECT_TRUE(a_.Claim("new").empty());
  {
    // The other process comes while the rows are locked: it passes over them.
    const BeforeStep meanwhile(a_.store().KeyLane(), "messages.sort_messages", [&] { b_.Sort(); });
    EXPECT_FALSE(a_.Sort().has_more);
  }
  for (const char* payload : {"1", "2", "3"}) EXPECT_EQ(a_.ClaimOne("new").payload, payload);
  EXPECT_TRUE(a_.Claim("new").empty());
}

TEST_P(MessageRaces, OneWithAKeyThatAUserHoldsWaitsAndNobodyElseDoes) {
  const auto send = [](const char* topic, const char* more) {
    return "select tenure.enqueue('" + std::string(topic) + "', '1'" + more + ")";
  };
  const auto other = store::OpenPostgresTables(store_.url());
  other->Ask(send("new", ", dedup_key => 'k'"));
  other->Ask(send("other", ""));
  a_.Enqueue("new", "0");
  EXPECT_EQ(a_.Claim("new").size(), 1u);
  other->Ask("update tenure.topics set dedup_ms = 86400000");  // our clock is ahead of its own
  user_->Ask("begin");
  user_->Ask(send("new", ", dedup_key => 'k'"));
  const std::vector<std::int64_t> keyed = a_.Sort().keyed;
  EXPECT_EQ(a_.Claim("other").size(), 1u);
  ASSERT_EQ(keyed.size(), 1u);
  EXPECT_THROW(a_.Sort({keyed.front()}), base::Fault) << "contended";
  user_->Ask("commit");
  EXPECT_TRUE(a_.Sort({keyed.front()}).keyed.empty());
  clock().Advance(TopicCache::kRescanMs);
  EXPECT_EQ(a_.Claim("new").size(), 1u) << "the user's; the other one was the second of its key";
}

TEST_P(MessageRaces, WhatAnotherProcessSortsIsNotAskedForAgainAtOnce) {
  user_->Ask("select tenure.enqueue('new', '1')");
  user_->Ask("begin");
  user_->Ask("select 1 from tenure.unsorted_messages for update");  // as one that sorts has it
  const SortReply locked = a_.Sort();
  EXPECT_FALSE(locked.has_more);
  EXPECT_TRUE(locked.has_locked);
  user_->Ask("rollback");
  const SortReply sorted = a_.Sort();
  EXPECT_FALSE(sorted.has_more || sorted.has_locked);
  EXPECT_EQ(a_.Claim("new").size(), 1u);
}

TEST_P(MessageRaces, KeysThatUsersHoldKeepNoOtherKeyWaiting) {
  const auto other = store::OpenPostgresTables(store_.url());
  const auto send = [](const std::string& key) {
    return "select tenure.enqueue('new', '\"" + key + "\"', dedup_key => '" + key + "')";
  };
  // All of them are put aside, since the topic has no row; then it has one, and a user holds all
  // keys but the last.
  for (std::size_t i = 0; i <= kKeyedAtOnce; ++i) other->Ask(send("k" + std::to_string(i)));
  a_.Enqueue("new", "0");
  EXPECT_EQ(a_.Claim("new").size(), 1u);
  other->Ask("update tenure.topics set dedup_ms = 86400000");  // our clock is ahead of its own
  user_->Ask("begin");
  for (std::size_t i = 0; i < kKeyedAtOnce; ++i) user_->Ask(send("k" + std::to_string(i)));

  const SortReply first = a_.Sort();
  ASSERT_EQ(first.keyed.size(), kKeyedAtOnce);
  const SortReply rest = a_.Sort({.keyed_after = first.keyed.back()});
  ASSERT_EQ(rest.keyed.size(), 1u) << "those that were tried stand behind";
  std::vector<bool> sorted;
  for (const std::int64_t keyed : {first.keyed.front(), rest.keyed.front()})
    a_.messages().SortSome({.keyed = keyed}, nullptr,
                           [&](const auto& result) { sorted.push_back(result.ok()); });
  a_.Drive();
  EXPECT_THAT(sorted, testing::UnorderedElementsAre(false, true)) << "in one batch";
  clock().Advance(TopicCache::kRescanMs);
  EXPECT_EQ(a_.ClaimOne("new").payload, "\"k" + std::to_string(kKeyedAtOnce) + "\"");
  user_->Ask("rollback");
}

TEST_P(MessageRaces, M1_WhatIsCommittedLateBelowTheMarkIsFoundByTheNextLookFromTheBottom) {
  a_.Enqueue("t", "0");
  ASSERT_EQ(a_.Claim("t").size(), 1u) << "the topic is known, and was looked at from the bottom";
  user_->Ask("begin");
  user_->Ask("select tenure.enqueue('t', '1')");
  a_.Enqueue("t", "2");
  EXPECT_EQ(a_.ClaimOne("t").payload, "2");
  user_->Ask("commit");
  clock().Advance(TopicCache::kRescanMs);
  EXPECT_EQ(a_.ClaimOne("t").payload, "1");
}

TEST_P(MessageRaces, M1_ATopicThatIsAskedForAllTheTimeTakesNoLooksFromTheOthers) {
  for (const char* topic : {"busy", "quiet"}) a_.Enqueue(topic);
  for (const char* topic : {"busy", "quiet"}) ASSERT_EQ(a_.Claim(topic).size(), 1u);
  user_->Ask("begin");
  user_->Ask("select tenure.enqueue('quiet', '1')");
  a_.Enqueue("quiet", "2");
  EXPECT_EQ(a_.ClaimOne("quiet").payload, "2");
  user_->Ask("commit");
  for (int i = 0; i < 100; ++i) {
    clock().Advance(10);
    a_.Claim("busy");
  }
  EXPECT_EQ(a_.Claim("quiet").size(), 1u);
}

TEST_P(MessageRaces, M1_WhoLookedForWaitersBeforeTheFlagWasThereIsFoundSoonAfterItsCommit) {
  a_.Enqueue("t");
  ASSERT_EQ(a_.Claim("t").size(), 1u);
  user_->Ask("begin");
  user_->Ask("select tenure.enqueue('t', '1')");  // nobody waits, as far as it can see
  const auto waiting = a_.Wait(TestProcess::Ask({"t"}), 600'000);
  a_.Pass(30'000);
  EXPECT_FALSE(waiting->outcome);
  user_->Ask("commit");
  a_.Pass(100);  // it looks every 50 ms for as long as such a one may be under way
  ASSERT_TRUE(waiting->outcome);
  EXPECT_EQ(waiting->outcome->value().messages.size(), 1u);
}

TEST_P(MessageRaces, M2_AnAcknowledgementThatMeetsAnExtensionWaitsForItAndCounts) {
  a_.Enqueue("t");
  const auto held = a_.ClaimOne("t");
  // As the extension of another process does, at the moment before its commit.
  user_->Ask("begin");
  user_->Ask("update tenure.messages set lease_until_ms = lease_until_ms + 1000");
  const BeforeStep committed(a_.store().KeyLane(), "messages.await_messages",
                             [&] { user_->Ask("commit"); });
  EXPECT_EQ(a_.Ack(held), SettleOutcome::kDone);
}

TEST_P(MessageRaces, M2_WhoReportsWhatAnOpenTransactionHoldsIsToldToAskAgainAndTheOthersAreDone) {
  for (const Disposition disposition :
       {Disposition::kDone, Disposition::kRetry, Disposition::kDead, Disposition::kExtend}) {
    a_.EnqueueAll({TestProcess::Of("t"), TestProcess::Of("t")});
    const auto held = a_.Claim("t");
    ASSERT_EQ(held.size(), 2u);
    user_->Ask("begin");
    user_->Ask(Sql(held[0]));
    // The others are answered before anybody waits for the one that is locked.
    std::vector<std::optional<db::Result<SettleResult>>> answers(2);
    bool others_first = false;
    const BeforeStep waits(a_.store().KeyLane(), "messages.await_messages",
                           [&] { others_first = answers[1].has_value(); });
    for (std::size_t i = 0; i < 2; ++i)
      a_.messages().Settle({"default", disposition, {{held[i].id, held[i].fence, "", {}, ""}}, {}},
                           nullptr, [&, i](auto result) { answers[i] = std::move(result); });
    a_.Drive();
    EXPECT_TRUE(others_first);
    ASSERT_TRUE(answers[0] && answers[1]);
    ASSERT_FALSE(answers[0]->ok());
    EXPECT_EQ(answers[0]->fault().kind(), base::FaultKind::kContended);
    ASSERT_TRUE(answers[1]->ok());
    EXPECT_EQ(answers[1]->value().reply.outcomes.front(), SettleOutcome::kDone);
    user_->Ask("rollback");
    EXPECT_EQ(a_.Ack(held[0]), SettleOutcome::kDone);
    a_.Ack(held[1]);  // one that was extended is still in these hands
  }
}

TEST_P(MessageRaces, M2_OfOneReportWhatIsLockedIsAskedAgainByItselfAndAnsweredInItsPlace) {
  for (const char* end : {"commit", "rollback"}) {
    a_.EnqueueAll({TestProcess::Of("t"), TestProcess::Of("t"), TestProcess::Of("t")});
    const auto held = a_.Claim("t");
    ASSERT_EQ(held.size(), 3u);
    user_->Ask("begin");
    user_->Ask(Sql(held[1]));
    const BeforeStep ended(a_.store().KeyLane(), "messages.await_messages",
                           [&] { user_->Ask(end); });
    std::vector<Settlement> settlements;
    for (const auto& each : held) settlements.push_back({each.id, each.fence, "", {}, ""});
    const auto outcomes = a_.Settle(Disposition::kDone, settlements);
    EXPECT_THAT(outcomes, testing::ElementsAre(SettleOutcome::kDone,
                                               std::string(end) == "commit" ? SettleOutcome::kGone
                                                                            : SettleOutcome::kDone,
                                               SettleOutcome::kDone));
  }
}

TEST_P(MessageRaces, M2_AReportOfWhichOnlyAPartIsDoneIsOfUnknownOutcomeAndMayBeRepeated) {
  a_.EnqueueAll({TestProcess::Of("t"), TestProcess::Of("t")});
  const auto held = a_.Claim("t");
  user_->Ask("begin");
  user_->Ask(Sql(held[0]));
  std::vector<Settlement> settlements;
  for (const auto& each : held) settlements.push_back({each.id, each.fence, "", {}, ""});
  try {
    a_.Settle(Disposition::kDone, settlements);
    ADD_FAILURE() << "the first one is locked";
  } catch (const base::Fault& fault) {
    EXPECT_EQ(fault.kind(), base::FaultKind::kOutcomeUnknown);
  }
  user_->Ask("rollback");
  EXPECT_THAT(a_.Settle(Disposition::kDone, settlements),
              testing::ElementsAre(SettleOutcome::kDone, SettleOutcome::kGone));
}

TEST_P(MessageRaces, ALockOfThePastHoldsUpNoAcknowledgement) {
  a_.Enqueue("t");
  const auto held = a_.ClaimOne("t");
  user_->Ask("begin");
  user_->Ask(Sql(held));
  user_->Ask("rollback");
  EXPECT_EQ(a_.Ack(held), SettleOutcome::kDone);
  EXPECT_EQ(store_.Executions("messages.await_messages"), 1u) << "it was asked for twice";
}

TEST_P(MessageRaces, WhatWasClaimedIsAcknowledgedWithoutAskingTwice) {
  a_.EnqueueAll({TestProcess::Of("t"), TestProcess::Of("t")});
  auto held = a_.Claim("t");
  a_.Settle(Disposition::kExtend, held[0]);
  const auto before = store_.Executions("messages.await_messages");
  for (const auto& each : held) EXPECT_EQ(a_.Ack(each), SettleOutcome::kDone);
  EXPECT_EQ(store_.Executions("messages.await_messages"), before);
}

TEST_P(MessageRaces, M2_WhatAnOpenTransactionAcknowledgesIsTakenBackByNobodyUntilItEnds) {
  for (const char* end : {"commit", "rollback"}) {
    a_.Enqueue("t");
    const auto held = a_.ClaimOne("t");
    user_->Ask("begin");
    user_->Ask(Sql(held));
    clock().Advance(kDefaultLeaseMs);
    const auto during = a_.Reap();
    EXPECT_EQ(during.crashed + during.returned + during.dead, 0);
    EXPECT_TRUE(a_.Claim("t").empty());
    user_->Ask(end);
    clock().Advance(1'000);
    a_.Reap();
    EXPECT_EQ(a_.Claim("t").size(), std::string(end) == "commit" ? 0u : 1u);
  }
}

TEST_P(MessageRaces, WhatADeadWorkerHeldComesBackSoonAlsoWhenTwoReapersMeet) {
  const std::int64_t worker = NewWorker();
  a_.Beat(HeartbeatRequest::Kind::kJoin, worker);
  a_.Enqueue("t");
  ClaimRequest request = TestProcess::Ask({"t"});
  request.worker = worker;
  request.lease_ms = kMinLeaseMs;
  ASSERT_EQ(a_.Claim(request).messages.size(), 1u);
  clock().Advance(kWorkerTtlMs);
  // Another reaper gives the worker up at this moment, and does not get the claim: we have it.
  user_->Ask("begin");
  user_->Ask("delete from tenure.message_workers");
  a_.Reap();
  user_->Ask("commit");
  clock().Advance(2'000);
  a_.Reap();
  EXPECT_EQ(a_.Claim("t").size(), 1u);
}

TEST_P(MessageRaces, AWakeUpIsNotSwallowedByALockOfWhoeverLostTheRace) {
  a_.Enqueue("t");
  ASSERT_EQ(a_.Claim("t").size(), 1u);
  const auto waiting = a_.Wait(TestProcess::Ask({"t"}), 60'000);
  a_.Pass(5'000);  // it looks by itself once a second now
  a_.messages().Enqueue({"default", {TestProcess::Of("t")}}, nullptr, [](const auto&) {});
  store::Drive(a_.store());
  user_->Ask("begin");
  user_->Ask("select from tenure.messages for update");
  a_.Drive();
  EXPECT_FALSE(waiting->outcome);
  user_->Ask("rollback");
  a_.Pass(10, 1);
  EXPECT_TRUE(waiting->outcome);
}

TEST_P(MessageRaces, ATimerThatSomebodyHasLockedCostsFewLooksAndHoldsUpNoOther) {
  a_.messages().StartScheduler();
  a_.Drive();
  const auto in = [](std::int64_t delay_ms) {
    NewMessage timer = TestProcess::Of("t", std::to_string(delay_ms));
    timer.delay_ms = delay_ms;
    return timer;
  };
  const auto locked = a_.Enqueue(in(100));
  user_->Ask("begin");
  user_->Ask("select from tenure.messages where id = '" + locked.ToString() + "' for update");
  a_.Enqueue(in(5'333));
  const auto waiting = a_.Wait(TestProcess::Ask({"t"}, 1), 60'000);
  const auto before = store_.Executions("messages.promote_messages");
  a_.Pass(5'332, 1);
  EXPECT_LE(store_.Executions("messages.promote_messages"), before + 20) << "10, 20, 40 … 500 ms";
  EXPECT_FALSE(waiting->outcome);
  a_.Pass(1, 1);
  ASSERT_TRUE(waiting->outcome) << "the other one is in time";
  EXPECT_EQ(waiting->outcome->value().messages.front().payload, "5333");
  const auto again = a_.Wait(TestProcess::Ask({"t"}, 1), 60'000);
  user_->Ask("commit");
  a_.Pass(500);
  EXPECT_TRUE(again->outcome) << "its wake-up is not lost";
}

TEST_P(MessageRaces, M1_ASnapshotThatSomebodyHoldsElsewhereHoldsUpNothing) {
  a_.Enqueue("t");
  user_->Ask("begin isolation level repeatable read");
  user_->Ask("select count(*) from tenure.messages");
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(a_.Ack(b_.ClaimOne("t")), SettleOutcome::kDone);
    b_.Enqueue("t");
    clock().Advance(100);
  }
  user_->Ask("commit");
  EXPECT_EQ(a_.Claim("t").size(), 1u);
}

/// A user's transaction that sends to the topic while it is open, and is still open when the topic
/// is closed and about to be deleted.
TEST_P(MessageRaces, M1_AUserWhoSawATopicOpenIsWaitedForBeforeItGoes) {
  for (const char* end : {"rollback", "commit"}) {
    const std::string topic = std::string("unused until ") + end;
    a_.Enqueue(topic);
    a_.Ack(a_.ClaimOne(topic));
    a_.Drive();
    b_.ForgetTopics();
    user_->Ask("begin");
    user_->Ask("select tenure.enqueue('" + topic + "', '1')");
    clock().Advance(30LL * 86'400'000);
    b_.ForgetTopics();
    EXPECT_EQ(b_.Topics(topic).rows.at(0).row.lines, 0) << "nobody sees the message yet";
    const auto other = store::OpenPostgresTables(store_.url());
    for (int i = 0; i < 3; ++i) {
      clock().Advance(600'000);
      b_.ForgetTopics();
    }
    ASSERT_EQ(b_.Topics(topic).rows.size(), 1u) << "the user may still commit";
    user_->Ask(end);
    for (int i = 0;
         i < 1'000 && !b_.Topics(topic).rows.empty() && b_.Topics(topic).rows[0].row.lines == 0;
         ++i)
      b_.ForgetTopics();
    if (end == std::string("rollback")) {
      EXPECT_TRUE(b_.Topics(topic).rows.empty());
      other->Ask("select tenure.enqueue('" + topic + "', '1')");
      a_.Sort();
    }
    EXPECT_EQ(a_.ClaimOne(topic).payload, "1") << end;
    EXPECT_EQ(b_.Topics(topic).rows.size(), 1u);
  }
}

/// A process that remembers the number of a topic, and is paused before its transaction reaches the
/// store: when it goes on, the topic may be gone.
TEST_P(MessageRaces, M1_AProcessThatWasPausedDoesNotSendToATopicThatIsGone) {
  a_.Enqueue("t");
  a_.Ack(a_.ClaimOne("t"));
  a_.Drive();
  b_.ForgetTopics();
  const BeforeStep paused(a_.store().WriteLane(0), "clock", [&] {
    clock().Advance(30LL * 86'400'000);
    b_.ForgetTopics();
    clock().Advance(600'000);
    for (int i = 0; i < 1'000 && !b_.Topics("t").rows.empty(); ++i) b_.ForgetTopics();
    EXPECT_TRUE(b_.Topics("t").rows.empty());
  });
  a_.Enqueue("t", "late");
  EXPECT_EQ(b_.ClaimOne("t").payload, "late");
}

}  // namespace
}  // namespace tenure::messages
