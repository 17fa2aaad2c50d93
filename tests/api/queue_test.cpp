// Ordered queues over HTTP: what producers, consumers and operators are told, on both engines.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/calls.hpp"
#include "api/github.hpp"
#include "api/store_under_test.hpp"

namespace tenure::api {
namespace {

using support::HttpResponse;
using support::Json;
using testing::ElementsAre;
using testing::HasSubstr;

/// A bot of the test's own, whose queue only `send` feeds.
class OrderedQueue : public testing::TestWithParam<Engine> {
 protected:
  void SetUp() override { Configure(R"(,"retry_backoff":"0s","max_delivery_count":2)"); }

  /// `more`: further options of the bot.
  void Configure(const std::string& more) const { Apply(Bot(name_, "custom", more)); }
  static std::string Bot(const std::string& name, const std::string& scope,
                         const std::string& more = "") {
    return fmt::format(R"({{"name":"{}","events":[],"ordering_scope":"{}"{}}})", name, scope, more);
  }
  void Apply(const std::string& bots) const {
    const HttpResponse applied =
        api_.Call("PUT", "/api/v1/bots", fmt::format(R"({{"sources":[],"bots":[{}]}})", bots));
    ASSERT_EQ(applied.status, 200) << applied.body;
  }

  std::string Path(const std::string& action = "") const {
    return "/api/v1/queues/" + name_ + action;
  }
  HttpResponse Post(const std::string& action, const std::string& body,
                    const support::HttpHeaders& headers = {}) const {
    return api_.Call("POST", Path(action), body, headers);
  }
  /// Payloads are numbers, one after another.
  std::string Send(const std::string& key, int count = 1) const {
    std::string session;
    for (int i = 1; i <= count; ++i)
      session = Post("/messages", fmt::format(R"({{"session_key":"{}","payload":{}}})", key, i))
                    .Json()["session"]
                    .Text();
    return session;
  }
  static std::string AcceptBody(const std::string& more = "") {
    return R"({"consumer":"ann")" + more + "}";
  }
  /// The one session that is to be had; throws when there is none.
  Json Accept(const std::string& more = "") const {
    return Post("/accept", AcceptBody(more)).Json()["sessions"][0];
  }
  /// What is said of the one session that is held: `more`: further fields.
  static std::string Held(const Json& session, const std::string& more = "") {
    return fmt::format(R"({{"session":"{}","fence":{}{}}})", session["session"].Text(),
                       session["fence"].Int(), more);
  }
  static std::string List(const std::string& item) { return R"({"sessions":[)" + item + "]}"; }
  static std::string At(std::int64_t sequence, const std::string& more = "") {
    return R"(,"sequence":)" + std::to_string(sequence) + more;
  }
  Json Report(const std::string& action, const Json& session, const std::string& more = "") const {
    return Post(action, List(Held(session, more))).Json()["sessions"][0];
  }
  HttpResponse Act(const std::string& session, const std::string& act, const std::string& more = "",
                   const support::HttpHeaders& headers = {}) const {
    return Post("/sessions/" + session + "/" + act, R"({"reason":"a test")" + more + "}", headers);
  }
  Json Look(const std::string& session) const {
    return api_.Get(Path("/sessions/" + session)).Json();
  }
  static std::vector<std::int64_t> Sequences(const Json& messages) {
    std::vector<std::int64_t> sequences;
    for (const Json& each : messages.Elements()) sequences.push_back(each["sequence"].Int());
    return sequences;
  }
  void ExpectRefused(const HttpResponse& response, int status, const std::string& type,
                     const std::string& reason = "") const {
    EXPECT_EQ(response.status, status) << response.body;
    EXPECT_EQ(ProblemType(response), type);
    if (!reason.empty()) {
      EXPECT_EQ(response.Json()["reason"].Text(), reason);
    }
  }
  Fields Wrong(const std::string& action, const std::string& body) const {
    return FieldsOf(Post(action, body));
  }

