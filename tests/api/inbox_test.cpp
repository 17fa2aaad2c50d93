// The inbox over HTTP, and tenure.inbox_complete by plain SQL beside it.

#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/store_under_test.hpp"

namespace tenure::api {
namespace {

using support::HttpResponse;
using support::Json;

/// A message that no other test has, delivered to one server.
class Message {
 public:
  explicit Message(const Api& api, std::string id = NewUuid()) : api_(api), id_(std::move(id)) {}

  /// `more`: further fields, ",\"hash\":\"a\"".
  HttpResponse Begin(const std::string& more = "") const { return Post("begin", more); }
  std::string Outcome(const std::string& more = "") const {
    return Begin(more).Json()["outcome"].Text();
  }
  /// Told to process; the fence.
  std::int64_t Claim(const std::string& more = "") const {
    const HttpResponse told = Begin(more);
    EXPECT_EQ(told.status, 200) << told.body;
    EXPECT_EQ(told.Json()["outcome"].Text(), "process") << told.body;
    return told.Json()["fence"].Int();
  }
  HttpResponse Complete(std::int64_t fence, const std::string& more = "") const {
    return Post("complete", ",\"fence\":" + std::to_string(fence) + more);
  }
  HttpResponse Fail(std::int64_t fence, const std::string& error = "no") const {
    return Post("fail", ",\"fence\":" + std::to_string(fence) + ",\"error\":\"" + error + "\"");
  }
  HttpResponse Get() const { return api_.Get("/api/v1/inbox/test/" + id_); }
  HttpResponse Post(const std::string& action, const std::string& more) const {
    return api_.Call("POST", "/api/v1/inbox/" + action,
                     R"({"source":"test","message_id":")" + id_ + "\"" + more + "}");
  }
  /// The call of the SQL function.
  std::string Sql(std::int64_t fence, const std::string& more = "") const {
    return "select tenure.inbox_complete('test', '" + id_ + "', " + std::to_string(fence) + more +
           ")";
  }
  Message SeenBy(const Api& api) const { return Message(api, id_); }

 private:
  Api api_;
  std::string id_;
};

std::string TermOf(const std::string& uuid) { return R"(,"term":")" + uuid + "\""; }

class Inbox : public testing::TestWithParam<Engine> {
 protected:
  Api api_{SharedServer(GetParam())};
  const Message message_{api_};
};

INSTANTIATE_TEST_SUITE_P(Engines, Inbox, EachEngine(), EngineName);

TEST_P(Inbox, AMessageGoesItsWay) {
  const std::string term = TermOf(NewUuid());
  const Json told = message_.Begin(R"(,"hash":"a","lease_ms":600000)" + term).Json();
  EXPECT_EQ(told["outcome"].Text(), "process");
  const std::int64_t fence = told["fence"].Int();
  EXPECT_EQ(message_.Claim(R"(,"hash":"a")" + term), fence) << "the same delivery again";
  const Json other = message_.Begin(R"(,"hash":"a")").Json();
  EXPECT_EQ(other["outcome"].Text(), "in_progress");
  EXPECT_EQ(other["until"].Text(), told["until"].Text());
  EXPECT_FALSE(other["retrying"].Bool());
  const Json conflict = message_.Begin(R"(,"hash":"b")").Json();
  EXPECT_EQ(conflict["outcome"].Text(), "conflict");
  EXPECT_EQ(conflict["hash"].Text(), "a");
  EXPECT_EQ(message_.Get().Json()["state"].Text(), "claimed");

  const std::string result = R"(,"result":{"order":[1,"ü",null]})";
  EXPECT_EQ(message_.Complete(fence, result).Json()["state"].Text(), "done");
  EXPECT_EQ(message_.Complete(fence, result).status, 200) << "a lost answer";
  const Json done = message_.Begin().Json();
  EXPECT_EQ(done["outcome"].Text(), "done");
  EXPECT_EQ(done["result"].Dump(), R"({"order":[1,"ü",null]})");
  EXPECT_EQ(message_.Get().Json()["result"]["order"].Size(), 3u);
}

