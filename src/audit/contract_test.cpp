// The audit on every store: an act and its entry are one, and nobody changes what is there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <sqlite3.h>

#include "audit/audit.hpp"
#include "audit/recorder.hpp"
#include "audit/store_command.hpp"
#include "audit_sql/queries.hpp"
#include "db/idempotency.hpp"
#include "db/maintenance.hpp"
#include "store/process.hpp"

namespace tenure::audit {
namespace {

using store::EngineKind;
using testing::ElementsAre;
using testing::HasSubstr;

const auto* const every_query_runs =
    testing::AddGlobalTestEnvironment(new store::EveryQueryRuns(sql::All()));

base::Actor Ada(std::string act = "lease.break") {
  return {.act = std::move(act),
          .tenant = "acme",
          .person = "ada",
          .address = "192.0.2.7",
          .request_id = "r-1"};
}
base::Caller ActingAs(base::Actor actor) {
  base::Caller caller;
  caller.actor = std::make_shared<const base::Actor>(std::move(actor));
  return caller;
}
db::AuditEvent On(std::string object) { return {std::move(object), R"({"reason":"stuck"})"}; }

class AuditProcess final : public store::Process {
 public:
  explicit AuditProcess(store::TestStore& test_store)
      : Process(test_store),
        recorder_(test_store.metrics()),
        audit_(store(), test_store.clock(), test_store.metrics()) {
    store().SetRecorder(recorder_);
  }

  /// Runs the lanes until it is answered; empty when it was not.
  template <class Reply, class Ask>
  std::optional<db::Result<Reply>> Answered(Ask ask) {
    std::optional<db::Result<Reply>> answer;
    ask([&](db::Result<Reply> result) { answer = std::move(result); });
    store::Drive(store());
    return answer;
  }
  void Do(base::Actor actor, db::AuditEvent event) {
    Await<NoteReply>(
        [&](auto done) { audit_.Note(std::move(actor), std::move(event), std::move(done)); });
  }
  std::vector<Entry> List(ListRequest request = {}) {
    return Call(audit_, &Audit::List, std::move(request)).rows;
  }
  std::vector<std::string> Objects(ListRequest request = {}) {
    std::vector<std::string> objects;
    for (const Entry& entry : List(std::move(request))) objects.push_back(entry.object);
    return objects;
  }
  db::Swept Forget(std::int64_t retention_ms) {
    return Call(audit_, &Audit::ForgetSome, {retention_ms});
  }
  /// Under an idempotency key: what it changes besides is the answer that is kept.
  using OnceReply = base::IdempotentReply<NoteReply>;
  std::optional<db::Result<OnceReply>> DoOnce(const std::string& key, const std::string& body) {
    return Answered<OnceReply>([&](auto done) {
      store().Submit(once_, ActingAs(Ada()), {{On(key)}, {key, body}}, std::move(done));
    });
  }

  Audit& audit() { return audit_; }

 private:
  Recorder recorder_;
  Audit audit_;
  db::WriteFunction<WriteNotes> note_{"audit.note", db::LaneName::Shared(0)};
  db::IdempotentHandler<NoteRequest, NoteReply> once_{
      "audit.note_once", note_,
      [](const NoteReply&) { return std::optional<base::StoredAnswer>({.status = 200}); },
      db::LaneName::UserKeys()};
};

class AuditContract : public testing::TestWithParam<EngineKind> {
 protected:
  base::ManualClock& clock() { return store_.clock(); }
  std::int64_t Count(const std::string& table) {
    return store_.Number("select count(*) from " + table, "select count(*) from tenure." + table);
  }
  /// What the store says against a statement, past all of Tenure's code; empty when it is done.
  std::string Complaint(const std::string& statement) {
    if (!store_.is_sqlite()) {
      PGconn* const connection = PQconnectdb(store_.url().c_str());
      PQclear(PQexec(connection, "set search_path = tenure"));
      PGresult* const result = PQexec(connection, statement.c_str());
      const std::string said = PQresultErrorMessage(result);
      PQclear(result);
      PQfinish(connection);
      return said;
    }
    sqlite3* database = nullptr;
    sqlite3_open(store_.file().c_str(), &database);
    char* error = nullptr;
    sqlite3_exec(database, statement.c_str(), nullptr, nullptr, &error);
    const std::string said = error ? error : "";
    sqlite3_free(error);
    sqlite3_close(database);
    return said;
  }