  Api api_{SharedServer(GetParam())};
  const std::string name_ = "q" + NewUuid();
};
INSTANTIATE_TEST_SUITE_P(Engines, OrderedQueue, EachEngine(), EngineName);

TEST_P(OrderedQueue, Q1_MessagesOfASessionAreHandedOutInOrderWithWhatItsConsumersKeep) {
  const std::string session = Send("k", 5);
  const Json held = Accept(R"(,"max_messages":2)");
  EXPECT_EQ(held["session"].Text(), session);
  EXPECT_EQ(held["depth"].Int(), 5);
  EXPECT_EQ(held["state_base64"].Dump(), "null");
  EXPECT_THAT(Sequences(held["messages"]), ElementsAre(1, 2));
  EXPECT_EQ(held["messages"][1]["payload"].Int(), 2);
  EXPECT_EQ(Post("/accept", AcceptBody()).Json()["sessions"].Size(), 0U) << "one at a time";

  const std::string two = At(2, R"(,"state":"seen 2","max_messages":3)");
  const Json next = Report("/complete", held, two);
  EXPECT_EQ(next["outcome"].Text(), "done");
  EXPECT_THAT(Sequences(next["messages"]), ElementsAre(3, 4, 5));
  const Json again = Report("/complete", held, two);
  EXPECT_EQ(again["outcome"].Text(), "gone") << "a lost answer costs nothing";
  EXPECT_THAT(Sequences(again["messages"]), ElementsAre(3, 4, 5));
  EXPECT_EQ(Report("/complete", held, At(6))["outcome"].Text(), "out_of_order");
  const Json drained = Report("/complete", held, At(5));
  EXPECT_FALSE(drained["held"].Bool());
  EXPECT_EQ(drained["reason"].Text(), "drained");

  Send("k");
  EXPECT_EQ(Accept()["state_base64"].Text(), "c2VlbiAy");
  const Json state = api_.Get(Path("/sessions/" + session + "/state")).Json();
  EXPECT_EQ(state["state_base64"].Text(), "c2VlbiAy");
  EXPECT_EQ(state["fence"].Int(), held["fence"].Int());
}

TEST_P(OrderedQueue, Q4_WhoWaitsIsWokenByAMessageAndByTheEndOfAHold) {
  WaitingCall first(api_, Path("/accept"), AcceptBody(R"(,"wait_ms":60000)"));
  AwaitWaiting(api_, 1);
  Send("k", 2);
  const Json held = first.Answer().Json()["sessions"][0];
  EXPECT_THAT(Sequences(held["messages"]), testing::Contains(1));
  WaitingCall second(api_, Path("/accept"), AcceptBody(R"(,"wait_ms":60000)"));
  AwaitWaiting(api_, 1);
  EXPECT_EQ(Report("/release", held)["outcome"].Text(), "done");
  EXPECT_GT(second.Answer().Json()["sessions"][0]["fence"].Int(), held["fence"].Int());
}

TEST_P(OrderedQueue, AHolderThatLingersWaitsForTheNextMessageOfItsSession) {
  Send("k");
  const Json held = Accept();
  const Json kept = Report("/complete", held, At(1, R"(,"linger":true)"));
  ASSERT_TRUE(kept["held"].Bool()) << kept.Dump();
  WaitingCall receive(api_, Path("/receive"), Held(held, R"(,"wait_ms":60000)"));
  AwaitWaiting(api_, 1);
  Send("k");
  EXPECT_THAT(Sequences(receive.Answer().Json()["messages"]), ElementsAre(2));
  EXPECT_EQ(Act(held["session"].Text(), "break").status, 200);
  ExpectRefused(Post("/receive", Held(held)), 409, "session-lost");
}

TEST_P(OrderedQueue, AMessageThatCannotBeProcessedStopsItsSessionAndNoOther) {
  const std::string session = Send("k", 3);
  Send("other");
  const Json first = Report("/abandon", Accept(R"(,"key":"k")"), At(1, R"(,"error":"no 1")"));
  EXPECT_EQ(first["then"].Text(), "backoff");
  const Json second = Accept(R"(,"key":"k")");
  EXPECT_THAT(Sequences(second["messages"]), ElementsAre(1)) << "it takes nobody with it";
  EXPECT_EQ(second["attempt"].Int(), 2);
  EXPECT_EQ(Report("/abandon", second, At(1, R"(,"error":"no 2")"))["then"].Text(), "parked");
  const HttpResponse chosen = Post("/accept", AcceptBody(R"(,"key":"k")"));
  ExpectRefused(chosen, 409, "session-unavailable", "parked");
  EXPECT_EQ(Accept()["key"].Text(), "other");

  const Json view = Look(session);
  EXPECT_EQ(view["reason"].Text(), "parked");
  EXPECT_THAT(view["why"].Text(), HasSubstr("no 2"));
  EXPECT_EQ(api_.Get(Path()).Json()["parked_sessions"].Int(), 1);
  const Json sums = api_.Get(Path("/dead-letters/summary")).Json()["items"];
  EXPECT_EQ(sums[0]["error_class"].Text(), "no #");
  const std::string by_class = R"({"reason":"mended","error_class":"no #")";
  EXPECT_EQ(Post("/resume", by_class + R"(,"dry_run":true})").Json()["found"].Int(), 1);
  EXPECT_EQ(Post("/resume", by_class + "}").Json()["changed"].Int(), 1);
  EXPECT_THAT(Sequences(Accept()["messages"]), ElementsAre(1, 2, 3));
}

TEST_P(OrderedQueue, AFenceOfBeforeChangesNothing) {
  const std::string session = Send("k", 2);
  const Json held = Accept(R"(,"lease_ms":1000)");
  const support::HttpHeaders once{{"Idempotency-Key", NewUuid()}};
  const HttpResponse broken = Act(session, "break", "", once);
  EXPECT_EQ(broken.status, 200) << broken.body;
  EXPECT_EQ(Report("/renew", held)["reason"].Text(), "broken");
  EXPECT_EQ(Report("/complete", held, At(1))["outcome"].Text(), "stale");
  EXPECT_EQ(Report("/abandon", held, At(1))["outcome"].Text(), "stale");
  const HttpResponse late =
      api_.Call("PUT", Path("/sessions/" + session + "/state"),
                fmt::format(R"({{"fence":{},"state":"late"}})", held["fence"].Int()));
  ExpectRefused(late, 409, "session-lost");
  const Json next = Accept();
  EXPECT_EQ(Act(session, "break", "", once).body, broken.body);
  EXPECT_EQ(Report("/renew", next)["outcome"].Text(), "held") << "it was broken once";
  EXPECT_EQ(Post("/renew", List(fmt::format(R"({{"session":"{}","fence":1}})", NewUuid()))).status,
            404);
}

TEST_P(OrderedQueue, OperatorsAreToldWhyNot) {
  const std::string session = Send("k", 3);
  ExpectRefused(Act(session, "resume"), 409, "session-unavailable", "ready");
  ExpectRefused(Act(session, "skip", R"(,"sequence":2)"), 409, "session-unavailable");
  const Json held = Accept(R"(,"max_messages":1)");
  ExpectRefused(Act(session, "skip", R"(,"sequence":1)"), 409, "session-unavailable", "held");
  Report("/release", held);
  EXPECT_EQ(Act(session, "skip", R"(,"sequence":1)").Json()["head"].Int(), 2);
  const std::string replay = R"({"reason":"mended","mode":")";
  EXPECT_EQ(Post("/dead-letters/replay", replay + R"(rewind"})").Json()["changed"].Int(), 1);
  EXPECT_EQ(Look(session)["head"].Int(), 1) << "it is in its place again";
  Act(session, "skip", R"(,"sequence":1)");
  Report("/complete", Accept(R"(,"max_messages":1)"), At(2, R"(,"keep":false)"));
  ExpectRefused(Post("/dead-letters/replay", replay + R"(rewind"})"), 409, "order-lost");
  EXPECT_EQ(Post("/dead-letters/replay", replay + R"(append"})").Json()["changed"].Int(), 1);
  EXPECT_EQ(Look(session)["depth"].Int(), 2) << "behind what waits";
  EXPECT_EQ(Act(session, "discard").Json()["depth"].Int(), 0);
  const Json history = api_.Get(Path("/sessions/" + session + "/messages")).Json()["items"];
  EXPECT_EQ(history.Size(), 4U);
  EXPECT_EQ(history[1]["state"].Text(), "done");
  ExpectRefused(Act(NewUuid(), "resume"), 404, "not-found");
}

TEST_P(OrderedQueue, WhileItIsPausedNothingIsHandedOutAndAllWaitForItsEnd) {
  Send("k");
  const auto pause = [&](bool paused) {
    return api_.Call("PATCH", Path(), fmt::format(R"({{"paused":{},"reason":"a test"}})", paused));
  };
  EXPECT_EQ(pause(true).Json()["paused_reason"].Text(), "a test");
  EXPECT_EQ(Post("/accept", AcceptBody()).Json()["blocked"].Text(), "paused");
  WaitingCall waiting(api_, Path("/accept"), AcceptBody(R"(,"wait_ms":60000)"));
  AwaitWaiting(api_, 1);
  EXPECT_FALSE(pause(false).Json()["paused"].Bool());
  EXPECT_EQ(waiting.Answer().Json()["sessions"].Size(), 1U);
}

TEST_P(OrderedQueue, Q3_AtTheCapTheNextOneWaitsForAnEnd) {
  Configure(R"(,"max_concurrent_sessions":1)");
  Send("k");
  Send("l");
  const Json held = Accept();
  EXPECT_EQ(Post("/accept", AcceptBody()).Json()["blocked"].Text(), "cap");
  EXPECT_EQ(api_.Get(Path()).Json()["utilization"].Int(), 100);
  WaitingCall waiting(api_, Path("/accept"), AcceptBody(R"(,"wait_ms":60000)"));
  AwaitWaiting(api_, 1);
  Report("/complete", held, At(1));
  EXPECT_EQ(waiting.Answer().Json()["sessions"].Size(), 1U);
}

TEST_P(OrderedQueue, AProducerHearsWhatIsWrongAndNothingIsSent) {
  using F = Fields;
  const std::string long_key = LongText(201);
  EXPECT_EQ(Wrong("/messages", "{}"), (F{"session_key", "payload"}));
  // A control character beyond ASCII is one, too.
  const std::string next_line =
      "\"a\xC2\x85"
      "b\"";
  for (const std::string& key :
       {std::string("\"\""), std::string(R"("a\nb")"), next_line, long_key})
    EXPECT_EQ(Wrong("/messages", R"({"payload":1,"session_key":)" + key + "}"), F{"session_key"});
  EXPECT_EQ(Wrong("/messages", R"({"session_key":"k","payload":1,"payload_base64":"AA=="})"),
            F{"payload_base64"});
  EXPECT_EQ(Wrong("/messages", R"({"session_key":"k","payload":1,"ttl_ms":-1,"share":""})"),
            (F{"ttl_ms", "share"}));
  EXPECT_EQ(Wrong("/messages", R"({"messages":[]})"), F{"messages"});
  EXPECT_EQ(Wrong("/messages", R"({"messages":[{"session_key":"k","payload":1},{"payload":1}]})"),
            F{"messages[1].session_key"});
  EXPECT_EQ(Wrong("/messages", R"({"session_key":"k","payload":)" + LongText(1 << 20) + "}"),
            F{"payload"});
  EXPECT_EQ(api_.Get(Path()).Json()["messages"].Int(), 0);

  const std::string once = R"({"session_key":"k","payload":1,"dedup_key":"d"})";
  const HttpResponse first = Post("/messages", once);
  EXPECT_EQ(first.status, 201);
  const HttpResponse second = Post("/messages", once);
  EXPECT_EQ(second.status, 200);
  EXPECT_TRUE(second.Json()["duplicate"].Bool());
  EXPECT_EQ(second.Json()["id"].Text(), first.Json()["id"].Text());
}

TEST_P(OrderedQueue, AConsumerHearsWhatIsWrong) {
  using F = Fields;
  EXPECT_EQ(Wrong("/accept", "{}"), F{"consumer"});
  EXPECT_EQ(Wrong("/accept", R"({"consumer":"a","max_sessions":101,"max_messages":0,)"
                             R"("lease_ms":999,"wait_ms":60001,"accept_id":"x"})"),
            (F{"max_sessions", "max_messages", "lease_ms", "wait_ms", "accept_id"}));
  EXPECT_EQ(Wrong("/accept", AcceptBody(R"(,"key":"k","session":")" + NewUuid() + "\"")), F{"key"});
  EXPECT_EQ(Wrong("/complete", R"({"sessions":[{}]})"),
            (F{"sessions[0].session", "sessions[0].fence", "sessions[0].sequence"}));
  const std::string held = R"({"session":")" + NewUuid() + R"(","fence":1,"sequence":1)";
  EXPECT_EQ(Wrong("/complete", List(held + R"(,"state":)" + LongText((64 << 10) + 1) + "}")),
            F{"sessions[0].state"});
  EXPECT_EQ(Wrong("/abandon", List(held + R"(,"error":)" + LongText((4 << 10) + 1) + "}")),
            F{"sessions[0].error"});
  EXPECT_EQ(Wrong("/transfer", List(R"({"session":")" + NewUuid() + R"(","fence":1})")), F{"to"});
  EXPECT_EQ(Post("/complete", List(held + "}")).status, 404);
  ExpectRefused(Post("/accept", AcceptBody(R"(,"key":"nobody")")), 404, "not-found");
  Send("k");
  const Json taken = Accept();
  const HttpResponse refused = Post("/accept", R"({"consumer":"ben","key":"k"})");
  ExpectRefused(refused, 409, "session-unavailable", "held");
  EXPECT_EQ(refused.Json()["consumer"].Text(), "ann");
  EXPECT_EQ(refused.Json()["until"].Text(), taken["lease_expires_at"].Text());
}