TEST_P(Inbox, AResultIsAnyJsonOrNone) {
  for (const char* result : {"null", "0", "\"\"", "[]", "false"}) {
    const Message message(api_);
    message.Complete(message.Claim(), std::string(R"(,"result":)") + result);
    EXPECT_EQ(message.Begin().Json()["result"].Dump(), result);
  }
  message_.Complete(message_.Claim());
  EXPECT_FALSE(message_.Begin().Json().Has("result"));
}

TEST_P(Inbox, FailuresWaitAndThenTheMessageIsDead) {
  for (int i = 1; i <= 3; ++i) {
    std::int64_t fence = 0;
    Eventually("the back-off is over", [&] {
      const Json told = message_.Begin().Json();
      if (told["outcome"].Text() != "process") return false;
      fence = told["fence"].Int();
      EXPECT_EQ(told["attempts"].Int(), i - 1);
      return true;
    });
    const Json failed = message_.Fail(fence, "no " + std::to_string(i)).Json();
    EXPECT_EQ(failed["state"].Text(), i < 3 ? "retrying" : "dead");
    EXPECT_EQ(message_.Fail(fence).Json()["attempts"].Int(), i) << "a lost answer";
    const Json next = message_.Begin().Json();
    EXPECT_EQ(next["outcome"].Text(), i < 3 ? "in_progress" : "dead");
    EXPECT_EQ(next.Has("retrying"), i < 3);
  }
  EXPECT_EQ(message_.Begin().Json()["error"].Text(), "no 3");
  EXPECT_EQ(message_.Get().Json()["state"].Text(), "dead");
}

TEST_P(Inbox, I1_AfterACrashTheNextDeliveryIsToldAndTheOldClaimChangesNothing) {
  const std::int64_t zombie = message_.Claim(R"(,"lease_ms":100)");
  Eventually("the lease is over",
             [&] { return message_.Get().Json()["state"].Text() == "lapsed"; });
  const std::int64_t fence = message_.Claim();
  EXPECT_GT(fence, zombie);
  for (const HttpResponse& stale : {message_.Complete(zombie), message_.Fail(zombie)}) {
    EXPECT_EQ(stale.status, 409);
    EXPECT_EQ(ProblemType(stale), "inbox-stale");
    EXPECT_EQ(stale.Json()["fence"].Int(), fence);
    EXPECT_EQ(stale.Json()["state"].Text(), "claimed");
  }
  EXPECT_EQ(message_.Get().Json()["attempts"].Int(), 0);
  EXPECT_EQ(message_.Complete(fence).status, 200);
}

TEST_P(Inbox, WhatIsUnknownIsNotFound) {
  EXPECT_EQ(message_.Complete(1).status, 404);
  EXPECT_EQ(message_.Fail(1).status, 404);
  EXPECT_EQ(message_.Get().status, 404);
}

TEST_P(Inbox, SourcesAndIdsMayHaveAnyCharacter) {
  const std::string id = NewUuid();
  const std::string key = R"("source":"a/b ü","message_id":"%2F/)" + id + "\"";
  EXPECT_EQ(api_.Call("POST", "/api/v1/inbox/begin", "{" + key + "}").Json()["outcome"].Text(),
            "process");
  const Json entry = api_.Get("/api/v1/inbox/a%2Fb%20%C3%BC/%252F%2F" + id).Json();
  EXPECT_EQ(entry["source"].Text(), "a/b ü");
  EXPECT_EQ(entry["message_id"].Text(), "%2F/" + id);
}

