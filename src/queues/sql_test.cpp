// Users' own transactions on PostgreSQL: what they send and complete (Q1), and whom they keep waiting.

#include <libpq-fe.h>

#include "queues/contract_fixture.hpp"

namespace tenure::queues {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Outcome = ReportOutcome::Kind;

/// A user of the same database, with a connection of its own.
class SqlUser {
 public:
  explicit SqlUser(const std::string& url) : connection_(PQconnectdb(url.c_str()), PQfinish) {}

  void Ask(const std::string& sql) { EXPECT_EQ(ErrorOf(sql), ""); }
  /// Empty: it went well.
  std::string ErrorOf(const std::string& sql) { return PQresultErrorMessage(Answer(sql).get()); }
  /// Its SQLSTATE, likewise.
  std::string StateOf(const std::string& sql) {
    const Result result = Answer(sql);
    const char* const state = PQresultErrorField(result.get(), PG_DIAG_SQLSTATE);
    return state ? state : "";
  }
  void Send(const std::string& payload) {
    Ask("select tenure.queue_send('q', 'k', '" + payload + "')");
  }

 private:
  using Result = std::unique_ptr<PGresult, void (*)(PGresult*)>;
  Result Answer(const std::string& sql) {
    return {PQexec(connection_.get(), sql.c_str()), PQclear};
  }

