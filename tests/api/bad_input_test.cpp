// What PUT /sessions refuses, and that it says which field is wrong.
#include <set>

#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/store_under_test.hpp"

namespace tenure::api {
namespace {

using support::HttpResponse;
using support::Json;
using Fields = std::set<std::string>;

/// A PUT body with one field's value replaced (as JSON), left out, or with more text.
struct Body {
  std::string user = '"' + NewUuid() + '"';
  std::string tenant = '"' + NewUuid() + '"';
  std::string capacity = '"' + NewUuid() + '"';
  std::string kind = "1";
  std::string more = "";

  std::string Text() const {
    std::string text;
    const auto add = [&](const std::string& name, const std::string& value) {
      if (value.empty()) return;
      text += (text.empty() ? "\"" : ",\"") + name + "\":" + value;
    };
    add("userObjectId", user);
    add("tenantObjectId", tenant);
    add("capacityId", capacity);
    add("sessionKind", kind);
    return "{" + text + more + "}";
  }
};

class BadInput : public testing::TestWithParam<Engine> {
 protected:
  /// The fields that a refusal names.
  Fields Named(const std::string& body) {
    const HttpResponse response = api_.Call("PUT", "/sessions", body);
    EXPECT_EQ(response.status, 400) << body;
    Fields fields;
    if (response.status == 400 && response.Json().Has("errors"))
      for (const Json& error : response.Json()["errors"].Elements()) {
        fields.insert(error["field"].Text());
        EXPECT_NE(error["message"].Text(), "");
      }
    return fields;
  }
  /// Refused as a whole: it cannot be read as JSON, so no field has a name.
  void ExpectUnreadable(const std::string& body) {
    const HttpResponse response = api_.Call("PUT", "/sessions", body);
    EXPECT_EQ(response.status, 400) << body.substr(0, 100);
    EXPECT_EQ(ProblemType(response), "invalid-json") << body.substr(0, 100);
    EXPECT_NE(response.Json()["detail"].Text(), "");
  }