TEST_P(Inbox, TheLargestResultIsKept) {
  const std::string result = '"' + std::string(65'534, 'x') + '"';
  EXPECT_EQ(message_.Complete(message_.Claim(), ",\"result\":" + result).status, 200);
  EXPECT_EQ(message_.Begin().Json()["result"].Dump(), result);
}

TEST_P(Inbox, DeliveriesAreCountedByWhatTheyWereTold) {
  const std::int64_t fence = message_.Claim();
  message_.Begin();
  message_.Complete(fence);
  message_.Begin();
  const std::string metrics = api_.Get("/metrics").body;
  for (const char* outcome : {"process", "in_progress", "done"})
    EXPECT_NE(metrics.find("tenure_inbox_begin_total{outcome=\"" + std::string(outcome) + "\"}"),
              std::string::npos);
}

TEST(InboxSettings, RetentionAndTheBudgetAreSettings) {
  const StoreUnderTest store(Engine::kSqlite);
  const auto server = store.Serve({"--set", "inbox.retention=1s", "--set", "inbox.max_attempts=1"});
  const Message message{Api(*server)};
  const std::int64_t fence = message.Claim();
  EXPECT_EQ(message.Fail(fence).Json()["state"].Text(), "dead");
  Eventually("it is forgotten", [&] { return message.Get().status == 404; });
  EXPECT_GT(message.Claim(), fence) << "and no fence comes again";
}

/// tenure.inbox_complete in a user's own transaction.
class InboxInSql : public testing::Test {
 protected:
  void SetUp() override {
    database_.Execute("create table if not exists effects (id text)");
    database_.Execute("truncate effects");
  }
  std::string Effects() { return database_.Execute("select count(*) from effects"); }

  Api api_{SharedServer(Engine::kPostgres)};
  SqlSession database_{SharedStore(Engine::kPostgres).url()};
  const Message message_{api_};
};

TEST_F(InboxInSql, TheEffectAndTheCompletionCommitTogether) {
  const std::int64_t fence = message_.Claim();
  database_.Execute("begin");
  database_.Execute("insert into effects values ('x')");
  database_.Execute(message_.Sql(fence, R"(, '{"paid": true}')"));
  EXPECT_EQ(message_.Outcome(), "in_progress") << "it is not committed, and nobody waits for it";
  const HttpResponse busy = message_.Complete(fence);
  EXPECT_EQ(busy.status, 503);
  EXPECT_EQ(ProblemType(busy), "contended");
  database_.Execute("commit");
  const Json done = message_.Begin().Json();
  EXPECT_EQ(done["outcome"].Text(), "done");
  EXPECT_TRUE(done["result"]["paid"].Bool());
  EXPECT_EQ(Effects(), "1");
}

/// The one block of SQL on the page, as a reader would run it.
std::string SqlOfThePage() {
  const std::string page = support::ReadFile(support::SourceDir() / "docs" / "inbox.md");
  const auto begin = page.find("```sql\n") + 7;
  return page.substr(begin, page.find("```", begin) - begin);
}

TEST(InboxOnPostgres, TheTransactionOfThePageTakesEffectOnce) {
  const StoreUnderTest store(Engine::kPostgres);
  const auto server = store.Serve();
  const Api api(*server);
  SqlSession database(store.url());
  database.Execute("create table payments (order_id int, amount int)");
  const std::string body = R"({"source":"stripe","message_id":"evt_1"})";
  EXPECT_EQ(api.Call("POST", "/api/v1/inbox/begin", body).Json()["fence"].Int(), 1);
  EXPECT_EQ(database.RefusalOf(SqlOfThePage()), "");
  EXPECT_EQ(api.Call("POST", "/api/v1/inbox/begin", body).Json()["result"]["order"].Int(), 7);
  EXPECT_EQ(database.RefusalOf(SqlOfThePage()), "TN002");
  database.RefusalOf("rollback");
  EXPECT_EQ(database.Execute("select count(*) from payments"), "1");
}

TEST_F(InboxInSql, AStaleClaimTakesItsEffectBack) {
  const std::int64_t zombie = message_.Claim(R"(,"lease_ms":100)");
  Eventually("the lease is over",
             [&] { return message_.Get().Json()["state"].Text() == "lapsed"; });
  const std::int64_t fence = message_.Claim();
  database_.Execute("begin");
  database_.Execute("insert into effects values ('zombie')");
  EXPECT_EQ(database_.RefusalOf(message_.Sql(zombie)), "TN002");
  database_.Execute("commit");  // of a failed transaction: a rollback
  EXPECT_EQ(Effects(), "0");
  EXPECT_EQ(database_.RefusalOf(message_.Sql(fence)), "");
}

TEST_F(InboxInSql, ATransactionThatIsRepeatedAfterItsCommitTakesItsEffectBack) {
  const std::int64_t fence = message_.Claim();
  EXPECT_EQ(database_.RefusalOf(message_.Sql(fence)), "");
  EXPECT_EQ(database_.RefusalOf(message_.Sql(fence)), "TN002")
      << "the effect was committed with the first one";
  EXPECT_EQ(message_.Complete(fence).status, 200) << "which changes nothing, and says so";
}

TEST_F(InboxInSql, AnythingElseRaisesTN002) {
  EXPECT_EQ(database_.RefusalOf(message_.Sql(1)), "TN002") << "unknown";
  EXPECT_EQ(database_.RefusalOf("select tenure.inbox_complete(null, null, null)"), "TN002");
  const std::int64_t fence = message_.Claim();
  EXPECT_EQ(database_.RefusalOf(message_.Sql(fence + 1)), "TN002");
  EXPECT_EQ(database_.RefusalOf(message_.Sql(fence, ", null, 'another-tenant'")), "TN002");
  message_.Fail(fence);
  EXPECT_EQ(database_.RefusalOf(message_.Sql(fence)), "TN002") << "failed";
}

TEST_F(InboxInSql, AResultThatIsTooLargeIsRefused) {
  const std::int64_t fence = message_.Claim();
  EXPECT_EQ(database_.RefusalOf(message_.Sql(fence, ", to_jsonb(repeat('x', 65535))")), "22001");
  EXPECT_EQ(database_.RefusalOf(message_.Sql(fence, ", to_jsonb(repeat('x', 65534))")), "");
}

TEST_F(InboxInSql, ASnapshotFromBeforeATakeoverIsRefused) {
  const std::int64_t zombie = message_.Claim(R"(,"lease_ms":100)");
  database_.Execute("begin isolation level repeatable read");
  database_.Execute("select count(*) from effects");  // the snapshot is taken
  Eventually("somebody takes over", [&] { return message_.Outcome() == "process"; });
  EXPECT_EQ(database_.RefusalOf(message_.Sql(zombie)), "40001");
  database_.Execute("rollback");
}

TEST_F(InboxInSql, AForgottenTransactionEndsByItself) {
  const std::int64_t fence = message_.Claim(R"(,"lease_ms":500)");
  database_.Execute("begin");
  database_.Execute(message_.Sql(fence));
  Eventually("somebody else is told", [&] { return message_.Outcome() == "process"; });
  EXPECT_THROW(database_.Execute("select 1"), std::runtime_error);
}

TEST_F(InboxInSql, OnlyTheRoleForApplicationsMayComplete) {
  EXPECT_EQ(database_.Execute(
                "select count(*) from pg_proc p cross join lateral aclexplode(p.proacl) a where "
                "p.oid = 'tenure.inbox_complete(text, text, bigint, jsonb, text)'::regprocedure "
                "and a.grantee = 0"),
            "0")
      << "not PUBLIC";
  const std::int64_t fence = message_.Claim();
  database_.Execute("set role tenure_app");
  EXPECT_EQ(database_.RefusalOf(message_.Sql(fence)), "");
  EXPECT_EQ(database_.RefusalOf("select count(*) from tenure.inbox"), "42501");
}

}  // namespace
}  // namespace tenure::api
