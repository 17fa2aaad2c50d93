// What the lease routes refuse, and that they say which field is wrong.
#include <set>

#include <gtest/gtest.h>

#include "api/lease_calls.hpp"
#include "api/store_under_test.hpp"

namespace tenure::api {
namespace {

using support::HttpResponse;
using support::Json;
using Fields = std::set<std::string>;

class LeaseInput : public testing::TestWithParam<Engine> {
 protected:
  static Fields FieldsOf(const HttpResponse& response) {
    EXPECT_EQ(response.status, 400) << response.body;
    Fields fields;
    if (response.status == 400)
      for (const Json& error : response.Json()["errors"].Elements())
        fields.insert(error["field"].Text());
    return fields;
  }
  Fields Named(const std::string& action, const std::string& body) const {
    return FieldsOf(lease_.Post(action, body));
  }
  /// An acquisition with one field's value replaced (as JSON) or left out, and more text.
  static std::string Acquire(const std::string& field, const std::string& value,
                             const std::string& more = "") {
    std::string text;
    for (const auto& [name, usual] :
         {std::pair<std::string, std::string>{"term", '"' + NewUuid() + '"'},
          {"ttl_ms", "60000"},
          {"holder", "\"me\""},
          {"wait_ms", "0"},
          {"metadata", "{}"}}) {
      const std::string& chosen = name == field ? value : usual;
      if (!chosen.empty()) text += (text.empty() ? "\"" : ",\"") + name + "\":" + chosen;
    }
    return "{" + text + more + "}";
  }
  static std::string Text(std::size_t size) { return '"' + std::string(size, 'x') + '"'; }