  store::TestStore store_{GetParam(), sql::All()};
  AuditProcess process_{store_};
};

INSTANTIATE_TEST_SUITE_P(Stores, AuditContract,
                         testing::Values(EngineKind::kSqlite, EngineKind::kPostgres,
                                         EngineKind::kPooledPostgres),
                         store::EngineName);

TEST_P(AuditContract, AnEntryHasAllThatIsKnown) {
  process_.Do(Ada(), On("nightly"));
  const auto entries = process_.List();
  ASSERT_EQ(entries.size(), 1U);
  const Entry& entry = entries.front();
  EXPECT_GE(entry.sequence, 1);
  EXPECT_EQ(entry.at_ms, clock().WallMs());
  EXPECT_EQ(entry.tenant, "acme");
  EXPECT_EQ(entry.person, "ada");
  EXPECT_EQ(entry.address, "192.0.2.7");
  EXPECT_EQ(entry.request_id, "r-1");
  EXPECT_EQ(entry.act, "lease.break");
  EXPECT_EQ(entry.object, "nightly");
  EXPECT_EQ(entry.detail, R"({"reason":"stuck"})");
  EXPECT_THAT(store_.metrics().Text(),
              HasSubstr(R"(tenure_audit_entries_total{act="lease.break"} 1)"));
}

TEST_P(AuditContract, TheActsOfABatchAreOneStatement) {
  for (const char* object : {"a", "b", "c"})
    process_.audit().Note(Ada(), On(object), [](const auto&) {});
  store::Drive(process_.store());
  EXPECT_THAT(process_.Objects(), ElementsAre("c", "b", "a"));
  EXPECT_LE(store_.Executions("audit.add_entries"), store_.is_sqlite() ? 3U : 1U);
}

TEST_P(AuditContract, WhatIsDoneForNobodyIsNotOnRecord) {
  db::ForgetAnswersHandler forget;
  process_.Answered<db::Swept>(
      [&](auto done) { process_.store().Submit(forget, nullptr, {}, std::move(done)); });
  EXPECT_EQ(store_.Executions("audit.add_entries"), 0U) << "not even an empty statement";
}

TEST_P(AuditContract, ARepeatedRequestLeavesOneEntry) {
  const auto is = [&]<class What>(const std::string& body, What) {
    return std::holds_alternative<What>(process_.DoOnce("k", body)->value());
  };
  EXPECT_TRUE(is("body", NoteReply()));
  EXPECT_TRUE(is("body", base::StoredAnswer())) << "answered from memory";
  EXPECT_TRUE(is("other", base::KeyOfAnotherRequest()));
  EXPECT_THAT(process_.Objects(), ElementsAre("k"));
}

/// A process that dies at the n-th step of its transaction.
class Dying final : public db::StepHook {
 public:
  struct Death {};
  explicit Dying(int step) : left_(step) {}
  void Before(std::string_view) override { Step(); }
  void After(std::string_view step) override {
    if (step != "commit") Step();  // after that it is done
  }
  bool died() const { return died_; }

