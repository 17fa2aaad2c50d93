// What only happens where transactions overlap: late commits, users' own transactions that stay
// open, a process placed between two statements of another one. PostgreSQL only; every interleaving
// by machine is in tests/stepped.

#include <functional>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <libpq-fe.h>

#include "messages/test_process.hpp"

namespace tenure::messages {
namespace {

using store::EngineKind;

/// A user's own connection.
class User {
 public:
  explicit User(const std::string& url) : connection_(PQconnectdb(url.c_str())) {}
  ~User() { PQfinish(connection_); }
  User(const User&) = delete;
  User& operator=(const User&) = delete;

  void Execute(const std::string& sql) {
    PGresult* const result = PQexec(connection_, sql.c_str());
    const char* const state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    EXPECT_EQ(std::string(state ? state : ""), "") << sql << ": " << PQerrorMessage(connection_);
    PQclear(result);
  }

 private:
  PGconn* const connection_;
};

/// Does something, once, before a step of somebody's transaction.
class BeforeStep final : public db::StepHook {
 public:
  BeforeStep(db::Lane& lane, std::string step, std::function<void()> what)
      : lane_(lane), step_(std::move(step)), what_(std::move(what)) {
    lane_.connection().SetHook(this);
  }
  ~BeforeStep() override { lane_.connection().SetHook(nullptr); }
  void Before(std::string_view step) override {
    if (step == step_ && what_) std::exchange(what_, nullptr)();
  }
  void After(std::string_view) override {}