TEST_P(OrderedQueue, ALeaseThatIsLongerThanTheQueueAllowsIsRefusedAndNothingIsHeldByIt) {
  Configure(R"(,"session_timeout":"10s","session_idle_timeout":"5s")");
  const std::string session = Send("k");
  EXPECT_EQ(Wrong("/accept", AcceptBody(R"(,"lease_ms":10001)")), Fields{"lease_ms"});
  const Json held = Accept(R"(,"lease_ms":10000)");
  const HttpResponse longer =
      Post("/renew", R"({"lease_ms":10001,"sessions":[)" + Held(held) + "]}");
  EXPECT_EQ(FieldsOf(longer), Fields{"lease_ms"});
  EXPECT_THAT(longer.body, HasSubstr("from 1000 to 10000"));
  EXPECT_EQ(Look(session)["lease_expires_at"].Text(), held["lease_expires_at"].Text());
}

TEST_P(OrderedQueue, QueuesThatTakeNothingSayWhy) {
  const std::string message = R"({"session_key":"k","payload":)" + LongText(800'000) + "}";
  Configure(R"(,"max_size_in_megabytes":1)");
  Post("/messages", message);
  const HttpResponse full = Post("/messages", message);
  ExpectRefused(full, 503, "queue-full");
  EXPECT_NE(full.Header("Retry-After"), "");
  const std::string any = name_ + "-any";
  Apply(Bot(any, "none"));  // and this one is removed
  ExpectRefused(Post("/messages", R"({"session_key":"k","payload":1})"), 409, "queue-draining");
  EXPECT_EQ(Accept()["messages"].Size(), 1U) << "what is left is handed out";
  for (const auto& [action, body] :
       {std::pair("/messages", std::string(R"({"session_key":"k","payload":1})")),
        std::pair("/accept", AcceptBody())}) {
    const HttpResponse unordered = api_.Call("POST", "/api/v1/queues/" + any + action, body);
    ExpectRefused(unordered, 409, "queue-unordered");
    EXPECT_EQ(unordered.Json()["topic"].Text(), "queue:" + any);
  }
  for (const char* path : {"", "/sessions", "/dead-letters", "/dead-letters/summary"})
    EXPECT_EQ(api_.Get("/api/v1/queues/nobody" + std::string(path)).status, 404) << path;
}

TEST_P(OrderedQueue, OfAThousandParkedSessionsOneCallResumesThoseOfOneClassAtItsRate) {
  constexpr int kAll = 1'000, kAtOnce = 100;
  for (int first = 0; first < kAll; first += kAtOnce) {
    std::string messages;
    for (int i = first; i < first + kAtOnce; ++i)
      messages += fmt::format(R"({}{{"session_key":"k{}","payload":1}})", i > first ? "," : "", i);
    ASSERT_EQ(Post("/messages", R"({"messages":[)" + messages + "]}").status, 201);
    std::string rejected;
    for (const Json& held :
         Post("/accept", AcceptBody(R"(,"max_sessions":100)")).Json()["sessions"].Elements())
      rejected += (rejected.empty() ? "" : ",") +
                  Held(held, fmt::format(R"(,"sequence":1,"error":"no","error_class":"{}")",
                                         held["key"].Text().back() % 2 == 0 ? "even" : "odd"));
    ASSERT_EQ(Post("/dead-letter", List(rejected)).status, 200);
  }
  EXPECT_EQ(api_.Get(Path()).Json()["parked_sessions"].Int(), kAll);
  const std::string of_odd = R"({"reason":"mended","error_class":"odd","rate":100})";
  const Json resumed = Post("/resume", of_odd).Json();
  EXPECT_EQ(resumed["found"].Int(), kAll / 2);
  EXPECT_EQ(resumed["changed"].Int(), kAll / 2);
  EXPECT_EQ(api_.Get(Path()).Json()["parked_sessions"].Int(), kAll / 2);
  const std::string schema = GetParam() == Engine::kSqlite ? "" : "tenure.";
  const auto times = [&](const std::string& what) {
    return SharedStore(GetParam())
        .Execute(fmt::format("select {1} from {0}queue_sessions s join {0}queues q on q.queue_id = "
                             "s.queue_id where q.name = '{2}' and s.not_before_ms > 0",
                             schema, what, name_));
  };
  EXPECT_EQ(times("count(distinct s.not_before_ms)"), std::to_string(kAll / 2 - 1));
  EXPECT_EQ(times("max(s.not_before_ms) - min(s.not_before_ms)"),
            std::to_string((kAll / 2 - 2) * 10));
  EXPECT_EQ(times("count(*) filter (where s.error_class = 'even')"), "0");
}

TEST_P(OrderedQueue, AUsersTransactionThatStaysOpenDelaysNobodyAndHasItsPlaceByItsCommit) {
  if (GetParam() == Engine::kSqlite) GTEST_SKIP() << "there are none";
  SqlSession user(SharedStore(GetParam()).url());
  const auto sends = "select tenure.queue_send('" + name_ + "', 'k', '0')";
  user.Execute("begin");
  user.Execute(sends);
  const std::string session = Send("k", 2);
  Send("other");
  const Json held = Accept(R"(,"key":"k")");
  EXPECT_THAT(Sequences(held["messages"]), ElementsAre(1, 2));
  EXPECT_EQ(Accept(R"(,"key":"other")")["messages"].Size(), 1U);
  EXPECT_EQ(Report("/complete", held, At(1))["outcome"].Text(), "done");
  user.Execute("commit");
  Send("k");
  const Json after = Report("/complete", held, At(2))["messages"];
  ASSERT_THAT(Sequences(after), ElementsAre(3, 4));
  EXPECT_EQ(after[0]["payload"].Int(), 0) << "it committed before the last one was sent";

  user.Execute("begin");
  user.Execute(
      fmt::format("select tenure.queue_complete('{}', {}, 3)", session, held["fence"].Int()));
  user.Execute("set constraints all immediate");
  Send("k");
  EXPECT_EQ(Report("/renew", held)["outcome"].Text(), "held");
  EXPECT_EQ(api_.Get(Path("/sessions/" + session + "/messages")).Json()["items"].Size(), 5U);
  ExpectRefused(Act(session, "break"), 503, "contended");
  user.Execute("commit");
  EXPECT_EQ(Act(session, "break").status, 200);
  EXPECT_THAT(Sequences(Accept(R"(,"key":"k")")["messages"]), ElementsAre(4, 5));
}

TEST_P(OrderedQueue, AWebhookIsHandedToAnOrderedBotWithItsPayloadAsItCame) {
  const GitHub github(name_);
  ASSERT_EQ(api_.Call("PUT", "/api/v1/bots",
                      github.Bots(R"({"name":")" + name_ +
                                  R"(","events":["*"],"ordering_scope":"entity"})"))
                .status,
            200);
  const GitHub::Sent small;
  ASSERT_EQ(github.Post(api_, small).status, 200);
  GitHub::Sent large;
  large.body.insert(1, R"("x":")" + std::string(1 << 20, 'x') + "\",");
  ASSERT_EQ(github.Post(api_, large).status, 200);
  const Json held = Accept();
  EXPECT_EQ(held["name"].Text(), "acme/shop/issue/7");
  const Json message = held["messages"][0];
  EXPECT_EQ(message["event_type"].Text(), "issues");
  EXPECT_EQ(message["repository"]["full_name"].Text(), "acme/shop");
  EXPECT_EQ(message["properties"]["session_scope"].Text(), "ordered");
  EXPECT_EQ(message["payload"].Dump(), Json::Parse(small.body).Dump());
  EXPECT_EQ(held["messages"][1]["payload"].Dump(), "null");
  EXPECT_EQ(api_.Get(held["messages"][1]["payload_url"].Text()).body, large.body);
}

