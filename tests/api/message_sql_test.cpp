// tenure.enqueue, tenure.enqueue_bytes and tenure.acknowledge by plain SQL (spec 30, Outbox).
#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>

#include "api/message_calls.hpp"
#include "api/sql_session.hpp"
#include "api/store_under_test.hpp"

namespace tenure::api {
namespace {

using support::Json;

std::filesystem::path NodeFolder() {
  const char* source = std::getenv("TENURE_SOURCE_DIR");
  return std::filesystem::path(source != nullptr ? source : ".") / "tests" / "node";
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
  const Json message = topic_.Claim().Json()["messages"][0];
  EXPECT_EQ(message["payload"]["n"].Int(), 1);
  EXPECT_EQ(message["priority"].Int(), 1);
  EXPECT_EQ(message["correlation_id"].Text(), "c");
  EXPECT_EQ(message["traceparent"].Text(), traceparent);
  EXPECT_EQ(database_.Execute(Enqueue(", dedup_key => 'k'")), message["id"].Text());
  const std::string later = database_.Execute(Enqueue(", due_at => now() + interval '1 hour'"));
  EXPECT_EQ(topic_.Look(later)["state"].Text(), "waiting");
}

TEST_F(MessageSql, Bytes) {
  database_.Execute("select tenure.enqueue_bytes('" + topic_.name() + "', '\\x00ff10')");
  EXPECT_EQ(topic_.Claim().Json()["messages"][0]["payload_base64"].Text(), "AP8Q");
}

TEST_F(MessageSql, WrongArgumentsAreRefused) {
  for (const char* wrong :
       {"null, '1'", "'', '1'", "repeat('t', 256), '1'", "'t', '1', priority => 10",
        "'t', '1', priority => -1", "'t', '1', headers => '[]'",
        "'t', '1', correlation_id => repeat('c', 256)", "'t', '1', dedup_key => repeat('d', 256)"})
    EXPECT_EQ(database_.RefusalOf(std::string("select tenure.enqueue(") + wrong + ")"), "22023")
        << wrong;
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
  const Claimed first = topic_.Take();
  EXPECT_EQ(database_.RefusalOf(Acknowledge(first, ", tenant => 'another'")), "TN001");
  topic_.Report("abandon", first, R"(,"started":false)");
  EXPECT_EQ(database_.RefusalOf(Acknowledge(first)), "TN001") << "nobody has it";
  const Claimed second = topic_.Take();
  EXPECT_EQ(database_.RefusalOf(Acknowledge(first)), "TN001") << "somebody else has it";
  EXPECT_EQ(database_.RefusalOf(Acknowledge(second)), "");
  EXPECT_EQ(database_.RefusalOf(Acknowledge(second)), "TN001") << "it is done";
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
  EXPECT_EQ(database.RefusalOf(Acknowledge(topic.Take(R"(,"max":1)"))), "");
  for (const char* table : {"messages", "topics", "dead_letters", "message_claims"})
    EXPECT_EQ(database.RefusalOf(std::string("select * from tenure.") + table), "42501") << table;
  EXPECT_EQ(database.RefusalOf("select tenure.put_message('default', 't', '1', 0, null, 5, null, "
                               "null, null)"),
            "42501");
}

/// Runs tests/node/outbox.mjs.
Json RunNode(const std::string& action, const std::string& url, const std::string& asked) {
  return Json::Parse(support::RunCommand(
      {.argv = {"node", (NodeFolder() / "outbox.mjs").string(), action, url, asked}}));
}

TEST_F(MessageSql, AnotherClientLibraryEnqueuesAndAcknowledges) {
  if (!std::filesystem::exists(NodeFolder() / "node_modules" / "pg"))
    GTEST_SKIP() << "npm ci was not run in tests/node; ./test does it";
  const std::string url = SharedStore(Engine::kPostgres).url();
  const Json sent = RunNode("enqueue", url, R"({"topic":")" + topic_.name() + "\"}");
  EXPECT_EQ(api_.Get("/api/v1/messages/" + sent["lost"].Text()).status, 404) << "M1";
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

}  // namespace
}  // namespace tenure::api
