// What ordered queues refuse over HTTP: the exact answer, and that nothing of the queue is otherwise afterwards.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/calls.hpp"
#include "api/store_under_test.hpp"

namespace tenure::api {
namespace {

using support::HttpResponse;
using support::Json;

/// A queue with a session in each state that matters. The key of a session says which.
class QueueRefusals : public testing::TestWithParam<Engine> {
 protected:
  void SetUp() override {
    Configure("");
    for (const char* key : {"ready", "held", "parked", "reserved", "empty"}) Send(key, 3);
    held_ = Accept("held");
    const Json parked = Accept("parked"), reserved = Accept("reserved"), empty = Accept("empty");
    Tell("/abandon", parked, R"(,"sequence":1,"error":"no 1")");
    Post("/transfer", R"({"to":"ben","for_ms":600000,"sessions":[)" + Held(reserved) + "]}");
    Tell("/complete", empty, R"(,"sequence":3)");
  }
  void Configure(const std::string& more) const {
    const HttpResponse applied = api_.Call(
        "PUT", "/api/v1/bots",
        fmt::format(R"({{"sources":[],"bots":[{{"name":"{}","events":[],"ordering_scope":"custom",)"
                    R"("max_delivery_count":1{}}},{{"name":"{}","events":[],)"
                    R"("ordering_scope":"none"}}]}})",
                    name_, more, topic_));
    ASSERT_EQ(applied.status, 200) << applied.body;
  }
  HttpResponse Post(const std::string& action, const std::string& body) const {
    return api_.Call("POST", "/api/v1/queues/" + name_ + action, body);
  }
  void Send(const std::string& key, int count) const {
    for (int i = 1; i <= count; ++i)
      EXPECT_EQ(
          Post("/messages", fmt::format(R"({{"session_key":"{}","payload":{}}})", key, i)).status,
          201);
  }
  Json Accept(const std::string& key) const {
    return Post("/accept", R"({"consumer":"ann","key":")" + key + "\"}").Json()["sessions"][0];
  }
  static std::string Held(const Json& session, const std::string& more = "",
                          std::int64_t fence_more = 0) {
    return fmt::format(R"({{"session":"{}","fence":{}{}}})", session["session"].Text(),
                       session["fence"].Int() + fence_more, more);
  }
  Json Tell(const std::string& action, const Json& session, const std::string& more) const {
    return Post(action, R"({"sessions":[)" + Held(session, more) + "]}").Json()["sessions"][0];
  }
  std::string SessionOf(const std::string& key) const {
    return api_.Get("/api/v1/queues/" + name_ + "/sessions?key=" + key)
        .Json()["items"][0]["session"]
        .Text();
  }

  /// The rows of its sessions, and how many of everything else.
  std::string Stored() const {
    const std::string schema = GetParam() == Engine::kSqlite ? "" : "tenure.";
    const std::string list = GetParam() == Engine::kSqlite ? "group_concat" : "string_agg";
    const auto of_sessions = [&](const std::string& table) {
      return fmt::format(
          "(select count(*) from {}{} t where t.session_id in (select s.session_id from "
          "mine s))",
          schema, table);
    };
    return SharedStore(GetParam())
        .Execute(fmt::format(
            "with mine as (select * from {0}queue_sessions where queue_id = (select queue_id from "
            "{0}queues where name = '{1}')) select (select {2}(line, '; ') from (select key || ' ' "
            "|| "
            "next || ' ' || head || ' ' || fence || ' ' || state || ' ' || consumer || ' ' || "
            "handed "
            "|| ' ' || attempts || ' ' || lease_until_ms || ' ' || not_before_ms || ' ' || "
            "reserved_until_ms || ' ' || parked_ms as line from mine order by key) as lines) || '; "
            "' || "
            "{3} || ' ' || {4} || ' ' || {5} || ' ' || (select count(*) from {0}messages)",
            schema, name_, list, of_sessions("queue_messages"), of_sessions("queue_dead"),
            of_sessions("queue_session_states")));
  }
  template <class Ask>
  auto Unchanged(const Ask& ask) const {
    const std::string before = Stored();
    auto answer = ask();
    EXPECT_EQ(Stored(), before);
    return answer;
  }
  HttpResponse Refused(const std::string& action, const std::string& body, int status,
                       const std::string& type) const {
    HttpResponse response = Unchanged([&] { return Post(action, body); });
    EXPECT_EQ(response.status, status) << action << " " << body;
    EXPECT_EQ(ProblemType(response), type) << response.body;
    return response;
  }
  Json Unavailable(const std::string& key) const {
    return Refused("/accept", R"({"consumer":"cat","key":")" + key + "\"}", 409,
                   "session-unavailable")
        .Json();
  }