  Api api_{SharedServer(GetParam())};
  const Lease lease_{api_};
};

TEST_P(LeaseInput, ABadNameIsNamedOnEveryRoute) {
  for (const std::string& bad :
       {std::string("a%20b"), std::string("a%C3%BC"), std::string("%21"), std::string("a%2Cb"),
        std::string("a%3Db"), std::string("%2A"), std::string(201, 'n')}) {
    for (const char* action : {"acquire", "renew", "release", "break"})
      EXPECT_EQ(FieldsOf(api_.Call("POST", "/api/v1/leases/" + bad + "/" + action, "{}")),
                Fields{"name"})
          << bad << " " << action;
    EXPECT_EQ(FieldsOf(api_.Get("/api/v1/leases/" + bad)), Fields{"name"}) << bad;
  }
  for (const char* bad : {"%FF", "%00", "%zz"})
    EXPECT_EQ(api_.Get(std::string("/api/v1/leases/") + bad).status, 400) << bad;
}

TEST_P(LeaseInput, ANameOfTwoHundredAndSlashesInItAreFine) {
  Lease longest(api_, "n/" + NewUuid() + std::string(162, 'n'));
  EXPECT_EQ(longest.name().size(), 200u);
  EXPECT_EQ(longest.Acquire().status, 200);
  EXPECT_EQ(longest.Look()["name"].Text(), longest.name());
  EXPECT_EQ(api_.Get("/api/v1/leases/" + longest.name()).status, 404)
      << "a slash that is not encoded separates segments";
}

TEST_P(LeaseInput, MissingFieldsAreAllNamed) {
  EXPECT_EQ(Named("acquire", "{}"), (Fields{"term", "ttl_ms", "holder"}));
  EXPECT_EQ(Named("renew", "{}"), (Fields{"fence", "term"}));
  EXPECT_EQ(Named("release", "{}"), Fields{"term"});
  EXPECT_EQ(Named("break", "{}"), Fields{"reason"});
  EXPECT_EQ(FieldsOf(api_.Call("POST", "/api/v1/leases/renew", "{}")), Fields{"leases"});
}

TEST_P(LeaseInput, ATtlOutOfBoundsIsNamed) {
  for (const char* bad : {"99", "86400001", "0", "-1", "1.5", "\"30s\"", "null", "1e400"})
    EXPECT_EQ(Named("acquire", Acquire("ttl_ms", bad)), Fields{"ttl_ms"}) << bad;
  for (const char* good : {"100", "86400000"})
    EXPECT_EQ(Lease(api_).Post("acquire", Acquire("ttl_ms", good)).status, 200) << good;
  EXPECT_EQ(Named("renew", R"({"fence":1,"term":")" + NewUuid() + R"(","ttl_ms":99})"),
            Fields{"ttl_ms"});
}

TEST_P(LeaseInput, AWaitThatIsTooLongIsNamed) {
  for (const char* bad : {"60001", "-1", "true"})
    EXPECT_EQ(Named("acquire", Acquire("wait_ms", bad)), Fields{"wait_ms"}) << bad;
  EXPECT_EQ(Lease(api_).Post("acquire", Acquire("wait_ms", "60000")).status, 200)
      << "free: granted at once";
}

TEST_P(LeaseInput, ATermThatIsNoUuidIsNamed) {
  for (const char* bad : {"\"me\"", "\"\"", "1", "null"}) {
    EXPECT_EQ(Named("acquire", Acquire("term", bad)), Fields{"term"}) << bad;
    EXPECT_EQ(Named("release", std::string(R"({"term":)") + bad + "}"), Fields{"term"}) << bad;
  }
}

TEST_P(LeaseInput, AHolderOrMetadataThatIsTooLargeIsNamed) {
  EXPECT_EQ(Named("acquire", Acquire("holder", Text(201))), Fields{"holder"});
  EXPECT_EQ(Lease(api_).Post("acquire", Acquire("holder", Text(200))).status, 200);
  EXPECT_EQ(Named("acquire", Acquire("metadata", R"({"a":)" + Text(4'089) + "}")),
            Fields{"metadata"});
  EXPECT_EQ(Lease(api_).Post("acquire", Acquire("metadata", R"({"a":)" + Text(4'088) + "}")).status,
            200);
  for (const char* bad : {"[]", "1", "\"{}\"", "null", R"({"a":"\u0000"})"})
    EXPECT_EQ(Named("acquire", Acquire("metadata", bad)), Fields{"metadata"}) << bad;
}

TEST_P(LeaseInput, UnknownAndRepeatedFieldsAreNamed) {
  EXPECT_EQ(Named("acquire", Acquire("", "", R"(,"colour":1)")), Fields{"colour"});
  EXPECT_EQ(Named("acquire", Acquire("", "", R"(,"ttl_ms":1000)")), Fields{"ttl_ms"});
  EXPECT_EQ(Named("release", R"({"term":")" + NewUuid() + R"(","force":true})"), Fields{"force"});
  EXPECT_EQ(Named("break", R"({"reason":"r","reason":"s"})"), Fields{"reason"});
}

TEST_P(LeaseInput, AFenceThatIsNoneIsNamed) {
  for (const char* bad : {"0", "-1", "9007199254740992", "1.0", "\"1\""})
    EXPECT_EQ(
        Named("renew", std::string(R"({"fence":)") + bad + R"(,"term":")" + NewUuid() + "\"}"),
        Fields{"fence"})
        << bad;
}

TEST_P(LeaseInput, ABreakNeedsAReasonAndAProperDrain) {
  EXPECT_EQ(Named("break", R"({"reason":""})"), Fields{"reason"});
  EXPECT_EQ(Named("break", R"({"reason":)" + Text(501) + "}"), Fields{"reason"});
  EXPECT_EQ(Named("break", R"({"reason":"r","drain_ms":86400001})"), Fields{"drain_ms"});
  EXPECT_EQ(Named("break", R"({"reason":"r","force":1})"), Fields{"force"});
  EXPECT_EQ(FieldsOf(lease_.Break("", {{"Idempotency-Key", "a b"}})), Fields{"Idempotency-Key"});
}

TEST_P(LeaseInput, AHeartbeatNamesTheItemThatIsWrong) {
  const auto item = [](const std::string& name, const std::string& more = "") {
    return R"({"name":")" + name + R"(","fence":1,"term":")" + NewUuid() + "\"" + more + "}";
  };
  const auto named = [&](const std::string& items) {
    return FieldsOf(api_.Call("POST", "/api/v1/leases/renew", R"({"leases":[)" + items + "]}"));
  };
  const std::string three = item("a") + "," + item("b") + "," + item("c") + ",";
  EXPECT_EQ(named(three + R"({"name":"d","fence":1,"term":"x"})"), Fields{"leases[3].term"});
  EXPECT_EQ(named(three + item("a b")), Fields{"leases[3].name"});
  EXPECT_EQ(named(three + item("b")), Fields{"leases[3].name"}) << "twice";
  EXPECT_EQ(named(three + item("d", R"(,"holder":"me")")), Fields{"leases[3].holder"});
  EXPECT_EQ(named(three + item("d", R"(,"fence":1)")), Fields{"leases[3].fence"});
  EXPECT_EQ(named(three + item("d", R"(,"ttl_ms":1)")), Fields{"leases[3].ttl_ms"});
  EXPECT_EQ(named(three + "1"), Fields{"leases[3]"});
  EXPECT_EQ(named("{}," + item("a b")),
            (Fields{"leases[0].name", "leases[0].fence", "leases[0].term", "leases[1].name"}));
}

TEST_P(LeaseInput, TheQueryOfAListIsChecked) {
  const auto named = [&](const std::string& query) {
    return FieldsOf(api_.Get("/api/v1/leases?" + query));
  };
  EXPECT_EQ(named("state=stuck"), Fields{"state"});
  EXPECT_EQ(named("prefix=a%20b"), Fields{"prefix"});
  EXPECT_EQ(named("cursor=%21"), Fields{"cursor"});
  EXPECT_EQ(named("limit=0"), Fields{"limit"});
  EXPECT_EQ(named("limit=1001"), Fields{"limit"});
  EXPECT_EQ(named("colour=red"), Fields{"colour"});
  EXPECT_EQ(FieldsOf(api_.Get(lease_.Path() + "?history=1")), Fields{"history"});
}

TEST_P(LeaseInput, AWriteThatIsNotJsonIs415AndOneThatIsTooLarge413) {
  const support::HttpHeaders text{{"Content-Type", "text/plain"}};
  for (const char* action : {"acquire", "renew", "release", "break"}) {
    EXPECT_EQ(lease_.Post(action, Ask().Body(), text).status, 415) << action;
    EXPECT_EQ(lease_.Post(action, "{" + std::string(2 << 20, ' ') + "}").status, 413) << action;
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, LeaseInput, testing::Values(Engine::kSqlite, Engine::kPostgres),
                         EngineName);

}  // namespace
}  // namespace tenure::api
