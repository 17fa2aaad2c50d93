// What the routes of messages refuse, and that they say which field is wrong.
#include <set>

#include <gtest/gtest.h>

#include "api/message_calls.hpp"
#include "api/store_under_test.hpp"

namespace tenure::api {
namespace {

using support::HttpResponse;
using support::Json;
using Fields = std::set<std::string>;

class MessageInput : public testing::TestWithParam<Engine> {
 protected:
  static Fields FieldsOf(const HttpResponse& response) {
    EXPECT_EQ(response.status, 400) << response.body;
    Fields fields;
    if (response.status == 400)
      for (const Json& error : response.Json()["errors"].Elements())
        fields.insert(error["field"].Text());
    return fields;
  }
  Fields Named(const std::string& path, const std::string& body) const {
    return FieldsOf(api_.Call("POST", "/api/v1/" + path, body));
  }
  Fields NamedByPatch(const std::string& body) const { return FieldsOf(topic_.Change(body)); }
  static std::string Text(std::size_t size) { return '"' + std::string(size, 'x') + '"'; }

  Api api_{SharedServer(GetParam())};
  Topic topic_{api_};
};

/// Fields that are added to a proper body, and which of them is wrong.
struct Case {
  std::string more;
  Fields fields;
};

TEST_P(MessageInput, WhatIsWrongWithAMessageIsNamed) {
  for (const auto& [more, fields] :
       std::vector<Case>{{R"(,"priority":10)", {"priority"}},
                         {R"(,"priority":-1)", {"priority"}},
                         {R"(,"priority":"high")", {"priority"}},
                         {R"(,"due_at":"tomorrow")", {"due_at"}},
                         {R"(,"due_at":1)", {"due_at"}},
                         {R"(,"due_at":null)", {"due_at"}},
                         {R"(,"due_at":"1969-12-31T23:59:59Z")", {"due_at"}},
                         {R"(,"delay_ms":-1)", {"delay_ms"}},
                         {R"(,"delay_ms":1,"due_at":"2030-01-01T00:00:00Z")", {"delay_ms"}},
                         {R"(,"payload_base64":"AA==")", {"payload_base64"}},
                         {R"(,"correlation_id":)" + Text(256), {"correlation_id"}},
                         {R"(,"dedup_key":)" + Text(256), {"dedup_key"}},
                         {R"(,"dedup_key":"")", {"dedup_key"}},
                         {R"(,"headers":[])", {"headers"}},
                         {R"(,"headers":{"a":)" + Text(16'384) + "}", {"headers"}},
                         {R"(,"colour":"red")", {"colour"}},
                         {R"(,"payload":2)", {"payload"}}}) {
    EXPECT_EQ(Named("messages", topic_.Message(more)), fields) << more;
    Fields in_list;
    for (const std::string& field : fields) in_list.insert("messages[1]." + field);
    EXPECT_EQ(Named("messages",
                    R"({"messages":[)" + topic_.Message() + "," + topic_.Message(more) + "]}"),
              in_list)
        << more;
  }
  EXPECT_EQ(topic_.Claim().Json()["messages"].Size(), 0U) << "nothing of a list was enqueued";
}

TEST_P(MessageInput, ATopicHas1To255Bytes) {
  for (const std::string& topic :
       {std::string("\"\""), Text(256), std::string("1"), std::string(R"("\u0000")")})
    EXPECT_EQ(Named("messages", R"({"payload":1,"topic":)" + topic + "}"), Fields{"topic"})
        << topic;
  EXPECT_EQ(Named("messages", "{}"), (Fields{"topic", "payload"}));
  EXPECT_EQ(FieldsOf(api_.Get("/api/v1/topics/" + std::string(256, 't'))), Fields{"topic"});
}

TEST_P(MessageInput, APayloadThatIsTooLargeIsNamedWithItsLimit) {
  const std::string fits = Text((1 << 20) - 2);
  const std::string head = R"({"topic":")" + topic_.name() + R"(","payload":)";
  EXPECT_EQ(api_.Call("POST", "/api/v1/messages", head + fits + "}").status, 201);
  const HttpResponse large =
      api_.Call("POST", "/api/v1/messages", head + Text((1 << 20) - 1) + "}");
  EXPECT_EQ(FieldsOf(large), Fields{"payload"});
  EXPECT_NE(large.body.find("1048576"), std::string::npos) << large.body;
  EXPECT_EQ(api_.Call("POST", "/api/v1/messages", head + Text(3 << 20) + "}").status, 413);
  for (const char* bad : {"\"A\"", "\"A===\"", "\"-_==\"", "1"})
    EXPECT_EQ(Named("messages", R"({"topic":"t","payload_base64":)" + std::string(bad) + "}"),
              Fields{"payload_base64"})
        << bad;
}

TEST_P(MessageInput, AListHas1To1000Messages) {
  EXPECT_EQ(Named("messages", R"({"messages":[]})"), Fields{"messages"});
  EXPECT_EQ(Named("messages", R"({"messages":{}})"), Fields{"messages"});
  EXPECT_EQ(Named("messages", R"({"messages":[1]})"), Fields{"messages[0]"});
  std::string many = topic_.Message();
  for (int i = 0; i < 1'000; ++i) many += "," + topic_.Message();
  EXPECT_EQ(Named("messages", R"({"messages":[)" + many + "]}"), Fields{"messages"});
  EXPECT_EQ(Named("messages", R"({"messages":[)" + topic_.Message() + R"(],"topic":"t"})"),
            Fields{"topic"});
}

TEST_P(MessageInput, AClaimIsChecked) {
  const auto named = [&](const std::string& body) { return Named("messages/claim", body); };
  EXPECT_EQ(named("{}"), (Fields{"topics", "owner"}));
  EXPECT_EQ(named(R"({"topics":[],"owner":"me"})"), Fields{"topics"});
  EXPECT_EQ(named(R"({"topics":["a","","a"],"owner":"me"})"), (Fields{"topics[1]", "topics[2]"}));
  EXPECT_EQ(named(R"({"topics":"a","owner":""})"), (Fields{"topics", "owner"}));
  for (const auto& [more, fields] : std::vector<Case>{{R"(,"max":0)", {"max"}},
                                                      {R"(,"max":1001)", {"max"}},
                                                      {R"(,"lease_ms":999)", {"lease_ms"}},
                                                      {R"(,"lease_ms":86400001)", {"lease_ms"}},
                                                      {R"(,"wait_ms":60001)", {"wait_ms"}},
                                                      {R"(,"wait_ms":-1)", {"wait_ms"}},
                                                      {R"(,"claim_id":"x")", {"claim_id"}},
                                                      {R"(,"limit":1)", {"limit"}}})
    EXPECT_EQ(named(topic_.ClaimBody(more)), fields) << more;
}

TEST_P(MessageInput, AReportNamesTheClaimThatIsWrong) {
  const Claimed good{NewUuid(), 1};
  for (const char* action : {"ack", "extend", "abandon", "fail"}) {
    const std::string path = std::string("messages/") + action;
    EXPECT_EQ(Named(path, "{}"), Fields{"claims"}) << action;
    EXPECT_EQ(Named(path, R"({"claims":[)" + good.Json() + R"(,{"id":"x","fence":0}]})"),
              (Fields{"claims[1].id", "claims[1].fence"}))
        << action;
    EXPECT_EQ(Named(path, R"({"claims":[)" + good.Json(R"(,"colour":1)") + "]}"),
              Fields{"claims[0].colour"})
        << action;
  }
  const auto of = [&](const std::string& action, const std::string& more) {
    return Named("messages/" + action, R"({"claims":[)" + good.Json(more) + "]}");
  };
  EXPECT_EQ(of("ack", R"(,"output":)" + Text(65'536)), Fields{"claims[0].output"});
  EXPECT_EQ(of("fail", R"(,"error":)" + Text(4'097)), Fields{"claims[0].error"});
  EXPECT_EQ(of("abandon", R"(,"retry_after_ms":-1)"), Fields{"claims[0].retry_after_ms"});
  EXPECT_EQ(of("abandon", R"(,"started":false,"retry_after_ms":1)"),
            Fields{"claims[0].retry_after_ms"});
  EXPECT_EQ(Named("messages/extend", R"({"claims":[],"lease_ms":1})"), Fields{"lease_ms"});
}

TEST_P(MessageInput, ATimerSaysWhen) {
  EXPECT_EQ(Named("timers", topic_.Message()), Fields{"due_at"});
  EXPECT_EQ(Named("timers", R"({"timers":[)" + topic_.Message() + "]}"),
            Fields{"timers[0].due_at"});
  EXPECT_EQ(Named("timers", topic_.Message(R"(,"delay_ms":1,"dedup_key":"k")")),
            Fields{"dedup_key"});
}

TEST_P(MessageInput, AnIdThatIsNoneIsNamed) {
  for (const char* path : {"/api/v1/messages/x", "/api/v1/timers/x"})
    EXPECT_EQ(FieldsOf(api_.Get(path)), Fields{"id"}) << path;
  EXPECT_EQ(FieldsOf(api_.Call("DELETE", "/api/v1/timers/x")), Fields{"id"});
}

TEST_P(MessageInput, AChangeOfATopicIsChecked) {
  EXPECT_EQ(NamedByPatch(R"({"lease_ms":1})"), Fields{"lease_ms"});
  EXPECT_EQ(NamedByPatch(R"({"max_attempts":-1,"retention_ms":"1d"})"),
            (Fields{"max_attempts", "retention_ms"}));
  EXPECT_EQ(NamedByPatch(R"({"paused":true})"), Fields{"reason"});
  EXPECT_EQ(NamedByPatch(R"({"reason":"x"})"), Fields{"reason"});
  EXPECT_EQ(NamedByPatch(R"({"paused":null})"), Fields{"paused"});
}

TEST_P(MessageInput, DeadLettersAreNamedProperly) {
  for (const char* action : {"dead-letters/redrive", "dead-letters/discard"}) {
    EXPECT_EQ(Named(action, R"({"topic":"t","reason":"bored"})"), Fields{"reason"}) << action;
    EXPECT_EQ(Named(action, R"({"ids":[]})"), Fields{"ids"}) << action;
    EXPECT_EQ(Named(action, R"({"ids":["x"]})"), Fields{"ids[0]"}) << action;
    EXPECT_EQ(Named(action, R"({"topic":"t","max":0})"), Fields{"max"}) << action;
    EXPECT_EQ(Named(action, R"({"topic":"t","ids":[")" + NewUuid() + R"("]})"), Fields{"ids"})
        << action;
  }
  EXPECT_EQ(Named("dead-letters/redrive", R"({"rate":0})"), Fields{"rate"});
  EXPECT_EQ(Named("dead-letters/discard", "{}"), Fields{"topic"}) << "never all by mistake";
  EXPECT_EQ(FieldsOf(api_.Get("/api/v1/dead-letters?reason=x")), Fields{"reason"});
  EXPECT_EQ(FieldsOf(api_.Get("/api/v1/dead-letters?cursor=x&limit=0")),
            (Fields{"cursor", "limit"}));
  EXPECT_EQ(FieldsOf(api_.Get("/api/v1/topics?limit=1001")), Fields{"limit"});
}

INSTANTIATE_TEST_SUITE_P(Engines, MessageInput, testing::Values(Engine::kSqlite, Engine::kPostgres),
                         EngineName);

}  // namespace
}  // namespace tenure::api