  Api api_{SharedServer(GetParam())};
  const std::string name_ = "q" + NewUuid(), topic_ = "t" + NewUuid();
  Json held_ = Json::Parse("null");
};
INSTANTIATE_TEST_SUITE_P(Engines, QueueRefusals, EachEngine(), EngineName);

TEST_P(QueueRefusals, AChosenSessionThatIsNotToBeHadSaysWhyWhoAndUntilWhen) {
  const Json held = Unavailable("held");
  EXPECT_EQ(held["reason"].Text(), "held");
  EXPECT_EQ(held["consumer"].Text(), "ann");
  EXPECT_EQ(held["until"].Text(), held_["lease_expires_at"].Text());
  const Json parked = Unavailable("parked");
  EXPECT_EQ(parked["reason"].Text(), "parked");
  EXPECT_FALSE(parked.Has("until")) << "until somebody acts";
  const Json reserved = Unavailable("reserved");
  EXPECT_EQ(reserved["reason"].Text(), "reserved");
  EXPECT_EQ(reserved["consumer"].Text(), "ben");
  EXPECT_GT(TimeMs(reserved["until"].Text()), WallMs());
  EXPECT_EQ(Unavailable("empty")["reason"].Text(), "empty");
  EXPECT_EQ(Refused("/accept", R"({"consumer":"cat","session":")" + SessionOf("parked") + "\"}",
                    409, "session-unavailable")
                .Json()["reason"]
                .Text(),
            "parked");
  Configure(R"(,"session_key":"{$entity}")");  // a new generation
  Send("later", 1);
  EXPECT_EQ(Unavailable("later")["reason"].Text(), "generation");
}

TEST_P(QueueRefusals, WhatDoesNotCountChangesNothing) {
  const auto outcome = [&](const std::string& action, const std::string& more,
                           std::int64_t fence_more) {
    return Unchanged([&] {
             return Post(action, R"({"sessions":[)" + Held(held_, more, fence_more) + "]}");
           })
        .Json()["sessions"][0]["outcome"]
        .Text();
  };
  const std::string first = R"(,"sequence":1)";
  for (const std::int64_t other : {std::int64_t{-1}, std::int64_t{1}, std::int64_t{1} << 40}) {
    if (held_["fence"].Int() + other < 1) continue;
    EXPECT_EQ(outcome("/complete", first + R"(,"state":"x")", other), "stale");
    EXPECT_EQ(outcome("/abandon", first, other), "stale");
    EXPECT_EQ(outcome("/dead-letter", first, other), "stale");
    EXPECT_EQ(outcome("/release", "", other), "stale");
    EXPECT_EQ(outcome("/renew", "", other), "lost");
  }
  EXPECT_EQ(outcome("/complete", R"(,"sequence":4,"state":"x")", 0), "out_of_order");
  Refused("/receive", Held(held_, "", 1), 409, "session-lost");
  const HttpResponse state = Unchanged([&] {
    return api_.Call("PUT",
                     "/api/v1/queues/" + name_ + "/sessions/" + held_["session"].Text() + "/state",
                     fmt::format(R"({{"fence":{},"state":"late"}})", held_["fence"].Int() + 1));
  });
  EXPECT_EQ(ProblemType(state), "session-lost");
}

