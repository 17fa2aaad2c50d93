// What the routes refuse before anything happens, and that they name every field that is wrong.
// Which texts are no JSON, no text and no number at all: http/json_fields_test.
#include <gtest/gtest.h>

#include "api/calls.hpp"
#include "api/store_under_test.hpp"

namespace tenure::api {
namespace {

using support::HttpResponse;

enum class Need { kRequired, kOptional };

/// A field of a body. Values are JSON.
struct Field {
  std::string name;
  Need need;
  std::string proper;                    ///< "{}" stands for a new UUID
  std::vector<std::string> wrong;        ///< the refusal names this field and no other
  std::vector<std::string> limits = {};  ///< taken, though only just
};

struct RouteInput {
  std::string method;
  std::string target;  ///< "{}" stands for a new UUID
  std::vector<Field> fields;
};

const std::string kUuid = "\"{}\"";
const std::vector<std::string> kNoUuid{"null",
                                       "1",
                                       "true",
                                       "[]",
                                       R"("")",
                                       R"("me")",
                                       R"("6f9619ff8b864011b42d00c04fc964ff")",
                                       R"("{6f9619ff-8b86-4011-b42d-00c04fc964ff}")",
                                       R"("6f9619ff-8b86-4011-b42d-00c04fc964fg")"};
const std::vector<std::string> kNoFence{"0", "-1", "9007199254740992", "1.0", "\"1\""};

std::string LongObject(std::size_t size) { return R"({"a":)" + LongText(size) + "}"; }

std::vector<RouteInput> Routes() {
  using enum Need;
  const std::string lease = "/api/v1/leases/input-{}/";
  const std::string task = "/api/v1/tasks/input-{}/";
  const Field term{"term", kRequired, kUuid, kNoUuid};
  const Field fence{"fence", kRequired, "1", kNoFence};
  const Field source{"source", kRequired, "\"s\"", {"\"\"", LongText(256)}};
  const Field message_id{"message_id", kRequired, kUuid, {R"("\u0000")", LongText(256)}};
  const Field topic{"topic", kRequired, kUuid, {"\"\"", LongText(256), "1", R"("\u0000")"}};
  const Field payload{
      "payload", kRequired, "1", {LongText((1 << 20) - 1)}, {LongText((1 << 20) - 2)}};
  const Field lease_ms{"lease_ms", kOptional, "1000", {"999", "86400001", "\"1s\""}};
  return {
      {"PUT",
       "/sessions",
       {{"userObjectId", kRequired, kUuid, kNoUuid},
        {"tenantObjectId", kRequired, kUuid, kNoUuid},
        {"capacityId", kRequired, kUuid, kNoUuid},
        {"sessionKind",
         kRequired,
         "1",
         {"0", "4", "-1", "1.5", "1.0", "1e0", R"("1")", R"("Basic")", "null", "true", "[1]",
          "9223372036854775808", "18446744073709551616", "1e999"}}}},
      {"POST",
       lease + "acquire",
       {term,
        {"ttl_ms",
         kRequired,
         "60000",
         {"99", "86400001", "0", "-1", "1.5", "\"30s\"", "null", "1e400"},
         {"100", "86400000"}},
        {"holder", kRequired, "\"me\"", {LongText(201)}, {LongText(200)}},
        {"wait_ms", kOptional, "0", {"60001", "-1", "true"}, {"60000"}},
        {"metadata",
         kOptional,
         "{}",
         {LongObject(4'089), "[]", "1", "\"{}\"", "null", R"({"a":"\u0000"})"},
         {LongObject(4'088)}}}},
      {"POST", lease + "renew", {fence, term, {"ttl_ms", kOptional, "1000", {"99"}}}},
      {"POST", lease + "release", {term}},
      {"POST",
       lease + "break",
       {{"reason", kRequired, "\"r\"", {"\"\"", LongText(501)}},
        {"drain_ms", kOptional, "1", {"86400001"}},
        {"force", kOptional, "false", {"1"}}}},
      {"POST", "/api/v1/leases/renew", {{"leases", kRequired, "[]", {"{}", "1"}}}},
      {"POST",
       task + "claim",
       {term,
        {"holder", kRequired, "\"me\"", {"1"}},
        {"interval_ms", kRequired, "1000", {"99"}},
        {"lock_timeout_ms", kRequired, "1000", {"99"}}}},
      {"POST", task + "finish", {fence, term, {"error", kOptional, "\"no\"", {LongText(4'097)}}}},
      {"POST",
       "/api/v1/inbox/begin",
       {source,
        message_id,
        {"lease_ms", kOptional, "1000", {"99", "86400001", "\"1s\"", "null"}},
        {"hash", kOptional, "\"a\"", {LongText(129), "\"\"", "1"}},
        {"term", kOptional, kUuid, {"\"me\"", "\"00000000-0000-0000-0000-000000000000\"", "7"}}}},
      {"POST",
       "/api/v1/inbox/complete",
       {source,
        message_id,
        fence,
        {"result", kOptional, "1", {LongText(65'535), R"({"a":1,"a":2})"}}}},
      {"POST",
       "/api/v1/inbox/fail",
       {source, message_id, fence, {"error", kRequired, "\"no\"", {LongText(2'001)}}}},
      {"POST",
       "/api/v1/messages",
       {topic,
        payload,
        {"priority", kOptional, "1", {"10", "-1", "\"high\""}},
        {"due_at", kOptional, "", {"\"tomorrow\"", "1", "null", "\"1969-12-31T23:59:59Z\""}},
        {"delay_ms", kOptional, "", {"-1", R"(1,"due_at":"2030-01-01T00:00:00Z")"}},
        {"payload_base64", kOptional, "", {"\"AA==\""}},
        {"correlation_id", kOptional, "", {LongText(256)}},
        {"dedup_key", kOptional, "", {LongText(256), "\"\""}},
        {"headers", kOptional, "{}", {"[]", LongObject(16'384)}}}},
      {"POST",
       "/api/v1/messages/claim",
       {{"topics", kRequired, R"(["a"])", {"[]", "\"a\""}},
        {"owner", kRequired, "\"me\"", {"\"\""}},
        {"max", kOptional, "1", {"0", "1001"}},
        lease_ms,
        {"wait_ms", kOptional, "0", {"60001", "-1"}},
        {"claim_id", kOptional, kUuid, {"\"x\""}}}},
      {"POST", "/api/v1/messages/ack", {{"claims", kRequired, "[]", {"1"}}}},
      {"POST", "/api/v1/messages/extend", {{"claims", kRequired, "[]", {"1"}}, lease_ms}},
      {"POST", "/api/v1/messages/abandon", {{"claims", kRequired, "[]", {"1"}}}},
      {"POST", "/api/v1/messages/fail", {{"claims", kRequired, "[]", {"1"}}}},
      {"PATCH",
       "/api/v1/topics/input-{}",
       {lease_ms,
        {"max_attempts", kOptional, "1", {"-1"}},
        {"retention_ms", kOptional, "1", {"\"1d\""}},
        {"paused", kOptional, "false", {"null"}}}},
      {"POST",
       "/usage/factors",
       {{"sessionKind", kRequired, "1", {"4"}},
        {"factor",
         kRequired,
         "\"1\"",
         {"1.5", "\"1.0000001\"", "\"-1\"", "\"1000000000.000001\""}}}},
  };
}

class Input : public testing::TestWithParam<Engine> {
 protected:
  static std::string WithUuids(std::string text) {
    for (auto at = text.find("{}"); at != std::string::npos; at = text.find("{}", at + 2))
      if (at > 0 && (text[at - 1] == '"' || text[at - 1] == '-')) text.replace(at, 2, NewUuid());
    return text;
  }
  /// A proper body with one field's value replaced, and more text.
  static std::string Body(const RouteInput& route, const std::string& field = "",
                          const std::string& value = "", const std::string& more = "") {
    std::string text;
    for (const Field& each : route.fields)
      if (const std::string& chosen = each.name == field ? value : each.proper; !chosen.empty())
        text += (text.empty() ? "\"" : ",\"") + each.name + "\":" + chosen;
    return "{" + WithUuids(text) + (text.empty() && !more.empty() ? more.substr(1) : more) + "}";
  }
  HttpResponse Send(const RouteInput& route, const std::string& body,
                    const support::HttpHeaders& headers = {}) const {
    return api_.Call(route.method, WithUuids(route.target), body, headers);
  }
  Fields Named(const std::string& path, const std::string& body) const {
    return FieldsOf(api_.Call("POST", "/api/v1/" + path, body));
  }

  Api api_{SharedServer(GetParam())};
  const Topic topic_{api_};
};

INSTANTIATE_TEST_SUITE_P(Engines, Input, EachEngine(), EngineName);

TEST_P(Input, EveryWrongFieldIsNamedAndNoOther) {
  for (const RouteInput& route : Routes())
    for (const auto& [name, need, proper, wrong, limits] : route.fields) {
      for (const std::string& value : wrong)
        EXPECT_EQ(FieldsOf(Send(route, Body(route, name, value))), Fields{name})
            << route.target << " " << name << ": " << value.substr(0, 100);
      for (const std::string& value : limits)
        EXPECT_LT(Send(route, Body(route, name, value)).status, 300)
            << route.target << " " << name << ": " << value.substr(0, 100);
    }
}

TEST_P(Input, MissingUnknownAndRepeatedFieldsAreAllNamed) {
  for (const RouteInput& route : Routes()) {
    Fields required;
    for (const Field& field : route.fields)
      if (field.need == Need::kRequired) required.insert(field.name);
    if (!required.empty()) {
      EXPECT_EQ(FieldsOf(Send(route, "{}")), required) << route.target;
    }
    const Field& first = route.fields.front();
    EXPECT_EQ(FieldsOf(Send(route, Body(route, "", "", R"(,"colour":1,"":{"a":[]})"))),
              (Fields{"colour", ""}))
        << route.target;
    EXPECT_EQ(FieldsOf(Send(route, Body(route, "", "",
                                        ",\"" + first.name + "\":" + WithUuids(first.proper)))),
              Fields{first.name})
        << route.target;
  }
}

TEST_P(Input, WhatIsNoJsonOrTooMuchOfItIsRefusedAsAWhole) {
  for (const RouteInput& route : Routes()) {
    for (const char* body : {"[]", "{", "\xff", " "}) {
      const HttpResponse response = Send(route, body);
      EXPECT_EQ(response.status, 400) << route.target << body;
      EXPECT_EQ(ProblemType(response), "invalid-json") << route.target << body;
    }
    EXPECT_EQ(Send(route, Body(route), {{"Content-Type", "text/plain"}}).status, 415)
        << route.target;
    EXPECT_EQ(Send(route, "{" + std::string(2 << 20, ' ') + "}").status, 413) << route.target;
  }
}

TEST_P(Input, NothingThatWasRefusedLeftARow) {
  const Key key = NewKey();
  api_.Call("PUT", "/sessions", PutBody(key, 7));
  api_.Call("PUT", "/sessions", PutBody(key, 1), {{"Content-Type", "text/plain"}});
  EXPECT_EQ(api_.Get("/sessions?userObjectId=" + key.user).Json()["items"].Size(), 0U);
  EXPECT_EQ(Named("messages", R"({"messages":[)" + topic_.Message() + "," +
                                  topic_.Message(R"(,"priority":10)") + "]}"),
            Fields{"messages[1].priority"});
  EXPECT_EQ(topic_.Claim().Json()["messages"].Size(), 0U) << "nothing of a list was enqueued";
}

/// A name in a path, and a parameter of a query.
TEST_P(Input, WhatIsWrongInTheTargetIsNamed) {
  for (const std::string& bad :
       {std::string("a%20b"), std::string("a%C3%BC"), std::string("%21"), std::string("a%2Cb"),
        std::string("a%3Db"), std::string("%2A"), std::string(201, 'n')}) {
    for (const char* route :
         {"leases/{}/acquire", "leases/{}/renew", "leases/{}/release", "leases/{}/break",
          "tasks/{}/claim", "tasks/{}/finish", "tasks/{}/run"})
      EXPECT_EQ(Named(std::string(route).replace(std::string(route).find("{}"), 2, bad), "{}"),
                Fields{"name"})
          << bad << " " << route;
    EXPECT_EQ(FieldsOf(api_.Get("/api/v1/leases/" + bad)), Fields{"name"}) << bad;
  }
  for (const char* bad : {"leases/%FF", "leases/%00", "leases/%zz", "inbox/s/1?colour=red"})
    EXPECT_EQ(api_.Get(std::string("/api/v1/") + bad).status, 400) << bad;
  EXPECT_EQ(api_.Get("/api/v1/inbox/s/" + std::string(256, 'x')).status, 400);
  const std::pair<std::string, Fields> rows[] = {
      {"/sessions?limit=0", {"limit"}},
      {"/sessions?limit=1001", {"limit"}},
      {"/sessions?limit=", {"limit"}},
      {"/sessions?limit=99999999999999999999", {"limit"}},
      {"/sessions?userObjectId=xyz", {"userObjectId"}},
      {"/sessions?tenantObjectId=xyz", {"tenantObjectId"}},
      {"/sessions?capacityId=xyz", {"capacityId"}},
      {"/sessions?cursor=xyz", {"cursor"}},
      {"/sessions?active=yes", {"active"}},
      {"/sessions?userobjectid=x", {"userobjectid"}},
      {"/sessions?limit=1&l%69mit=2", {"limit"}},
      {"/api/v1/leases?state=stuck", {"state"}},
      {"/api/v1/leases?prefix=a%20b", {"prefix"}},
      {"/api/v1/leases?cursor=%21", {"cursor"}},
      {"/api/v1/leases?limit=1001", {"limit"}},
      {"/api/v1/leases?colour=red", {"colour"}},
      {"/api/v1/leases/x?history=1", {"history"}},
      {"/api/v1/tasks?limit=1", {"limit"}},
      {"/api/v1/topics?limit=1001", {"limit"}},
      {"/api/v1/topics/" + std::string(256, 't'), {"topic"}},
      {"/api/v1/messages/x", {"id"}},
      {"/api/v1/timers/x", {"id"}},
      {"/api/v1/dead-letters?reason=x", {"reason"}},
      {"/api/v1/dead-letters?cursor=x&limit=0", {"cursor", "limit"}},
  };
  for (const auto& [target, fields] : rows) EXPECT_EQ(FieldsOf(api_.Get(target)), fields) << target;
  EXPECT_EQ(FieldsOf(api_.Call("DELETE", "/api/v1/timers/x")), Fields{"id"});
  EXPECT_EQ(FieldsOf(Lease(api_).Break("", {{"Idempotency-Key", "a b"}})),
            Fields{"Idempotency-Key"});
}

TEST_P(Input, OfAListTheElementThatIsWrongIsNamed) {
  const auto item = [](const std::string& name, const std::string& more = "") {
    return R"({"name":")" + name + R"(","fence":1,"term":")" + NewUuid() + "\"" + more + "}";
  };
  const std::string three = R"({"leases":[)" + item("a") + "," + item("b") + "," + item("c") + ",";
  const std::string claim = Claimed{NewUuid(), 1}.Json();
  const auto of = [&](const std::string& more) {
    return R"({"claims":[)" + Claimed{NewUuid(), 1}.Json(more) + "]}";
  };
  std::string many = topic_.Message();
  for (int i = 0; i < 1'000; ++i) many += "," + topic_.Message();
  struct Row {
    std::string path;
    std::string body;
    Fields fields;
  };
  const Row rows[] = {
      {"leases/renew", three + R"({"name":"d","fence":1,"term":"x"}]})", {"leases[3].term"}},
      {"leases/renew", three + item("a b") + "]}", {"leases[3].name"}},
      {"leases/renew", three + item("b") + "]}", {"leases[3].name"}},  // twice
      {"leases/renew", three + item("d", R"(,"holder":"me")") + "]}", {"leases[3].holder"}},
      {"leases/renew", three + item("d", R"(,"fence":1)") + "]}", {"leases[3].fence"}},
      {"leases/renew", three + item("d", R"(,"ttl_ms":1)") + "]}", {"leases[3].ttl_ms"}},
      {"leases/renew", three + "1]}", {"leases[3]"}},
      {"leases/renew",
       R"({"leases":[{},)" + item("a b") + "]}",
       {"leases[0].name", "leases[0].fence", "leases[0].term", "leases[1].name"}},
      {"messages", R"({"messages":[]})", {"messages"}},
      {"messages", R"({"messages":{}})", {"messages"}},
      {"messages", R"({"messages":[1]})", {"messages[0]"}},
      {"messages", R"({"messages":[)" + many + "]}", {"messages"}},
      {"messages", R"({"messages":[)" + topic_.Message() + R"(],"topic":"t"})", {"topic"}},
      {"messages/claim", R"({"topics":["a","","a"],"owner":"me"})", {"topics[1]", "topics[2]"}},
      {"messages/ack", of(R"(,"output":)" + LongText(65'536)), {"claims[0].output"}},
      {"messages/fail", of(R"(,"error":)" + LongText(4'097)), {"claims[0].error"}},
      {"messages/abandon", of(R"(,"retry_after_ms":-1)"), {"claims[0].retry_after_ms"}},
      {"messages/abandon",
       of(R"(,"started":false,"retry_after_ms":1)"),
       {"claims[0].retry_after_ms"}},
      {"timers", topic_.Message(), {"due_at"}},
      {"timers", R"({"timers":[)" + topic_.Message() + "]}", {"timers[0].due_at"}},
      {"timers", topic_.Message(R"(,"delay_ms":1,"dedup_key":"k")"), {"dedup_key"}},
      {"dead-letters/redrive", R"({"rate":0})", {"rate"}},
      {"dead-letters/discard", "{}", {"topic"}},  // never all by mistake
      {"tasks/x/run", R"({"force":true})", {"force"}},
  };
  for (const auto& [path, body, fields] : rows)
    EXPECT_EQ(Named(path, body), fields) << path << " " << body.substr(0, 200);
  for (const char* action : {"ack", "extend", "abandon", "fail"}) {
    const std::string path = std::string("messages/") + action;
    EXPECT_EQ(Named(path, R"({"claims":[)" + claim + R"(,{"id":"x","fence":0}]})"),
              (Fields{"claims[1].id", "claims[1].fence"}))
        << action;
    EXPECT_EQ(Named(path, of(R"(,"colour":1)")), Fields{"claims[0].colour"}) << action;
  }
  for (const char* path : {"dead-letters/redrive", "dead-letters/discard"}) {
    EXPECT_EQ(Named(path, R"({"topic":"t","reason":"bored"})"), Fields{"reason"}) << path;
    EXPECT_EQ(Named(path, R"({"ids":[]})"), Fields{"ids"}) << path;
    EXPECT_EQ(Named(path, R"({"ids":["x"]})"), Fields{"ids[0]"}) << path;
    EXPECT_EQ(Named(path, R"({"topic":"t","max":0})"), Fields{"max"}) << path;
    EXPECT_EQ(Named(path, R"({"topic":"t","ids":[")" + NewUuid() + R"("]})"), Fields{"ids"});
  }
}

TEST_P(Input, APayloadsLimitIsTold) {
  const std::string head = R"({"topic":")" + topic_.name() + R"(","payload)";
  const HttpResponse large =
      api_.Call("POST", "/api/v1/messages", head + "\":" + LongText((1 << 20) - 1) + "}");
  EXPECT_NE(large.body.find("1048576"), std::string::npos) << large.body;
  for (const char* bad : {"\"A\"", "\"A===\"", "\"-_==\"", "1"})
    EXPECT_EQ(Named("messages", head + "_base64\":" + bad + "}"), Fields{"payload_base64"}) << bad;
}

TEST_P(Input, ATopicIsPausedWithAReasonAndEveryChangeMayHaveOne) {
  const std::string long_one = R"({"lease_ms":1000,"reason":)" + LongText(501) + "}";
  for (const std::string& body :
       {std::string(R"({"paused":true})"), std::string(R"({"paused":true,"reason":""})"),
        std::string(R"({"paused":false,"reason":""})"), long_one})
    EXPECT_EQ(FieldsOf(topic_.Change(body)), Fields{"reason"}) << body;
  EXPECT_EQ(topic_.Change(R"({"paused":false,"reason":"x"})").status, 200);
}

TEST_P(Input, ANameOfTwoHundredAndSlashesInItAreFine) {
  Lease longest(api_, "n/" + NewUuid() + std::string(162, 'n'));
  EXPECT_EQ(longest.name().size(), 200u);
  EXPECT_EQ(longest.Acquire().status, 200);
  EXPECT_EQ(longest.Look()["name"].Text(), longest.name());
  EXPECT_EQ(api_.Get("/api/v1/leases/" + longest.name()).status, 404)
      << "a slash that is not encoded separates segments";
}

}  // namespace
}  // namespace tenure::api