  Api api_{SharedServer(GetParam())};
};

TEST_P(BadInput, AMissingFieldIsNamed) {
  EXPECT_EQ(Named(Body{.user = ""}.Text()), Fields{"userObjectId"});
  EXPECT_EQ(Named(Body{.tenant = ""}.Text()), Fields{"tenantObjectId"});
  EXPECT_EQ(Named(Body{.capacity = ""}.Text()), Fields{"capacityId"});
  EXPECT_EQ(Named(Body{.kind = ""}.Text()), Fields{"sessionKind"});
  EXPECT_EQ(Named("{}"), (Fields{"userObjectId", "tenantObjectId", "capacityId", "sessionKind"}));
}

TEST_P(BadInput, AFieldOfAnotherTypeIsNamed) {
  for (const char* value : {"null", "1", "1.5", "true", "[]", "{}", R"(["a"])"}) {
    EXPECT_EQ(Named(Body{.user = value}.Text()), Fields{"userObjectId"}) << value;
    EXPECT_EQ(Named(Body{.tenant = value}.Text()), Fields{"tenantObjectId"}) << value;
    EXPECT_EQ(Named(Body{.capacity = value}.Text()), Fields{"capacityId"}) << value;
  }
}

TEST_P(BadInput, AMalformedIdIsNamed) {
  for (const char* value :
       {R"("")", R"("x")", R"("6f9619ff8b864011b42d00c04fc964ff")",
        R"("6f9619ff-8b86-4011-b42d-00c04fc964f")", R"("6f9619ff-8b86-4011-b42d-00c04fc964fff")",
        R"("{6f9619ff-8b86-4011-b42d-00c04fc964ff}")", R"("6f9619ff-8b86-4011-b42d-00c04fc964fg")",
        R"(" 6f9619ff-8b86-4011-b42d-00c04fc964ff")",
        R"("6f9619ff-8b864011-b42d-0-0c04fc964ff")"}) {
    EXPECT_EQ(Named(Body{.user = value}.Text()), Fields{"userObjectId"}) << value;
    EXPECT_EQ(Named(Body{.capacity = value}.Text()), Fields{"capacityId"}) << value;
  }
}

TEST_P(BadInput, AKindThatDoesNotExistIsNamed) {
  for (const char* value : {"0", "4", "-1", "1.5", "1.0", "1e0", R"("1")", R"("Basic")", "null",
                            "true", "[1]", "9223372036854775808", "18446744073709551615", "1e99"})
    EXPECT_EQ(Named(Body{.kind = value}.Text()), Fields{"sessionKind"}) << value;
}

TEST_P(BadInput, AKindBeyondAllIntegersIsNamedLikeAnyOther) {
  for (const char* value : {"18446744073709551616", "-9223372036854775809", "1e999"})
    EXPECT_EQ(Named(Body{.kind = value}.Text()), Fields{"sessionKind"}) << value;
}

TEST_P(BadInput, AnUnknownFieldIsNamed) {
  EXPECT_EQ(Named(Body{.more = R"(,"colour":1)"}.Text()), Fields{"colour"});
  EXPECT_EQ(Named(Body{.more = R"(,"SessionKind":1)"}.Text()), Fields{"SessionKind"});
  EXPECT_EQ(Named(Body{.more = R"(,"":{"a":[]})"}.Text()), Fields{""});
  EXPECT_EQ(Named(Body{.kind = "9", .more = R"(,"a":1,"b":2)"}.Text()),
            (Fields{"sessionKind", "a", "b"}));
}

TEST_P(BadInput, ARepeatedFieldIsNamedInAnySpelling) {
  EXPECT_EQ(Named(Body{.more = R"(,"sessionKind":1)"}.Text()), Fields{"sessionKind"});
  EXPECT_EQ(Named(Body{.more = R"(,"session\u004bind":2)"}.Text()), Fields{"sessionKind"});
  EXPECT_EQ(Named(Body{.more = R"(,"x":1,"x":1)"}.Text()), Fields{"x"});
}

TEST_P(BadInput, ABodyThatIsNoObjectIsRefused) {
  for (const char* body : {"[]", "1", "null", "\"text\"", "true", "{", "}", "{}{}", "{]", "{'a':1}",
                           "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "nul", "// x\n{}", " ", "\n"})
    ExpectUnreadable(body);
}

TEST_P(BadInput, AnEmptyBodyIsRefused) {
  const HttpResponse response =
      api_.Call("PUT", "/sessions", "", {{"Content-Type", "application/json"}});
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(ProblemType(response), "invalid-json");
}

TEST_P(BadInput, TextThatIsNotUtf8IsRefused) {
  for (const char* bytes : {"\"\xff\"", "\"\xc3\"", "\"\xed\xa0\x80\"", "\"\xf5\x80\x80\x80\"",
                            "\"\xc0\x80\"", "\"\x01\""}) {
    ExpectUnreadable(Body{.user = bytes}.Text());
    ExpectUnreadable(Body{.more = std::string(",") + bytes + ":1"}.Text());
  }
  ExpectUnreadable(Body{.user = std::string("\"\0\"", 3)}.Text());
}

TEST_P(BadInput, HalfASurrogatePairAndU0000AreRefused) {
  for (const char* value : {R"("\ud800")", R"("\ud800x")", R"("\udc00")", R"("\u0000")"}) {
    EXPECT_EQ(api_.Call("PUT", "/sessions", Body{.user = value}.Text()).status, 400) << value;
    EXPECT_EQ(
        api_.Call("PUT", "/sessions", Body{.more = std::string(",") + value + ":1"}.Text()).status,
        400)
        << value;
  }
  EXPECT_EQ(Named(Body{.user = R"("\u0000")"}.Text()), Fields{"userObjectId"});
  EXPECT_EQ(Named(Body{.tenant = R"("6f9619ff-8b86-4011-b42d-00c04fc964ff\u0000")"}.Text()),
            Fields{"tenantObjectId"});
}

TEST_P(BadInput, DeepNestingIsRefused) {
  for (const std::size_t depth : {100U, 10'000U, 500'000U}) {
    ExpectUnreadable(
        Body{.more = ",\"x\":" + std::string(depth, '[') + std::string(depth, ']')}.Text());
    ExpectUnreadable(std::string(depth, '['));
  }
}

TEST_P(BadInput, ABodyBeyondTheLimitIs413) {
  const std::string body = Body{.more = std::string(2 << 20, ' ')}.Text();
  EXPECT_EQ(api_.Call("PUT", "/sessions", body).status, 413);
}

TEST_P(BadInput, NothingThatWasRefusedLeftARow) {
  const Key key = NewKey();
  api_.Call("PUT", "/sessions", PutBody(key, 7));
  api_.Call("PUT", "/sessions", PutBody(key, 1), {{"Content-Type", "text/plain"}});
  EXPECT_EQ(api_.Get("/sessions?userObjectId=" + key.user).Json()["items"].Size(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Engines, BadInput, testing::Values(Engine::kSqlite, Engine::kPostgres),
                         EngineName);

}  // namespace
}  // namespace tenure::api
