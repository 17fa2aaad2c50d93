// Tenure's functions by plain SQL, in a user's own transaction (docs/leases.md, docs/messages.md):
// tenure.check_fence, tenure.enqueue, tenure.enqueue_bytes and tenure.acknowledge.
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/calls.hpp"
#include "api/store_under_test.hpp"

namespace tenure::api {
namespace {

using support::HttpResponse;
using support::Json;

class LeaseGuard : public testing::Test {
 protected:
  static std::string Check(const Lease& lease, const std::string& more = "") {
    return "select tenure.check_fence('" + lease.name() + "', " + std::to_string(lease.fence()) +
           more + ")";
  }
  static void ExpectGuarded(const HttpResponse& response) {
    EXPECT_EQ(response.status, 409) << response.body;
    EXPECT_EQ(ProblemType(response), "lease-held");
    EXPECT_EQ(response.Json()["reason"].Text(), "guarded");
  }
  void AwaitExpiry() {
    Eventually("its time is over", [&] { return lease_.Look()["state"].Text() == "free"; });
  }
  std::int64_t IdleTimeoutMs() {
    return std::stoll(database_.Execute(
        "select setting from pg_settings where name = 'idle_in_transaction_session_timeout'"));
  }

  Api api_{SharedServer(Engine::kPostgres)};
  SqlSession database_{SharedStore(Engine::kPostgres).url()};
  Lease lease_{api_};
};

TEST_F(LeaseGuard, TheLiveFencePasses) {
  lease_.Acquire();
  EXPECT_EQ(database_.RefusalOf(Check(lease_)), "");
  EXPECT_EQ(database_.RefusalOf(Check(lease_, ", 'default'")), "");
  lease_.Renew();
  EXPECT_EQ(database_.RefusalOf(Check(lease_)), "") << "a renewal does not change it";
}

TEST_F(LeaseGuard, AnyOtherFenceRaisesTN001) {
  EXPECT_EQ(database_.RefusalOf("select tenure.check_fence('nobody/knows', 1)"), "TN001");
  lease_.Acquire();
  EXPECT_EQ(database_.RefusalOf(Check(lease_, ", 'another-tenant'")), "TN001");
  EXPECT_EQ(database_.RefusalOf("select tenure.check_fence('" + lease_.name() + "', " +
                                std::to_string(lease_.fence() + 1) + ")"),
            "TN001");
  EXPECT_EQ(database_.RefusalOf("select tenure.check_fence(null, null)"), "TN001");
}

TEST_F(LeaseGuard, AReleasedABrokenAndATakenOverFenceRaiseTN001) {
  lease_.Acquire();
  const Lease old = lease_;
  lease_.Release();
  EXPECT_EQ(database_.RefusalOf(Check(old)), "TN001") << "released";
  lease_.Acquire();
  EXPECT_EQ(database_.RefusalOf(Check(old)), "TN001") << "taken over";
  lease_.Break(R"(,"force":true)");
  EXPECT_EQ(database_.RefusalOf(Check(lease_)), "TN001") << "broken";
}

TEST_F(LeaseGuard, AnExpiredFenceRaisesTN001AlsoWhileNobodyElseTookIt) {
  lease_.Acquire({.ttl_ms = 100});
  AwaitExpiry();
  EXPECT_EQ(database_.RefusalOf(Check(lease_)), "TN001");
}

TEST_F(LeaseGuard, ASnapshotFromBeforeATakeoverIsRefusedAndOneFromBeforeARenewalPasses) {
  lease_.Acquire();
  const Lease old = lease_;
  database_.Execute("begin isolation level repeatable read");
  database_.Execute("select count(*) from tenure.leases");  // the snapshot is taken
  lease_.Renew();
  EXPECT_EQ(database_.RefusalOf(Check(old)), "");
  database_.Execute("rollback");
  database_.Execute("begin isolation level repeatable read");
  database_.Execute("select count(*) from tenure.leases");
  lease_.Release();
  lease_.Acquire();
  EXPECT_EQ(database_.RefusalOf(Check(old)), "40001") << "it cannot be serialized after that";
  database_.Execute("rollback");
}

TEST_F(LeaseGuard, ARenewalDoesNotWaitForAnOpenGuard) {
  lease_.Acquire();
  database_.Execute("begin");
  database_.Execute(Check(lease_));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(lease_.Renew().status, 200);
  database_.Execute("commit");
}

TEST_F(LeaseGuard, ATakeoverIsHeldOffUntilTheGuardsTransactionEnds) {
  lease_.Acquire({.ttl_ms = 1'000});
  database_.Execute("begin");
  database_.Execute(Check(lease_));
  // It works on: only who stands idle is ended.
  database_.Execute("set local idle_in_transaction_session_timeout = 0");
  AwaitExpiry();
  ExpectGuarded(Lease(lease_).Acquire());
  WaitingAcquire waiting(api_, lease_, {.holder = "next", .wait_ms = 60'000});
  AwaitLine(lease_, 1);
  database_.Execute("commit");
  EXPECT_EQ(waiting.Answer().Json()["holder"].Text(), "next");
}

/// What commands say of the lease while it is guarded by `pid`.
void ExpectTold(const Lease& lease, const std::string& server, const std::string& guard) {
  const auto told = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"--server", server});
    const auto ran = RunTenure(words);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    return ran.out;
  };
  EXPECT_THAT(told({"why", "lease", lease.name()}), testing::HasSubstr(guard));
  EXPECT_THAT(told({"why", "lease", lease.name()}), testing::Not(testing::HasSubstr("is free")));
  EXPECT_THAT(told({"lease", "show", lease.name()}), testing::HasSubstr("state     guarded\n"));
  EXPECT_THAT(told({"lease", "show", lease.name()}), testing::HasSubstr("guard     " + guard));
  EXPECT_THAT(told({"lease", "list", "--prefix", lease.name()}),
              testing::ContainsRegex(" +guarded "));
}

TEST_F(LeaseGuard, WhyShowAndListNameTheTransactionThatHoldsItOff) {
  const std::string server = "http://127.0.0.1:" + std::to_string(api_.port());
  const std::string process =
      "process " + database_.Execute("select pg_backend_pid()") + " of user postgres, begun ";
  // In the transaction itself, in a subtransaction, and in one that was released.
  for (const auto& [before, after] : {std::pair{"", ""}, std::pair{"savepoint s", ""},
                                      std::pair{"savepoint s", "release savepoint s"}}) {
    Lease lease(api_);
    lease.Acquire({.ttl_ms = 500});
    database_.Execute("begin");
    if (*before) database_.Execute(before);
    database_.Execute(Check(lease));
    database_.Execute("set local idle_in_transaction_session_timeout = 0");
    if (*after) database_.Execute(after);
    Eventually("its time is over", [&] { return lease.Look()["state"].Text() == "free"; });
    ExpectGuarded(Lease(lease).Acquire());
    ExpectTold(lease, server, process);
    database_.Execute("commit");
    EXPECT_FALSE(lease.Look().Has("guard"));
  }
}

TEST_F(LeaseGuard, ABreakIsHeldOffToo) {
  lease_.Acquire();
  database_.Execute("begin");
  database_.Execute(Check(lease_));
  ExpectGuarded(lease_.Break());
  ExpectGuarded(lease_.Break(R"(,"force":true)"));
  const support::HttpHeaders once{{"Idempotency-Key", NewUuid()}};
  ExpectGuarded(lease_.Break(R"(,"force":true)", once));
  EXPECT_EQ(lease_.Renew().status, 200) << "nothing of it happened";
  database_.Execute("rollback");
  EXPECT_TRUE(lease_.Break(R"(,"force":true)", once).Json()["broken"].Bool())
      << "a refusal that passes is not kept under the key";
}

TEST_F(LeaseGuard, AGuardMayStandIdleNoLongerThanItsGrantLasts) {
  lease_.Acquire({.ttl_ms = 60'000});
  database_.Execute("begin");
  database_.Execute(Check(lease_));
  EXPECT_GT(IdleTimeoutMs(), 0);
  EXPECT_LE(IdleTimeoutMs(), 60'000);
  database_.Execute("commit");
  EXPECT_EQ(IdleTimeoutMs(), 0) << "for this transaction only";

  database_.Execute("set idle_in_transaction_session_timeout = 7000");
  database_.Execute("begin");
  database_.Execute(Check(lease_));
  EXPECT_EQ(IdleTimeoutMs(), 7'000) << "a stricter one stays";
  database_.Execute("commit");
}

TEST_F(LeaseGuard, AForgottenGuardEndsByItself) {
  lease_.Acquire({.ttl_ms = 500});
  database_.Execute("begin");
  database_.Execute(Check(lease_));
  Eventually("somebody else gets it", [&] { return Lease(lease_).Acquire().status == 200; });
  EXPECT_THROW(database_.Execute("select 1"), std::runtime_error);
}

TEST_F(LeaseGuard, OnlyTheRoleForApplicationsMayAskAndItSeesNothingElse) {
  EXPECT_EQ(
      database_.Execute("select count(*) from pg_proc p cross join lateral aclexplode(p.proacl) a"
                        " where p.oid = 'tenure.check_fence(text, bigint, text)'::regprocedure and "
                        "a.grantee = 0"),
      "0")
      << "not PUBLIC";
  lease_.Acquire();
  database_.Execute("set role tenure_app");
  EXPECT_EQ(database_.RefusalOf(Check(lease_)), "");
  EXPECT_EQ(database_.RefusalOf("select count(*) from tenure.leases"), "42501");
}

class MessageSql : public testing::Test {
 protected:
  std::string Enqueue(const std::string& more = "") const {
    return "select tenure.enqueue('" + topic_.name() + "', '{\"n\": 1}'" + more + ")";
  }
  static std::string Acknowledge(const Claimed& claimed, const std::string& more = "") {
    return "select tenure.acknowledge('" + claimed.id + "', " + std::to_string(claimed.fence) +
           more + ")";
  }
  std::size_t Ready() const { return topic_.Claim().Json()["messages"].Size(); }
  /// What was sent to a new topic is where it belongs.
  static void AwaitSorted(SqlSession& database) {
    Eventually("everything is sorted in", [&] {
      return database.Execute("select count(*) from tenure.unsorted_messages") == "0";
    });
  }
  void AwaitSorted() { AwaitSorted(database_); }

  Api api_{SharedServer(Engine::kPostgres)};
  SqlSession database_{SharedStore(Engine::kPostgres).url()};
  Topic topic_{api_};
};

TEST_F(MessageSql, M1_WhatIsCommittedIsDeliveredAndWhatIsRolledBackNever) {
  database_.Execute("begin");
  const std::string kept = database_.Execute(Enqueue());
  EXPECT_EQ(api_.Get("/api/v1/messages/" + kept).status, 404) << "not yet";
  database_.Execute("commit");
  database_.Execute("begin");
  const std::string lost = database_.Execute(Enqueue());
  database_.Execute("rollback");
  AwaitSorted();
  const Json claimed = topic_.Claim().Json()["messages"];
  ASSERT_EQ(claimed.Size(), 1U);
  EXPECT_EQ(claimed[0]["id"].Text(), kept);
  EXPECT_EQ(api_.Get("/api/v1/messages/" + lost).status, 404);
}

TEST_F(MessageSql, EverythingThatAMessageMayHave) {
  const std::string traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  database_.Execute(
      Enqueue(", priority => 1, correlation_id => 'c', headers => '{\"traceparent\": \"" +
              traceparent + "\"}', dedup_key => 'k'"));
  AwaitSorted();
  const Json message = topic_.Claim().Json()["messages"][0];
  EXPECT_EQ(message["payload"]["n"].Int(), 1);
  EXPECT_EQ(message["priority"].Int(), 1);
  EXPECT_EQ(message["correlation_id"].Text(), "c");
  EXPECT_EQ(message["traceparent"].Text(), traceparent);
  EXPECT_EQ(database_.Execute(Enqueue(", priority => 1, dedup_key => 'k'")), message["id"].Text());
  const std::string later = database_.Execute(Enqueue(", due_at => now() + interval '1 hour'"));
  AwaitSorted();
  EXPECT_EQ(topic_.Look(later)["state"].Text(), "waiting");
}

TEST_F(MessageSql, Bytes) {
  database_.Execute("select tenure.enqueue_bytes('" + topic_.name() + "', '\\x00ff10')");
  AwaitSorted();
  EXPECT_EQ(topic_.Claim().Json()["messages"][0]["payload_base64"].Text(), "AP8Q");
}

TEST_F(MessageSql, AnOpenTransactionStopsNobodyElse) {
  SqlSession other(SharedStore(Engine::kPostgres).url());
  database_.Execute("begin");
  database_.Execute(Enqueue());
  database_.Execute(Enqueue(", priority => 2"));
  topic_.Send();
  topic_.Send(R"(,"priority":2)");
  EXPECT_EQ(topic_.Change(R"({"max_attempts":7})").status, 200);
  EXPECT_EQ(other.RefusalOf(Enqueue()), "");
  EXPECT_EQ(Ready(), 3U);
  database_.Execute("commit");
  AwaitSorted();
  EXPECT_EQ(Ready(), 2U);
}

TEST_F(MessageSql, OfTwoWithOneKeyOneIsDeliveredAlsoToANewTopic) {
  SqlSession other(SharedStore(Engine::kPostgres).url());
  const Topic unrelated{api_};
  database_.Execute("begin");
  database_.Execute(Enqueue(", dedup_key => 'k'"));
  other.Execute(Enqueue(", dedup_key => 'k'"));
  other.Execute("select tenure.enqueue('" + unrelated.name() + "', '1')");
  Eventually("it is delivered", [&] { return unrelated.Claim().Json()["messages"].Size() == 1; });
  database_.Execute("commit");
  AwaitSorted();
  EXPECT_EQ(Ready(), 1U);
}

TEST_F(MessageSql, WrongArgumentsAreRefused) {
  for (const char* wrong :
       {"null, '1'", "'', '1'", "repeat('t', 256), '1'", "'t', '1', priority => 10",
        "'t', '1', priority => -1", "'t', '1', headers => '[]'",
        "'t', '1', correlation_id => repeat('c', 256)", "'t', '1', dedup_key => repeat('d', 256)",
        "'t', '1', tenant => ''", "'t', '1', tenant => null",
        "'t', '1', tenant => repeat('t', 201)", "'t', '1', tenant => E'a\\nb'",
        "'t', '1', tenant => E'a\\u0085b'",
        "'t', '1', tenant => '00000000-0000-0000-0000-000000000000'",
        "'t', '1', headers => ('{\"a\":' || repeat('[', 32) || repeat(']', 32) || '}')::jsonb",
        "'t', (repeat('[', 32) || repeat(']', 32))::jsonb"})
    EXPECT_EQ(database_.RefusalOf(std::string("select tenure.enqueue(") + wrong + ")"), "22023")
        << wrong;
  for (const char* odd : {"0001-01-01", "infinity", "10000-01-01"})
    EXPECT_EQ(database_.RefusalOf(std::string("select tenure.enqueue('t', '1', due_at => '") + odd +
                                  "')"),
              "22008")
        << odd;
  EXPECT_EQ(database_.RefusalOf("select tenure.enqueue('" + topic_.name() +
                                "', (repeat('[', 31) || '\"[[[\"' || repeat(']', 31))::jsonb)"),
            "");
  EXPECT_EQ(database_.RefusalOf("select tenure.enqueue('t', null)"), "22004");
  EXPECT_EQ(database_.RefusalOf("select tenure.enqueue_bytes('t', null)"), "22004");
  EXPECT_EQ(database_.RefusalOf(
                "select tenure.enqueue_bytes('t', convert_to(repeat('x', 1048577), 'UTF8'))"),
            "54000");
  EXPECT_EQ(database_.RefusalOf("select tenure.enqueue_bytes('" + topic_.name() +
                                "', convert_to(repeat('x', 1048576), 'UTF8'))"),
            "");
}

TEST_F(MessageSql, ThePayloadsLimitIsTheEnsemblesSetting) {
  const StoreUnderTest store(Engine::kPostgres);
  const auto server = store.Serve({"--set", "messages.payload_max=1025B"});
  SqlSession database(store.url());
  EXPECT_EQ(
      database.RefusalOf("select tenure.enqueue_bytes('t', '" + std::string(1'026, 'x') + "')"),
      "54000");
  EXPECT_EQ(
      database.RefusalOf("select tenure.enqueue_bytes('t', '" + std::string(1'025, 'x') + "')"),
      "");
}

TEST_F(MessageSql, AnAcknowledgementIsPartOfTheTransaction) {
  database_.Execute(Enqueue());
  AwaitSorted();
  const Claimed claimed = topic_.Take();
  database_.Execute("begin");
  database_.Execute(Acknowledge(claimed));
  database_.Execute("rollback");
  EXPECT_EQ(topic_.Look(claimed.id)["state"].Text(), "claimed");
  database_.Execute("begin");
  database_.Execute(Acknowledge(claimed));
  database_.Execute("commit");
  EXPECT_EQ(api_.Get("/api/v1/messages/" + claimed.id).status, 404);
}

TEST_F(MessageSql, M2_AStaleAcknowledgementRaisesTN001) {
  database_.Execute(Enqueue());
  AwaitSorted();
  const Claimed first = topic_.Take();
  EXPECT_EQ(database_.RefusalOf(Acknowledge(first, ", tenant => 'another'")), "TN001");
  topic_.Report("abandon", first, R"(,"started":false)");
  EXPECT_EQ(database_.RefusalOf(Acknowledge(first)), "TN001") << "nobody has it";
  const Claimed second = topic_.Take();
  EXPECT_EQ(database_.RefusalOf(Acknowledge(first)), "TN001") << "somebody else has it";
  EXPECT_EQ(database_.RefusalOf(Acknowledge(second)), "");
  EXPECT_EQ(database_.RefusalOf(Acknowledge(second)), "TN001") << "it is done";
}

TEST_F(MessageSql, WhatGoesWithAnAcknowledgementIsBounded) {
  database_.Execute(Enqueue());
  AwaitSorted();
  const Claimed claimed = topic_.Take();
  const std::string deep = "(repeat('[', 32) || repeat(']', 32))::jsonb";
  EXPECT_EQ(database_.RefusalOf(Acknowledge(claimed, ", " + deep)), "22023");
  EXPECT_EQ(database_.RefusalOf(Acknowledge(claimed, ", to_jsonb(repeat('x', 65536))")), "22001");
  for (const char* tenant : {"''", "null", "E'a\\x7f'", "'00000000-0000-0000-0000-000000000000'"}) {
    const std::string of = std::string(", tenant => ") + tenant;
    EXPECT_EQ(database_.RefusalOf(Acknowledge(claimed, of)), "22023") << tenant;
    EXPECT_EQ(database_.RefusalOf("select tenure.check_fence('a', 1" + of + ")"), "22023");
    EXPECT_EQ(database_.RefusalOf("select tenure.inbox_complete('s', 'm', 1" + of + ")"), "22023");
  }
  EXPECT_EQ(database_.RefusalOf(Acknowledge(claimed)), "");
}

TEST_F(MessageSql, A1_ATenantThatIsAUuidHasOneSpelling) {
  const std::string id =
      database_.Execute(Enqueue(", tenant => 'ABCDEF00-0000-4000-8000-00000000ABCD'"));
  Eventually("it is sorted", [&] {
    return database_.Execute(
               "select t.tenant from tenure.messages m join tenure.topics t using "
               "(topic_id) where m.id = '" +
               id + "'") == "abcdef00-0000-4000-8000-00000000abcd";
  });
}

TEST_F(MessageSql, A1_AnotherTenantsMessageIsNotThere) {
  const std::string id = database_.Execute(Enqueue(", tenant => 'another'"));
  EXPECT_EQ(Ready(), 0U);
  EXPECT_EQ(api_.Get("/api/v1/messages/" + id).status, 404);
  EXPECT_EQ(api_.Get("/api/v1/timers/" + id).status, 404);
  EXPECT_EQ(api_.Call("DELETE", "/api/v1/timers/" + id).status, 404);
  for (const char* action : {"ack", "extend", "abandon", "fail"})
    EXPECT_EQ(OutcomeOf(topic_.Report(action, {id, 1})), "gone") << action;
  EXPECT_EQ(api_.Get(topic_.Path()).status, 404);
}

TEST_F(MessageSql, TheApplicationsRoleMayCallTheFunctionsAndTouchNoTable) {
  support::PostgresCluster cluster;
  const StoreUnderTest store(Engine::kPostgres, &cluster);
  SqlSession database(store.url());
  database.Execute("create role tenure_app");
  const auto server = store.Serve();
  const Topic topic{Api(*server)};
  database.Execute("set role tenure_app");
  EXPECT_EQ(database.RefusalOf("select tenure.enqueue('" + topic.name() + "', '1')"), "");
  EXPECT_EQ(database.RefusalOf("select tenure.enqueue_bytes('" + topic.name() + "', '1')"), "");
  database.Execute("reset role");
  AwaitSorted(database);
  database.Execute("set role tenure_app");
  EXPECT_EQ(database.RefusalOf(Acknowledge(topic.Take(R"(,"max":1)"))), "");
  for (const char* table : {"messages", "topics", "dead_letters", "message_claims"})
    EXPECT_EQ(database.RefusalOf(std::string("select * from tenure.") + table), "42501") << table;
  EXPECT_EQ(database.RefusalOf("select tenure.put_message('default', 't', '1', 0, null, 5, null, "
                               "null, null)"),
            "42501");
}

/// A database that was set up while nobody had made the role, on a cluster of its own.
class Rights : public testing::Test {
 protected:
  Rights() {
    EXPECT_EQ(Migrate().exit_code, 0);
    database_.Execute("drop owned by tenure_app");
    database_.Execute("drop role tenure_app");
  }
  ProgramResult Migrate(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"migrate", "--store", store_.url()});
    return RunTenure(std::move(more));
  }
  /// How many of the functions for users it may call, and how many there are.
  std::string MayCall(const std::string& role) {
    return database_.Execute("select count(*) filter (where has_function_privilege('" + role +
                             "', p.oid, 'execute') and has_schema_privilege('" + role +
                             "', 'tenure', 'usage')) || ' of ' || count(*) from pg_proc p "
                             "where p.pronamespace = 'tenure'::regnamespace and p.prosecdef "
                             "and p.prorettype <> 'trigger'::regtype");
  }
  std::string All() {
    const std::string count = database_.Execute(
        "select count(*) from pg_proc where pronamespace = 'tenure'::regnamespace and prosecdef "
        "and prorettype <> 'trigger'::regtype");
    return count + " of " + count;
  }
  std::string Grants() {
    return database_.Execute("select count(*) from tenure.audit where act = 'store.grant'");
  }

  support::PostgresCluster cluster_;
  const StoreUnderTest store_{Engine::kPostgres, &cluster_};
  SqlSession database_{store_.url()};
};

TEST_F(Rights, ARoleThatIsMadeLaterGetsThemAtTheNextMigrate) {
  EXPECT_THAT(Migrate().err, testing::HasSubstr("there is no role tenure_app"));
  database_.Execute("create role tenure_app");
  EXPECT_THAT(MayCall("tenure_app"), testing::StartsWith("0 of "));
  const ProgramResult granted = Migrate();
  EXPECT_EQ(granted.err, "");
  EXPECT_THAT(granted.out, testing::HasSubstr("Done: grant usage on schema tenure to tenure_app"));
  EXPECT_EQ(MayCall("tenure_app"), All()) << "those of each capability";
  EXPECT_EQ(Grants(), "1");
  EXPECT_EQ(Migrate().out, "The schema is up to date.\n");
  EXPECT_EQ(Grants(), "1") << "what is there is not given again";
  database_.Execute("set role tenure_app");
  EXPECT_EQ(database_.RefusalOf("select tenure.enqueue('t', '1')"), "");
  EXPECT_EQ(database_.RefusalOf("select * from tenure.messages"), "42501");
}

TEST_F(Rights, OrWhenAServerStarts) {
  database_.Execute("create role tenure_app");
  store_.Serve();
  EXPECT_EQ(MayCall("tenure_app"), All());
  EXPECT_EQ(Grants(), "1");
}

TEST_F(Rights, AreGivenToARoleThatIsNamed) {
  database_.Execute("create role \"the shop\"");
  EXPECT_EQ(Migrate({"--grant", "the shop"}).exit_code, 0);
  EXPECT_EQ(MayCall("the shop"), All());
  EXPECT_THAT(Migrate({"--grant", "the shop"}).out, testing::HasSubstr("has all rights"));
  EXPECT_EQ(Migrate().err, "") << "somebody has them: no warning";
  const ProgramResult nobody = Migrate({"--grant", "nobody"});
  EXPECT_EQ(nobody.exit_code, 1);
  EXPECT_THAT(nobody.err, testing::HasSubstr("There is no role nobody"));
  EXPECT_EQ(Migrate({"--grant", "the shop", "--dry-run"}).exit_code, 2);
}

/// The rights that docs/operating.md names, and no more: it serves, and says what it cannot give.
TEST_F(Rights, AServerThatDoesNotOwnTheSchemaServesAndSaysWhatIsMissing) {
  database_.Execute("create role poor login; create role tenure_app");
  const std::string url = "postgresql://poor@127.0.0.1:" + std::to_string(cluster_.port()) +
                          store_.url().substr(store_.url().rfind('/'));
  const ProgramResult refused = RunTenure({"serve", "--listen", "127.0.0.1:0", "--store", url});
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_THAT(refused.err, testing::HasSubstr("permission denied for schema tenure"));
  EXPECT_THAT(refused.err, testing::HasSubstr("grant usage on schema tenure to poor"));
  database_.Execute(
      "grant usage on schema tenure to poor; "
      "grant select, insert, update, delete on all tables in schema tenure to poor; "
      "grant usage on all sequences in schema tenure to poor");
  const support::ServerProcess server(support::ServerOptions{.store_url = url});
  EXPECT_THAT(server.Output(), testing::HasSubstr("store.rights_missing"));
  const Topic topic{Api(server)};
  database_.Execute("select tenure.enqueue('" + topic.name() + "', '1')");
  EXPECT_EQ(topic.Claim("").status, 200);
}

TEST(RightsOfTheEmbeddedStore, DoNotExist) {
  const support::TempDir folder;
  const ProgramResult refused =
      RunTenure({"migrate", "--grant", "shop", "--data", folder.path().string()});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, testing::HasSubstr("the embedded store has no roles"));
}

/// Runs tests/node/outbox.mjs.
Json RunNode(const std::string& action, const std::string& url, const std::string& asked) {
  return Json::Parse(support::RunCommand(
      {.argv = {"node", support::SourceDir() / "tests/node/outbox.mjs", action, url, asked}}));
}

TEST_F(MessageSql, AnotherClientLibraryEnqueuesAndAcknowledges) {
  if (!std::filesystem::exists(support::SourceDir() / "tests/node/node_modules/pg"))
    GTEST_SKIP() << "npm ci was not run in tests/node; ./test does it";
  const std::string url = SharedStore(Engine::kPostgres).url();
  const Json sent = RunNode("enqueue", url, R"({"topic":")" + topic_.name() + "\"}");
  EXPECT_EQ(api_.Get("/api/v1/messages/" + sent["lost"].Text()).status, 404) << "M1";
  AwaitSorted();
  const Json messages = topic_.Claim().Json()["messages"];
  ASSERT_EQ(messages.Size(), 2U);
  EXPECT_EQ(messages[0]["id"].Text(), sent["kept"].Text());
  EXPECT_EQ(messages[0]["payload"]["text"].Text(), "ü\"\\");
  EXPECT_EQ(messages[0]["headers"]["a"].Text(), "b");
  EXPECT_EQ(messages[1]["payload_base64"].Text(), "AP8=");
  const Claimed claimed{messages[0]["id"].Text(), messages[0]["fence"].Int()};
  EXPECT_EQ(RunNode("acknowledge", url, claimed.Json())["again"].Text(), "TN001");
  EXPECT_EQ(api_.Get("/api/v1/messages/" + claimed.id).status, 404);
}

TEST(TwoPhaseCommit, ATransactionThatSentSomethingCanBePreparedWhileAConsumerWaits) {
  support::PostgresCluster cluster({.settings = {"max_prepared_transactions=5"}});
  const StoreUnderTest store(Engine::kPostgres, &cluster);
  const auto server = store.Serve();
  const Topic topic{Api(*server)};
  topic.Send();
  topic.Take();  // the topic has its row: what is sent need not be sorted first
  WaitingClaim waiting(topic);
  AwaitWaiting(topic.api(), 1);
  SqlSession user(store.url());
  user.Execute("begin");
  const std::string id = user.Execute("select tenure.enqueue('" + topic.name() + "', '1')");
  EXPECT_EQ(user.RefusalOf("prepare transaction 'x'"), "");
  EXPECT_EQ(user.RefusalOf("commit prepared 'x'"), "");
  EXPECT_EQ(waiting.Answer().Json()["messages"][0]["id"].Text(), id)
      << "nobody was told: it looks by itself";
}

}  // namespace
}  // namespace tenure::api