  const std::unique_ptr<PGconn, void (*)(PGconn*)> connection_;
};

class SqlQueues : public QueuesContract {
 protected:
  SqlUser Connect() { return SqlUser(store_.url()); }
  std::vector<std::string> Payloads() {
    std::vector<std::string> payloads;
    for (const HeldSession& session : a_.Accept(a_.Ask()).sessions)
      for (const Message& each : session.messages) payloads.push_back(each.payload);
    return payloads;
  }
  static std::string Completing(const HeldSession& held, std::int64_t sequence) {
    return "select tenure.queue_complete('" + held.id.ToString() + "', " +
           std::to_string(held.fence) + ", " + std::to_string(sequence) + ", 'done')";
  }
};
INSTANTIATE_TEST_SUITE_P(Stores, SqlQueues,
                         testing::Values(store::EngineKind::kPostgres,
                                         store::EngineKind::kPooledPostgres),
                         store::EngineName);

TEST_P(SqlQueues, WhatHasNotEnteredIsCounted) {
  a_.Declare();
  SqlUser user = Connect();
  user.Send("1");
  const FiguresReply figures = a_.Call(a_.queues(), &Queues::Count, {});
  ASSERT_EQ(figures.queues.size(), 1u);
  EXPECT_EQ(figures.queues[0].staged, 1);
  const QueuesRequest all{.tenant = "default"};
  EXPECT_EQ(a_.Call(a_.queues(), &Queues::List, all).rows.at(0).staged, 1);
  EXPECT_THAT(Payloads(), ElementsAre("1"));
  EXPECT_EQ(a_.Call(a_.queues(), &Queues::Count, {}).queues.at(0).staged, 0);
}

TEST_P(SqlQueues, Q4_WhatWasSentToAQueueThatIsDroppedIsADeadLetter) {
  a_.Declare();
  SqlUser user = Connect();
  user.Ask("begin");
  user.Send("1");
  user.Send("2");
  a_.Call(a_.queues(), &Queues::Declare, {"default", "q", {{}, "", true}});
  a_.Call(a_.queues(), &Queues::DropSome, {});
  user.Ask("commit");
  EXPECT_EQ(a_.Accept(a_.Ask()).kind, AcceptReply::Kind::kNoQueue);
  a_.Call(a_.queues(), &Queues::Drain, {"default", "q"});
  EXPECT_EQ(a_.Call(a_.queues(), &Queues::FindQueuesToDrain).queues.size(), 0u);
  LettersRequest all;
  all.filter.tenant = "default";
  all.filter.queue = "q";
  const auto letters = a_.Call(a_.queues(), &Queues::ListLetters, all).rows;
  ASSERT_EQ(letters.size(), 2u);
  EXPECT_EQ(letters[0].reason, DeathReason::kDropped);
  EXPECT_EQ(letters[0].place.sequence, 1);
  EXPECT_EQ(letters[1].place.sequence, 2);
  a_.Declare();
  EXPECT_THAT(Payloads(), ElementsAre()) << "they wait for somebody who replays them";
}

TEST_P(SqlQueues, Q1_TheOrderIsThatOfTheCommitsAndARollbackLeavesNothing) {
  a_.Declare();
  SqlUser first = Connect(), second = Connect(), third = Connect();
  for (SqlUser* const user : {&first, &second, &third}) user->Ask("begin");
  first.Send("1");
  third.Send("3");
  second.Send("2");
  EXPECT_THAT(Payloads(), ElementsAre()) << "nothing is committed";
  second.Ask("commit");
  third.Ask("rollback");
  a_.Send("k", "4");
  first.Ask("commit");
  EXPECT_THAT(Payloads(), ElementsAre("2", "4", "1"));
}

TEST_P(SqlQueues, AnOpenTransactionDelaysNobody) {
  a_.Declare();
  SqlUser user = Connect();
  user.Ask("begin");
  user.Send("1");
  a_.Send("k", "2");
  EXPECT_THAT(Payloads(), ElementsAre("2"));
  user.Ask("commit");
}

TEST_P(SqlQueues, ImmediateConstraintsThatWereSaidBeforeDoNoHarm) {
  a_.Declare();
  SqlUser first = Connect(), second = Connect();
  first.Ask("begin");
  first.Ask("set constraints all immediate");
  first.Send("1");
  second.Send("2");
  first.Ask("commit");
  EXPECT_THAT(Payloads(), ElementsAre("2", "1"));
}

/// Its transaction began when the queue had sessions, and commits when it has none any more.
TEST_P(SqlQueues, Q4_WhatIsCommittedAfterTheQueueLostItsOrderGoesToItsTopicOnce) {
  a_.Declare();
  SqlUser user = Connect();
  user.Ask("begin");
  user.Send("1");
  user.Send("2");
  a_.Declare({.scope = Scope::kNone});
  user.Ask("commit");
  TestProcess b(store_, "other");
  for (TestProcess* each : {&a_, &b, &a_})
    each->Call(each->queues(), &Queues::Drain, {"default", "q"});
  EXPECT_EQ(store_.Number("", "select count(*) from tenure.queue_staged"), 0);
  const auto claimed = a_.Await<messages::ClaimReply>([&](auto done) {
    a_.messages().Claim({.tenant = "default", .topics = {"queue:q"}, .max = 10, .owner = "c"},
                        nullptr, std::move(done));
  });
  std::vector<std::string> payloads;
  for (const auto& each : claimed.messages) payloads.push_back(each.payload);
  EXPECT_THAT(payloads, testing::UnorderedElementsAre("1", "2"));
}

TEST_P(SqlQueues, ADedupKeyCountsForBothWaysIn) {
  a_.Declare();
  SqlUser user = Connect();
  user.Ask("select tenure.queue_send('q', 'k', '1', dedup_key => 'once')");
  user.Ask("select tenure.queue_send('q', 'k', '2', dedup_key => 'once')");
  NewMessage message = a_.Of("k", "3");
  message.dedup_key = "once";
  a_.Send({message});
  EXPECT_THAT(Payloads(), ElementsAre("1"));
}

TEST_P(SqlQueues, WhatIsWrongIsRefusedAtTheCallWithItsStateAndNothingIsSent) {
  SqlUser user = Connect();
  EXPECT_THAT(user.ErrorOf("select tenure.queue_send('q', 'k', '1')"), HasSubstr("no queue q"));
  a_.Declare();
  a_.Declare({.scope = Scope::kNone}, "", "plain");
  a_.Declare({.max_bytes = 3}, "", "full");
  a_.Send({a_.Of("k", "123")}, "full");
  a_.Declare({}, "", "draining");
  user.Ask("update tenure.queues set state = 1 where name = 'draining'");
  const std::pair<const char*, const char*> kCalls[] = {
      {"tenure.queue_send('nobody', 'k', '1')", "42704"},
      {"tenure.queue_send('q', null, '1')", "22023"},
      {"tenure.queue_send('q', '', '1')", "22023"},
      {"tenure.queue_send('q', E'a\\nb', '1')", "22023"},
      {"tenure.queue_send('plain', 'k', '1')", "22023"},
      {"tenure.queue_send('q', 'k', null)", "22004"},
      {"tenure.queue_send('q', 'k', '1', headers => '[]')", "22023"},
      {"tenure.queue_send('q', 'k', '1', ttl => '-1 second')", "22023"},
      {"tenure.queue_send('q', 'k', '1', correlation_id => repeat('c', 256))", "22023"},
      {"tenure.queue_send_bytes('q', repeat('k', 201), 'x')", "22023"},
      {"tenure.queue_send('q', U&'a\\009Bb', '1')", "22023"},
      {"tenure.queue_send('q', 'k', '1', share => U&'a\\0085')", "22023"},
      {"tenure.queue_send('q', 'k', '1', tenant => '')", "22023"},
      {"tenure.queue_send('q', 'k', '1', tenant => '00000000-0000-0000-0000-000000000000')",
       "22023"},
      {"tenure.queue_send('q', 'k', '1', headers => (repeat('{\"a\":', 40) || '1' || repeat('}', "
       "40))::jsonb)",
       "22023"},
      {"tenure.queue_send_bytes('q', 'k', decode(repeat('00', 1048577), 'hex'))", "54000"},
      {"tenure.queue_send('q', 'k', '1', headers => jsonb_build_object('x', repeat('x', 16384)))",
       "54000"},
      {"tenure.queue_send('full', 'k', '1')", "53400"},
      {"tenure.queue_send('draining', 'k', '1')", "55000"},
      {"tenure.queue_complete('0190a6b2-7c1e-8000-8000-00000000002a', 1, 1)", "42704"}};
  for (const auto& [call, state] : kCalls)
    EXPECT_EQ(user.StateOf(std::string("select ") + call), state) << call;
  EXPECT_THAT(Payloads(), ElementsAre());
  EXPECT_EQ(store_.Number("", "select count(*) from tenure.queue_staged"), 0);
  EXPECT_EQ(store_.Number("", "select count(*) from tenure.messages"), 0);
}

TEST_P(SqlQueues, ATenantHasOneSpelling) {
  a_.Declare();
  a_.Send("k");
  const HeldSession held = a_.AcceptOne();
  SqlUser user = Connect();
  user.Ask("update tenure.queues set tenant = 'abcdef00-0000-4000-8000-00000000abcd'");
  const std::string tenant = ", tenant => 'ABCDEF00-0000-4000-8000-00000000ABCD')";
  user.Ask("select tenure.queue_send('q', 'k', '2'" + tenant);
  std::string complete = Completing(held, 1);
  complete.pop_back();
  user.Ask(complete + tenant);
  user.Ask("update tenure.queues set tenant = 'default'");
  EXPECT_EQ(store_.Number("",
                          "select count(*) from tenure.queue_staged where tenant = "
                          "'abcdef00-0000-4000-8000-00000000abcd'"),
            1);
  EXPECT_EQ(a_.Tell(a_.Of(Report::Kind::kReceive, held)).row.head, 2) << "it was completed";
}

TEST_P(SqlQueues, CompletingInTheEffectsTransactionIsBothOrNeither) {
  a_.Declare();
  for (int i = 0; i < 3; ++i) a_.Send("k");
  const HeldSession held = a_.AcceptOne();
  SqlUser user = Connect();
  user.Ask("begin");
  user.Ask(Completing(held, 2));
  user.Ask("rollback");
  EXPECT_EQ(a_.Tell(a_.Of(Report::Kind::kReceive, held)).row.head, 1);
  user.Ask(Completing(held, 2));
  EXPECT_THAT(user.ErrorOf(Completing(held, 2)), HasSubstr("completed before"));
  EXPECT_EQ(user.StateOf(Completing(held, 2)), "TN001");
  EXPECT_THAT(user.ErrorOf(Completing(held, 4)), HasSubstr("was not handed out"));
  EXPECT_EQ(user.StateOf(Completing(held, 4)), "22023");
  const ReportOutcome next = a_.Tell(a_.Of(Report::Kind::kReceive, held));
  EXPECT_EQ(next.row.head, 3);
  EXPECT_THAT(Sequences(next.messages), ElementsAre(3));
  EXPECT_EQ(a_.Complete(held, 2).kind, Outcome::kGone);
  a_.Release(held);
  const HeldSession again = a_.AcceptOne();
  EXPECT_EQ(again.state, "done") << "its state came with it";
  EXPECT_THAT(user.ErrorOf(Completing(held, 3)), HasSubstr("another fence"));
  EXPECT_EQ(user.StateOf(Completing(held, 3)), "TN001");
}

TEST_P(SqlQueues, Q1_ATransactionThatCompletesKeepsATakeOverWaitingAndNothingElse) {
  a_.Declare({.max_delivery_count = 0});
  a_.Send("k");
  a_.Send("k");
  const HeldSession held = a_.AcceptOne();
  SqlUser user = Connect();
  user.Ask("begin");
  user.Ask(Completing(held, 1));
  user.Ask("set constraints all immediate");
  EXPECT_EQ(a_.Tell(a_.Of(Report::Kind::kRenew, held)).kind, Outcome::kDone);
  EXPECT_EQ(a_.Send("k").sequence, 3);
  a_.Send("l");
  EXPECT_EQ(a_.AcceptOne("d").key, "l");
  clock().Advance(300'000);
  const AcceptReply passed = a_.Accept(a_.Ask(5, "e"));
  EXPECT_EQ(passed.sessions.size(), 1u) << "l, whose hold is over";
  EXPECT_TRUE(passed.has_left) << "it asks again";
  user.Ask("commit");
  const AcceptReply taken = a_.Accept(a_.Ask(5, "e"));
  ASSERT_EQ(taken.sessions.size(), 1u);
  EXPECT_THAT(Sequences(taken.sessions[0].messages), ElementsAre(2))
      << "1 is done, and 2 was tried before";
}

}  // namespace
}  // namespace tenure::queues