 private:
  void Step() {
    if (left_-- > 0) return;
    died_ = true;
    throw Death();
  }
  int left_;
  bool died_ = false;
};

TEST_P(AuditContract, WhereverAProcessDiesThereIsNoActWithoutItsEntryAndNoEntryWithoutItsAct) {
  db::Connection& connection = process_.store().KeyLane().connection();
  int deaths = 0;
  for (bool died = true; died; ++deaths) {
    Dying hook(deaths);
    connection.SetHook(&hook);
    try {
      process_.DoOnce("k", "body");
    } catch (const Dying::Death&) {
      EXPECT_TRUE(hook.died());
    }
    died = hook.died();
    connection.SetHook(nullptr);
    connection.Close();  // the next one is another process
    EXPECT_EQ(Count("audit"), Count("answers")) << "after " << deaths << " steps";
    EXPECT_EQ(Count("audit"), died ? 0 : 1);
  }
  EXPECT_GT(deaths, 8) << "begin, claim, read, clock, keep, record, commit";
}

/// The reply to the commit is lost.
class LosesReply final : public db::StepHook {
 public:
  void Before(std::string_view) override {}
  void After(std::string_view step) override {
    if (step == "commit") throw base::Fault(base::FaultKind::kOutcomeUnknown, "lost");
  }
};

TEST_P(AuditContract, AfterALostReplyTheRepetitionLeavesNoSecondEntry) {
  LosesReply hook;
  db::Connection& connection = process_.store().KeyLane().connection();
  connection.SetHook(&hook);
  EXPECT_EQ(process_.DoOnce("k", "body")->fault().kind(), base::FaultKind::kOutcomeUnknown);
  connection.SetHook(nullptr);
  EXPECT_TRUE(process_.DoOnce("k", "body")->ok());
  EXPECT_THAT(process_.Objects(), ElementsAre("k"));
}

TEST_P(AuditContract, TheListIsNewestFirstAndGoesOnWhereItEnded) {
  for (int i = 0; i < 5; ++i) {
    process_.Do(Ada(), On(std::to_string(i)));
    if (i % 2 == 1) clock().Advance(1);  // some in the same millisecond
  }
  EXPECT_THAT(process_.Objects(), ElementsAre("4", "3", "2", "1", "0"));
  ListRequest request{.limit = 2};
  std::vector<std::string> all;
  for (int pages = 0; pages < 3; ++pages)
    for (const Entry& entry : process_.List(request)) {
      all.push_back(entry.object);
      request.before = Position{entry.at_ms, entry.sequence};
    }
  EXPECT_THAT(all, ElementsAre("4", "3", "2", "1", "0"));
}

TEST_P(AuditContract, EachFilterAloneAndAllTogether) {
  base::Actor bob = Ada("topic.pause");
  bob.person = "bob";
  base::Actor rival = Ada();
  rival.tenant = "rival";
  process_.Do(Ada(), On("a"));
  process_.Do(bob, On("b"));
  process_.Do(rival, On("c"));
  EXPECT_THAT(process_.Objects({.tenant = "acme"}), ElementsAre("b", "a"));
  EXPECT_THAT(process_.Objects({.person = "ada"}), ElementsAre("c", "a"));
  EXPECT_THAT(process_.Objects({.act = "topic.pause"}), ElementsAre("b"));
  EXPECT_THAT(process_.Objects({.object = "a"}), ElementsAre("a"));
  EXPECT_THAT(process_.Objects({.tenant = "acme", .person = "ada", .act = "lease.break"}),
              ElementsAre("a"));
  EXPECT_THAT(process_.Objects({.tenant = "acme", .act = "lease.break"}), ElementsAre("a"));
  EXPECT_THAT(process_.Objects({.person = "bob", .object = "a"}), ElementsAre());
}

TEST_P(AuditContract, TimesAreHalfOpen) {
  std::vector<std::int64_t> times;
  for (const char* object : {"a", "b", "c"}) {
    times.push_back(clock().WallMs());
    process_.Do(Ada(), On(object));
    clock().Advance(10);
  }
  EXPECT_THAT(process_.Objects({.from_ms = times[1]}), ElementsAre("c", "b"));
  EXPECT_THAT(process_.Objects({.to_ms = times[1]}), ElementsAre("a"));
  EXPECT_THAT(process_.Objects({.from_ms = times[1], .to_ms = times[2]}), ElementsAre("b"));
}

TEST_P(AuditContract, TheStoreRefusesToChangeOrRemove) {
  process_.Do(Ada(), On("a"));
  for (const char* statement :
       {"update audit set person = 'nobody'", "delete from audit",
        "delete from audit where at_ms < 9000000000000000", "delete from audit_bounds"})
    EXPECT_THAT(Complaint(statement), HasSubstr("append-only")) << statement;
  if (store_.is_sqlite()) {
    for (const char* statement :
         {"insert or replace into audit select * from audit",
          "replace into audit select sequence, 0, '', '', '', '', '', '', '' from audit",
          "insert or replace into audit_bounds values (1, 9000000000000000)"})
      EXPECT_THAT(Complaint(statement), HasSubstr("append-only")) << statement;
  } else {
    for (const char* statement :
         {"truncate audit", "truncate audit_bounds", "update audit set at_ms = 0 where false"})
      EXPECT_THAT(Complaint(statement), HasSubstr("append-only")) << statement;
  }
  EXPECT_THAT(process_.Objects(), ElementsAre("a"));
}

TEST_P(AuditContract, TheRetentionRemovesWhatIsOldAndTheBoundTellsSinceWhenAllIsThere) {
  process_.Do(Ada(), On("old"));
  clock().Advance(1'000);
  process_.Do(Ada(), On("young"));
  clock().Advance(1'000);
  EXPECT_EQ(process_.Forget(10'000).rows, 0);
  const db::Swept reply = process_.Forget(1'500);
  EXPECT_EQ(reply.rows, 1);
  EXPECT_FALSE(reply.has_more);
  EXPECT_THAT(process_.Objects(), ElementsAre("young"));
  EXPECT_EQ(store_.Number("select kept_from_ms from audit_bounds",
                          "select kept_from_ms from tenure.audit_bounds"),
            clock().WallMs() - 1'500);
  EXPECT_THAT(Complaint("update audit_bounds set kept_from_ms = 0"), HasSubstr("only rises"));
  EXPECT_THAT(Complaint("delete from audit"), HasSubstr("append-only")) << "the young one";
}

TEST_P(AuditContract, ARemovedNumberIsNotGivenAgain) {
  process_.Do(Ada(), On("a"));
  const std::int64_t first = process_.List().front().sequence;
  clock().Advance(10);
  EXPECT_EQ(process_.Forget(5).rows, 1);
  process_.Do(Ada(), On("b"));
  EXPECT_GT(process_.List().front().sequence, first);
}

TEST_P(AuditContract, CommandsOnTheStoreAreOnRecordWithTheSystemsUser) {
  db::Engine& engine = process_.store().engine();
  db::NewIncarnation(engine, {}, [](db::Maintenance& maintenance, std::int64_t incarnation) {
    RecordStoreCommand(maintenance, "store.new_incarnation",
                       {"", R"({"incarnation":)" + std::to_string(incarnation) + "}"});
  });
  const auto entries = process_.List();
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].act, "store.new_incarnation");
  EXPECT_EQ(entries[0].tenant, "");
  EXPECT_EQ(entries[0].person, SystemUser());
  EXPECT_NE(entries[0].address, "");
  EXPECT_EQ(entries[0].detail, R"({"incarnation":2})");
}

TEST_P(AuditContract, ACommandThatFailsLeavesNoEntry) {
  db::Engine& engine = process_.store().engine();
  const std::int64_t before = db::ReadIdentity(engine).incarnation;
  EXPECT_THROW(
      db::NewIncarnation(engine, {},
                         [](db::Maintenance& maintenance, std::int64_t) {
                           RecordStoreCommand(maintenance, "store.new_incarnation", {"", "{}"});
                           throw base::Fault(base::FaultKind::kStatement, "no");
                         }),
      base::Fault);
  EXPECT_EQ(db::ReadIdentity(engine).incarnation, before);
  EXPECT_EQ(Count("audit"), 0);
}

TEST(AuditEntry, ACursorIsReadAsItIsWritten) {
  EXPECT_EQ(ParsePosition(ToText(Position{1'766'311'200'000, 42})),
            (Position{1'766'311'200'000, 42}));
  for (const char* bad : {"", "1", "-", "1-", "-1", "1-2-3", "a-b", "1- 2", "--1"})
    EXPECT_EQ(ParsePosition(bad), std::nullopt) << bad;
}

}  // namespace
}  // namespace tenure::audit