/// Of another queue, or of nobody.
TEST_P(QueueRefusals, AForeignSessionIs404EverywhereAndStaysAsItIs) {
  const auto path = [&](const std::string& id, const std::string& act) {
    return "/api/v1/queues/" + topic_ + "/sessions/" + id + act;
  };
  const auto not_found = [&](const char* method, const std::string& target,
                             const std::string& body) {
    const HttpResponse response = Unchanged([&] { return api_.Call(method, target, body); });
    EXPECT_EQ(response.status, 404) << target << " " << response.body;
  };
  const std::string foreign = Held(held_);
  const std::string nobody = R"({"session":")" + NewUuid() + R"(","fence":1})";
  for (const std::string& session : {foreign, nobody}) {
    const std::string open = session.substr(0, session.size() - 1);
    for (const char* action : {"/renew", "/release"})
      not_found("POST", "/api/v1/queues/" + topic_ + action, R"({"sessions":[)" + session + "]}");
    for (const char* action : {"/complete", "/abandon", "/dead-letter"})
      not_found("POST", "/api/v1/queues/" + topic_ + action,
                R"({"sessions":[)" + open + R"(,"sequence":1}]})");
    not_found("POST", "/api/v1/queues/" + topic_ + "/transfer",
              R"({"to":"x","sessions":[)" + session + "]}");
    not_found("POST", "/api/v1/queues/" + topic_ + "/receive", session);
    const std::string id = Json::Parse(session)["session"].Text();
    for (const char* act : {"/resume", "/break", "/discard"})
      not_found("POST", path(id, act), R"({"reason":"a test"})");
    not_found("POST", path(id, "/skip"), R"({"reason":"a test","sequence":1})");
    for (const char* look : {"", "/state", "/messages"}) not_found("GET", path(id, look), "");
    not_found("PUT", path(id, "/state"), R"({"fence":1,"state":"x"})");
  }
}

TEST_P(QueueRefusals, AnOperatorsActThatDoesNotGoChangesNothing) {
  const auto act = [&](const std::string& key, const std::string& name,
                       const std::string& more = "") {
    return "/sessions/" + SessionOf(key) + "/" + name + "\n" + R"({"reason":"a test")" + more + "}";
  };
  const auto refused = [&](const std::string& what, const std::string& state) {
    const std::size_t end = what.find('\n');
    EXPECT_EQ(Refused(what.substr(0, end), what.substr(end + 1), 409, "session-unavailable")
                  .Json()["reason"]
                  .Text(),
              state)
        << what;
  };
  refused(act("ready", "resume"), "ready");
  refused(act("held", "resume"), "held");
  refused(act("ready", "skip", R"(,"sequence":2)"), "ready");
  refused(act("held", "skip", R"(,"sequence":1)"), "held");
  refused(act("held", "discard"), "held");
  refused(act("empty", "skip", R"(,"sequence":3)"), "idle");
  // Of the last that was passed over something behind is done: it is not taken back.
  EXPECT_EQ(Post("/sessions/" + SessionOf("ready") + "/skip", R"({"reason":"a test","sequence":1})")
                .status,
            200);
  Tell("/complete", Accept("ready"), R"(,"sequence":2,"keep":false)");
  Refused("/dead-letters/replay", R"({"reason":"a test","mode":"rewind"})", 409, "order-lost");
}

TEST_P(QueueRefusals, AQueueWithoutOrderIsItsTopic) {
  const auto at_topic = [&](const std::string& action, const std::string& body) {
    return Unchanged([&] { return api_.Call("POST", "/api/v1/queues/" + topic_ + action, body); });
  };
  const HttpResponse accept = at_topic("/accept", R"({"consumer":"ann"})");
  EXPECT_EQ(accept.status, 409);
  EXPECT_EQ(ProblemType(accept), "queue-unordered");
  EXPECT_EQ(accept.Json()["topic"].Text(), "queue:" + topic_);
  const HttpResponse sent = at_topic("/messages", R"({"session_key":"k","payload":1})");
  EXPECT_EQ(sent.status, 409);
  EXPECT_EQ(sent.Json()["topic"].Text(), "queue:" + topic_);
}

}  // namespace
}  // namespace tenure::api