TEST_P(OrderedQueue, AQueueIsDroppedWithWhatIsLeftOnceItsBotIsGone) {
  Send("waits", 2);
  Send("held");
  const Json held = Accept(R"(,"key":"held")");
  const auto drop = [&] { return api_.Call("DELETE", Path() + "?reason=gone"); };
  const HttpResponse active = drop();
  EXPECT_EQ(active.status, 409);
  EXPECT_EQ(ProblemType(active), "queue-active");
  Apply(Bot("other" + NewUuid(), "custom"));
  EXPECT_EQ(Json(api_.Get(Path()).Json())["state"].Text(), "draining");
  const ProgramResult dropped = RunTenure({"queue", "drop", name_, "--reason", "the bot is gone"},
                                          {{"TENURE_SERVER", SharedServer(GetParam()).Url()}});
  EXPECT_EQ(dropped.exit_code, 0) << dropped.err;
  EXPECT_EQ(dropped.out, name_ + " is dropped: 2 sessions were cleared\n");
  EXPECT_EQ(api_.Get(Path()).status, 404);
  EXPECT_EQ(drop().status, 404);
  EXPECT_THAT(api_.Get("/api/v1/audit").body,
              testing::AllOf(HasSubstr("queue.drop"), HasSubstr("the bot is gone")));
  // Added again it goes on as the same queue, and the old hold is over.
  Configure("");
  EXPECT_EQ(Report("/complete", held, At(1))["outcome"].Text(), "stale");
  Send("waits");
  EXPECT_EQ(Sequences(Accept()["messages"]), std::vector<std::int64_t>{3});
}

}  // namespace
}  // namespace tenure::api