 private:
  db::Lane& lane_;
  const std::string step_;
  std::function<void()> what_;
};

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
  User user_{store_.url()};
};

INSTANTIATE_TEST_SUITE_P(Stores, MessageRaces,
                         testing::Values(EngineKind::kPostgres, EngineKind::kPooledPostgres),
                         store::EngineName);

TEST_P(MessageRaces, ATopicThatIsMadeInTheMiddleOfAClaimIsHandedOutWhole) {
  for (const char* step : {"messages.find_ready", "messages.load_topics"}) {
    const std::string topic = std::string("made before ") + step;
    const BeforeStep made(a_.store().WriteLane(0), step, [&] { b_.Enqueue(topic); });
    auto got = a_.Claim(topic);
    if (got.empty()) got = a_.Claim(topic);
    ASSERT_EQ(got.size(), 1u) << topic;
    EXPECT_EQ(got.front().lease_until_ms, clock().WallMs() + kDefaultLeaseMs);
  }
}

TEST_P(MessageRaces, M1_WhatIsCommittedLateBelowTheMarkIsFoundByTheNextLookFromTheBottom) {
  a_.Enqueue("t", "0");
  ASSERT_EQ(a_.Claim("t").size(), 1u) << "the topic is known, and was looked at from the bottom";
  user_.Execute("begin");
  user_.Execute("select tenure.enqueue('t', '1')");
  a_.Enqueue("t", "2");
  EXPECT_EQ(a_.ClaimOne("t").payload, "2");
  user_.Execute("commit");
  clock().Advance(Directory::kRescanMs);
  EXPECT_EQ(a_.ClaimOne("t").payload, "1");
}

TEST_P(MessageRaces, M1_ATopicThatIsAskedForAllTheTimeTakesNoLooksFromTheOthers) {
  for (const char* topic : {"busy", "quiet"}) a_.Enqueue(topic);
  for (const char* topic : {"busy", "quiet"}) ASSERT_EQ(a_.Claim(topic).size(), 1u);
  user_.Execute("begin");
  user_.Execute("select tenure.enqueue('quiet', '1')");
  a_.Enqueue("quiet", "2");
  EXPECT_EQ(a_.ClaimOne("quiet").payload, "2");
  user_.Execute("commit");
  for (int i = 0; i < 100; ++i) {
    clock().Advance(10);
    a_.Claim("busy");
  }
  EXPECT_EQ(a_.Claim("quiet").size(), 1u);
}

TEST_P(MessageRaces, M1_WhoLookedForWaitersBeforeTheFlagWasThereIsFoundSoonAfterItsCommit) {
  a_.Enqueue("t");
  ASSERT_EQ(a_.Claim("t").size(), 1u);
  user_.Execute("begin");
  user_.Execute("select tenure.enqueue('t', '1')");  // nobody waits, as far as it can see
  const auto waiting = a_.Wait(TestProcess::Ask({"t"}), 600'000);
  a_.Pass(30'000);
  EXPECT_FALSE(waiting->outcome);
  user_.Execute("commit");
  a_.Pass(100);  // it looks every 50 ms for as long as such a one may be under way
  ASSERT_TRUE(waiting->outcome);
  EXPECT_EQ(waiting->outcome->value().messages.size(), 1u);
}

TEST_P(MessageRaces, M2_AnAcknowledgementThatMeetsAnExtensionWaitsForItAndCounts) {
  a_.Enqueue("t");
  const auto held = a_.ClaimOne("t");
  // As the extension of another process does, at the moment before its commit.
  user_.Execute("begin");
  user_.Execute("update tenure.messages set lease_until_ms = lease_until_ms + 1000");
  const BeforeStep committed(a_.store().KeyLane(), "messages.await_messages",
                             [&] { user_.Execute("commit"); });
  EXPECT_EQ(a_.Ack(held), ReportOutcome::kDone);
}

TEST_P(MessageRaces, M2_WhoReportsWhatAnOpenTransactionHoldsIsToldToAskAgainAndTheOthersAreDone) {
  for (const Verdict verdict :
       {Verdict::kDone, Verdict::kRetry, Verdict::kDead, Verdict::kExtend}) {
    a_.EnqueueAll({TestProcess::Of("t"), TestProcess::Of("t")});
    const auto held = a_.Claim("t");
    ASSERT_EQ(held.size(), 2u);
    user_.Execute("begin");
    user_.Execute(Sql(held[0]));
    // The others are answered before anybody waits for the one that is locked.
    std::vector<std::optional<db::Result<ReportResult>>> answers(2);
    bool others_first = false;
    const BeforeStep waits(a_.store().KeyLane(), "messages.await_messages",
                           [&] { others_first = answers[1].has_value(); });
    for (std::size_t i = 0; i < 2; ++i)
      a_.messages().Report({"default", verdict, {{held[i].id, held[i].fence, "", {}, ""}}, {}},
                           nullptr, [&, i](auto result) { answers[i] = std::move(result); });
    a_.Drive();
    EXPECT_TRUE(others_first);
    ASSERT_TRUE(answers[0] && answers[1]);
    ASSERT_FALSE(answers[0]->ok());
    EXPECT_EQ(answers[0]->fault().kind(), base::FaultKind::kContended);
    ASSERT_TRUE(answers[1]->ok());
    EXPECT_EQ(answers[1]->value().reply.outcomes.front(), ReportOutcome::kDone);
    user_.Execute("rollback");
    EXPECT_EQ(a_.Ack(held[0]), ReportOutcome::kDone);
    a_.Ack(held[1]);  // one that was extended is still in these hands
  }
}

TEST_P(MessageRaces, M2_OfOneReportWhatIsLockedIsAskedAgainByItselfAndAnsweredInItsPlace) {
  for (const char* end : {"commit", "rollback"}) {
    a_.EnqueueAll({TestProcess::Of("t"), TestProcess::Of("t"), TestProcess::Of("t")});
    const auto held = a_.Claim("t");
    ASSERT_EQ(held.size(), 3u);
    user_.Execute("begin");
    user_.Execute(Sql(held[1]));
    const BeforeStep ended(a_.store().KeyLane(), "messages.await_messages",
                           [&] { user_.Execute(end); });
    std::vector<Report> reports;
    for (const auto& each : held) reports.push_back({each.id, each.fence, "", {}, ""});
    const auto outcomes = a_.Report(Verdict::kDone, reports);
    EXPECT_THAT(outcomes, testing::ElementsAre(ReportOutcome::kDone,
                                               std::string(end) == "commit" ? ReportOutcome::kGone
                                                                            : ReportOutcome::kDone,
                                               ReportOutcome::kDone));
  }
}

TEST_P(MessageRaces, M2_AReportOfWhichOnlyAPartIsDoneIsOfUnknownOutcomeAndMayBeRepeated) {
  a_.EnqueueAll({TestProcess::Of("t"), TestProcess::Of("t")});
  const auto held = a_.Claim("t");
  user_.Execute("begin");
  user_.Execute(Sql(held[0]));
  std::vector<Report> reports;
  for (const auto& each : held) reports.push_back({each.id, each.fence, "", {}, ""});
  try {
    a_.Report(Verdict::kDone, reports);
    ADD_FAILURE() << "the first one is locked";
  } catch (const base::Fault& fault) {
    EXPECT_EQ(fault.kind(), base::FaultKind::kOutcomeUnknown);
  }
  user_.Execute("rollback");
  EXPECT_THAT(a_.Report(Verdict::kDone, reports),
              testing::ElementsAre(ReportOutcome::kDone, ReportOutcome::kGone));
}

TEST_P(MessageRaces, ALockOfThePastHoldsUpNoAcknowledgement) {
  a_.Enqueue("t");
  const auto held = a_.ClaimOne("t");
  user_.Execute("begin");
  user_.Execute(Sql(held));
  user_.Execute("rollback");
  EXPECT_EQ(a_.Ack(held), ReportOutcome::kDone);
  EXPECT_EQ(store_.Executions("messages.await_messages"), 1u) << "it was asked for twice";
}

TEST_P(MessageRaces, WhatWasClaimedIsAcknowledgedWithoutAskingTwice) {
  a_.EnqueueAll({TestProcess::Of("t"), TestProcess::Of("t")});
  auto held = a_.Claim("t");
  a_.Report(Verdict::kExtend, held[0]);
  const auto before = store_.Executions("messages.await_messages");
  for (const auto& each : held) EXPECT_EQ(a_.Ack(each), ReportOutcome::kDone);
  EXPECT_EQ(store_.Executions("messages.await_messages"), before);
}

TEST_P(MessageRaces, M2_WhatAnOpenTransactionAcknowledgesIsTakenBackByNobodyUntilItEnds) {
  for (const char* end : {"commit", "rollback"}) {
    a_.Enqueue("t");
    const auto held = a_.ClaimOne("t");
    user_.Execute("begin");
    user_.Execute(Sql(held));
    clock().Advance(kDefaultLeaseMs);
    const auto during = a_.Reap();
    EXPECT_EQ(during.crashed + during.returned + during.dead, 0);
    EXPECT_TRUE(a_.Claim("t").empty());
    user_.Execute(end);
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
  user_.Execute("begin");
  user_.Execute("delete from tenure.message_workers");
  a_.Reap();
  user_.Execute("commit");
  clock().Advance(2'000);
  a_.Reap();
  EXPECT_EQ(a_.Claim("t").size(), 1u);
}

TEST_P(MessageRaces, M1_ASnapshotThatSomebodyHoldsElsewhereHoldsUpNothing) {
  a_.Enqueue("t");
  user_.Execute("begin isolation level repeatable read");
  user_.Execute("select count(*) from tenure.messages");
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(a_.Ack(b_.ClaimOne("t")), ReportOutcome::kDone);
    b_.Enqueue("t");
    clock().Advance(100);
  }
  user_.Execute("commit");
  EXPECT_EQ(a_.Claim("t").size(), 1u);
}

}  // namespace
}  // namespace tenure::messages
