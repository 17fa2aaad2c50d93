#include "http/json_fields.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/utf8.hpp"

namespace tenure::http {
namespace {

using testing::HasSubstr;

/// A body as a request has it: readable bytes follow, and they are not its own.
class Body {
 public:
  explicit Body(std::string_view text) : bytes_(text), size_(text.size()) {
    bytes_.append(Request::kBodyPadding, '}');
  }
  std::string_view view() const { return std::string_view(bytes_).substr(0, size_); }

 private:
  std::string bytes_;
  std::size_t size_;
};

/// What `read` is refused with; 200 when it is not.
template <class Read>
Problem ProblemIn(const Read& read) {
  try {
    read();
  } catch (const ProblemError& error) {
    return error.problem();
  }
  return {.status = 200};
}

std::string Errors(const Problem& problem) {
  std::string out;
  for (const FieldError& error : problem.errors) out += error.field + ": " + error.message + "\n";
  return out;
}

/// Reads "text" (at most 10 bytes) and "number" (1 to 3); returns what is wrong.
Problem ProblemOf(std::string_view json) {
  const Body body(json);
  return ProblemIn([&] {
    JsonFields fields(body.view());
    fields.Text("text", 10);
    fields.Integer("number", 1, 3);
    fields.Finish();
  });
}

/// Runs `read` over the body and returns what is wrong, a line each.
template <class Read>
std::string ErrorsOf(std::string_view json, Read read) {
  const Body body(json);
  const Problem problem = ProblemIn([&] {
    JsonFields fields(body.view());
    read(fields);
    fields.Finish();
  });
  return problem.errors.empty() ? problem.detail : Errors(problem);
}

TEST(JsonFields, ReadsWhatIsAskedFor) {
  const Body body(
      R"({"id":"6F9619FF-8B86-D011-B42D-00C04FC964FF","number":-5,"text":"\u00e9\ud83d\ude00\n"})");
  JsonFields fields(body.view());
  EXPECT_EQ(fields.Text("text", 7), "\u00e9\U0001F600\n");
  EXPECT_EQ(fields.Integer("number", -5, -5), -5);
  EXPECT_EQ(fields.Uuid("id").ToString(), "6f9619ff-8b86-d011-b42d-00c04fc964ff");
  fields.Finish();
}

TEST(JsonFields, NamesEverythingThatIsWrongAtOnce) {
  const Problem problem = ProblemOf(R"({"zeta":1,"number":4,"alpha":[{}],"zeta":2})");
  EXPECT_EQ(problem.status, 400);
  EXPECT_EQ(problem.type, "invalid-request");
  EXPECT_EQ(Errors(problem),
            "text: is missing; a string is expected\n"
            "number: must be a whole number from 1 to 3\n"
            "zeta: stands there more than once\n"
            "alpha: is not known here\n");
}

TEST(JsonFields, ARepeatedFieldIsNamedOnceAlsoWhenItIsKnown) {
  EXPECT_EQ(Errors(ProblemOf(R"({"text":"a","text":"a","number":1})")),
            "text: stands there more than once\n");
  // The same name, spelled with an escape.
  EXPECT_EQ(Errors(ProblemOf(R"({"text":"a","t\u0065xt":"a","number":1})")),
            "text: stands there more than once\n");
}

TEST(JsonFields, AWrongTypeSaysWhatIsExpectedAndWhatIsThere) {
  EXPECT_EQ(Errors(ProblemOf(R"({"text":5,"number":"1"})")),
            "text: must be a string, not a number\n"
            "number: must be a whole number from 1 to 3, not a string\n");
  EXPECT_EQ(Errors(ProblemOf(R"({"text":null,"number":1.0})")),
            "text: must be a string, not null\n"
            "number: must be a whole number from 1 to 3, not a number with a fraction or an "
            "exponent\n");
  EXPECT_EQ(Errors(ProblemOf(R"({"text":{},"number":true})")),
            "text: must be a string, not an object\n"
            "number: must be a whole number from 1 to 3, not true or false\n");
}

TEST(JsonFields, NumbersBeyondTheirRangeAreWrongByName) {
  for (const char* number : {"0", "4", "-1", "9223372036854775808", "18446744073709551615"})
    EXPECT_EQ(Errors(ProblemOf(std::string(R"({"text":"a","number":)") + number + "}")),
              "number: must be a whole number from 1 to 3\n")
        << number;
}

TEST(JsonFields, TextIsStorableAndBounded) {
  EXPECT_EQ(ProblemOf(R"({"text":"0123456789","number":1})").status, 200);
  EXPECT_THAT(Errors(ProblemOf(R"({"text":"01234567890","number":1})")), HasSubstr("10 bytes"));
  EXPECT_THAT(Errors(ProblemOf(R"({"text":"a\u0000b","number":1})")), HasSubstr("U+0000"));
}

struct Bad {
  std::string json;
  const char* says;
};

TEST(JsonFields, WhatIsNotOneJsonObjectIsRefusedWithAReason) {
  const std::vector<Bad> all{
      {"", "empty"},
      {" \t", "empty"},
      {"[]", "not an array"},
      {"5", "not a number"},
      {"\"x\"", "not a string"},
      {"null", "not null"},
      {R"({"text":"a","number":1} x)", "follows its end"},
      {R"({"text":"a","number":1}{})", "follows its end"},
      {R"({"text":"a","number":1)", "wrong"},
      {R"({"text":"a" "number":1})", "wrong"},
      {R"({"text":"a","number":1,})", "wrong"},
      {"{'text':1}", "wrong"},
      {R"({"number":NaN})", "wrong"},
      {R"({"number":nil})", "true, false and null"},
      {R"({"number":Infinity})", "wrong"},
      {R"({"number":01})", "number"},
      {R"({"number":+1})", "wrong"},
      {R"({"text":"\ud800"})", "surrogate"},
      {R"({"text":"\udc00"})", "surrogate"},
      {R"({"te\udc00xt":1})", "surrogate"},
      {R"({"text":"\ud800\u0041"})", "surrogate"},
      {R"({"text":"\x41"})", "escape"},
      {"{\"text\":\"a\nb\"}", "control character"},
      {"{\"text\":\"\xff\"}", "UTF-8"},
      {"{\"text\":\"\xed\xa0\x80\"}", "UTF-8"},
      {std::string("{\"text\":\"a\0b\"}", 14), "control character"},
  };
  for (const Bad& bad : all) {
    const Problem problem = ProblemOf(bad.json);
    EXPECT_EQ(problem.status, 400) << bad.json;
    EXPECT_EQ(problem.type, "invalid-json") << bad.json;
    EXPECT_THAT(problem.detail, HasSubstr(bad.says)) << bad.json;
  }
}

TEST(JsonFields, ANumberBeyondAllTypesIsNamedLikeAnyOtherWrongField) {
  for (const char* number : {"1e999", "18446744073709551616", "-9223372036854775809"}) {
    const Problem problem = ProblemOf(R"({"text":"a","number":)" + std::string(number) + "}");
    EXPECT_EQ(problem.type, "invalid-request") << number;
    ASSERT_EQ(problem.errors.size(), 1u) << number;
    EXPECT_EQ(problem.errors[0].field, "number");
  }
}

TEST(JsonFields, CompleteDeepNestingIsRefusedToo) {
  const std::string json = "{\"a\":" + std::string(40, '[') + std::string(40, ']') + "}";
  EXPECT_THAT(ProblemOf(json).detail, HasSubstr("32 levels"));
}

TEST(JsonFields, TooManyFieldsAreRefused) {
  std::string json = "{";
  for (int i = 0; i < 200; ++i) json += "\"f" + std::to_string(i) + "\":1,";
  json.back() = '}';
  EXPECT_THAT(ProblemOf(json).detail, HasSubstr("more than 128 fields"));
}

TEST(JsonFields, AForeignNameIsShownShortAndPrintable) {
  const Problem problem =
      ProblemOf("{\"text\":\"a\",\"number\":1,\"\\u0007\\u0000" + std::string(300, 'n') + "\":1}");
  ASSERT_EQ(problem.errors.size(), 1U);
  const std::string& shown = problem.errors.front().field;
  EXPECT_TRUE(base::IsStorableText(shown));
  EXPECT_EQ(shown.substr(0, 4), "??nn");
  EXPECT_LE(shown.size(), 103U);
}

TEST(JsonFields, TheParserServesOneBodyAfterAnother) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(ProblemOf("{").status, 400);
    EXPECT_EQ(ProblemOf(R"({"text":")" + std::string(100'000, 'x') + R"("})").status, 400);
    EXPECT_EQ(ProblemOf(R"({"text":"a","number":1})").status, 200);
  }
}

TEST(JsonFields, AnOptionalFieldMayBeMissing) {
  const Body body(R"({"number":7,"text":"","flag":false,"object":{}})");
  JsonFields fields(body.view());
  EXPECT_EQ(fields.OptionalInteger("number", 1, 7), 7);
  EXPECT_EQ(fields.OptionalText("text", 3), "");
  EXPECT_EQ(fields.OptionalFlag("flag"), false);
  EXPECT_EQ(fields.OptionalObject("object", 3), "{}");
  EXPECT_EQ(fields.OptionalInteger("absent", 1, 7), std::nullopt);
  EXPECT_EQ(fields.OptionalText("absent", 3), std::nullopt);
  EXPECT_EQ(fields.OptionalFlag("absent"), std::nullopt);
  EXPECT_EQ(fields.OptionalObject("absent", 3), std::nullopt);
  fields.Finish();
}

TEST(JsonFields, AnOptionalFieldThatIsThereMustBeRight) {
  const auto read = [](JsonFields& fields) {
    EXPECT_EQ(fields.OptionalInteger("number", 1, 7), std::nullopt);
    EXPECT_EQ(fields.OptionalText("text", 3), std::nullopt);
    EXPECT_EQ(fields.OptionalFlag("flag"), std::nullopt);
    EXPECT_EQ(fields.OptionalObject("object", 3), std::nullopt);
  };
  EXPECT_EQ(ErrorsOf(R"({"number":null,"text":null,"flag":null,"object":null})", read),
            "number: must be a whole number from 1 to 7, not null\n"
            "text: must be a string, not null\n"
            "flag: must be true or false, not null\n"
            "object: must be an object, not null\n");
  EXPECT_EQ(ErrorsOf(R"({"number":8,"text":"long","flag":0,"object":[]})", read),
            "number: must be a whole number from 1 to 7\n"
            "text: must not be longer than 3 bytes in UTF-8\n"
            "flag: must be true or false, not a number\n"
            "object: must be an object, not an array\n");
  EXPECT_EQ(ErrorsOf(R"({"text":"a","text":"a"})", read), "text: stands there more than once\n");
}

TEST(JsonFields, AnObjectIsReturnedAsCompactJson) {
  const Body body(R"({"object": { "a" : [1, -2.5, true, null, 18446744073709551615],
                      "b" : {"\u00e9\"" : "x\ty\u0001"} }})");
  JsonFields fields(body.view());
  const std::string wanted =
      "{\"a\":[1,-2.5,true,null,18446744073709551615],\"b\":{\"\u00e9\\\"\":\"x\\ty\\u0001\"}}";
  EXPECT_EQ(fields.Object("object", wanted.size()), wanted);
  fields.Finish();
}

TEST(JsonFields, AnObjectIsStorableAndBounded) {
  const auto read = [](JsonFields& fields) { fields.Object("object", 20); };
  EXPECT_EQ(ErrorsOf("{}", read), "object: is missing; an object is expected\n");
  EXPECT_EQ(ErrorsOf(R"({"object":"{}"})", read), "object: must be an object, not a string\n");
  EXPECT_EQ(ErrorsOf(R"({"object":{  "a"  :  "0123456789abc"  }})", read),
            "object: must not be longer than 20 bytes as compact JSON\n")
      << "21 bytes";
  EXPECT_EQ(ErrorsOf(R"({"object":{  "a"  :  "0123456789ab"  }})", read), "");
  EXPECT_EQ(ErrorsOf(R"({"object":{"a":[{"b":"\u0000"}]}})", read),
            "object: must have no text with U+0000\n");
  EXPECT_EQ(ErrorsOf(R"({"object":{"a":[{"\u0000":1}]}})", read),
            "object: must have no name with U+0000\n");
  EXPECT_EQ(ErrorsOf(R"({"object":{"a":{"b":1,"c":2,"\u0062":3}}})", read),
            "object: must have each name only once\n");
}

TEST(JsonFields, AnOptionalValueIsAnyJson) {
  for (const char* value : {"null", "true", "-2.5", R"("text")", "[1,{}]", R"({"a":null})"}) {
    const Body body(std::string(R"({"value": )") + value + "}");
    JsonFields fields(body.view());
    EXPECT_EQ(fields.OptionalValue("value", 10), value);
    EXPECT_EQ(fields.OptionalValue("absent", 10), std::nullopt);
    fields.Finish();
  }
  const auto read = [](JsonFields& fields) {
    EXPECT_EQ(fields.OptionalValue("value", 10), std::nullopt);
  };
  EXPECT_EQ(ErrorsOf(R"({"value":"012345678"})", read),
            "value: must not be longer than 10 bytes as compact JSON\n");
  EXPECT_EQ(ErrorsOf(R"({"value":"\u0000"})", read), "value: must have no text with U+0000\n");
}

TEST(JsonFields, AnOptionalUuidIsOneOrMissing) {
  const auto wanted = base::Uuid::Parse("0190c2a0-5f3e-7c4d-8a1b-2c3d4e5f6071");
  EXPECT_EQ(ErrorsOf(R"({"id":"0190c2a0-5f3e-7c4d-8a1b-2c3d4e5f6071"})",
                     [&](JsonFields& fields) {
                       EXPECT_EQ(fields.OptionalUuid("id"), wanted);
                       EXPECT_EQ(fields.OptionalUuid("absent"), std::nullopt);
                     }),
            "");
  EXPECT_EQ(ErrorsOf(R"({"id":null})", [](JsonFields& fields) { fields.OptionalUuid("id"); }),
            "id: must be a UUID, not null\n");
}

TEST(JsonFields, TextThatMustNotBeEmptyIsRefusedOnce) {
  const auto read = [](JsonFields& fields) { fields.NonEmptyText("text", 3); };
  EXPECT_EQ(ErrorsOf(R"({"text":"abc"})", read), "");
  EXPECT_EQ(ErrorsOf(R"({"text":""})", read), "text: must not be empty\n");
  EXPECT_EQ(ErrorsOf("{}", read), "text: is missing; a string is expected\n");
  EXPECT_EQ(ErrorsOf(R"({"text":"abcd"})", read),
            "text: must not be longer than 3 bytes in UTF-8\n");
}

/// Reads what a heartbeat of many leases looks like.
struct Renewal {
  std::string name;
  std::int64_t fence;
  std::optional<std::int64_t> ttl_ms;
};

std::vector<Renewal> ReadRenewals(JsonFields& fields) {
  std::vector<Renewal> renewals;
  fields.Objects("leases", 3, [&](JsonObject& lease) {
    renewals.push_back({lease.Text("name", 5), lease.Integer("fence", 1, 9),
                        lease.OptionalInteger("ttl_ms", 1, 9)});
  });
  return renewals;
}

TEST(JsonFields, AnArrayIsReadObjectByObject) {
  const Body body(R"({"leases":[{"name":"a","fence":1},{"ttl_ms":5,"fence":2,"name":"b"}]})");
  JsonFields fields(body.view());
  const auto renewals = ReadRenewals(fields);
  fields.Finish();
  ASSERT_EQ(renewals.size(), 2U);
  EXPECT_EQ(renewals[0].name, "a");
  EXPECT_EQ(renewals[0].ttl_ms, std::nullopt);
  EXPECT_EQ(renewals[1].fence, 2);
  EXPECT_EQ(renewals[1].ttl_ms, 5);
}

TEST(JsonFields, WhatIsWrongInAnArrayIsNamedByItsPlace) {
  EXPECT_EQ(ErrorsOf(R"({"leases":[{"name":"a","fence":1},
                        {"name":"longer","fence":0,"ttl_ms":null,"other":1},
                        {"fence":1,"fence":1}],"more":1})",
                     ReadRenewals),
            "leases[1].name: must not be longer than 5 bytes in UTF-8\n"
            "leases[1].fence: must be a whole number from 1 to 9\n"
            "leases[1].ttl_ms: must be a whole number from 1 to 9, not null\n"
            "leases[1].other: is not known here\n"
            "leases[2].name: is missing; a string is expected\n"
            "leases[2].fence: stands there more than once\n"
            "more: is not known here\n");
  EXPECT_EQ(ErrorsOf(R"({"leases":[5,{"name":"a","fence":1},[]]})", ReadRenewals),
            "leases[0]: must be an object, not a number\n"
            "leases[2]: must be an object, not an array\n");
}

TEST(JsonFields, AnArrayIsOneAndBounded) {
  EXPECT_EQ(ErrorsOf("{}", ReadRenewals), "leases: is missing; an array of objects is expected\n");
  EXPECT_EQ(ErrorsOf(R"({"leases":{}})", ReadRenewals),
            "leases: must be an array of objects, not an object\n");
  EXPECT_EQ(ErrorsOf(R"({"leases":[]})", ReadRenewals), "");
  EXPECT_EQ(ErrorsOf(R"({"leases":[{},{},{},{}]})", ReadRenewals),
            "leases: must not have more than 3 elements\n");
}

TEST(JsonFields, AnAnswerNamesABoundedNumberOfFaults) {
  std::string json = R"({"leases":[)";
  for (int i = 0; i < 1'000; ++i) json += "{},";
  json.back() = ']';
  json += '}';
  const Body body(json);
  JsonFields fields(body.view());
  fields.Objects("leases", 1'000, [](JsonObject& lease) { lease.Text("name", 5); });
  EXPECT_EQ(ProblemIn([&] { fields.Finish(); }).errors.size(), 200U);
}

TEST(QueryFields, ReadsWhatIsAskedFor) {
  QueryFields fields(
      "text=a+b%2B%C3%A9&number=7&flag=true&&id=6f9619ff-8b86-d011-b42d-00c04fc964ff");
  EXPECT_EQ(fields.Text("text", 10), "a b+\u00e9");
  EXPECT_EQ(fields.Integer("number", 0, 7), 7);
  EXPECT_EQ(fields.Flag("flag"), true);
  EXPECT_TRUE(fields.Uuid("id"));
  EXPECT_FALSE(fields.Text("absent", 10));
  EXPECT_FALSE(fields.Integer("absent", 0, 1));
  EXPECT_FALSE(fields.Flag("absent"));
  EXPECT_FALSE(fields.Uuid("absent"));
  fields.Finish();
}

TEST(QueryFields, NamesEverythingThatIsWrongAtOnce) {
  QueryFields fields("number=8&flag=yes&id=5&text=long&twice=1&twice=1&other");
  fields.Integer("number", 0, 7);
  fields.Flag("flag");
  fields.Uuid("id");
  fields.Text("text", 3);
  fields.Text("twice", 3);
  const Problem problem = ProblemIn([&] { fields.Finish(); });
  EXPECT_EQ(problem.status, 400);
  EXPECT_EQ(Errors(problem),
            "number: must be a whole number from 0 to 7\n"
            "flag: must be true or false\n"
            "id: must be a UUID, such as 0190c2a0-5f3e-7c4d-8a1b-2c3d4e5f6071\n"
            "text: must not be longer than 3 bytes in UTF-8\n"
            "twice: stands there more than once\n"
            "other: is not known here\n");
}

TEST(QueryFields, OnlyTextIsRead) {
  for (const char* query : {"a=%", "a=%4", "a=%zz", "a=%00", "a=%ff", "%ed%a0%80=1", "a=\xff"})
    EXPECT_THROW(QueryFields{query}, ProblemError) << query;
  std::string many;
  for (int i = 0; i < 100; ++i) many += "a&";
  EXPECT_THROW(QueryFields{many}, ProblemError);
}

TEST(JsonFields, AnyValueIsKeptAsTheTextThatCame) {
  const Body body(
      R"( { "a" : 1.50e1 , "b\u0062":"}\"]" ,"c":{ "x" : [ "{" , [] ] },"a2":null,"d":[]} )");
  JsonFields fields(body.view());
  EXPECT_EQ(fields.OptionalJson("a", 100), "1.50e1");
  EXPECT_EQ(fields.OptionalJson("bb", 100), R"("}\"]")");
  EXPECT_EQ(fields.OptionalJson("c", 100), R"({ "x" : [ "{" , [] ] })");
  EXPECT_EQ(fields.OptionalJson("a2", 100), "null");
  EXPECT_EQ(fields.OptionalJson("d", 2), "[]");
  EXPECT_EQ(fields.OptionalJson("missing", 100), std::nullopt);
  fields.Finish();
}

TEST(JsonFields, TextsOfElementsAreTheirOwnAlsoAfterARepeatedName) {
  const Body body(R"({"n":0,"list":[{"v":1.0},{"w":1,"w":2,"v":[2.0]} , {"v":"3"}]})");
  JsonFields fields(body.view());
  std::vector<std::string> seen;
  fields.Integer("n", 0, 0);
  fields.Objects("list", 3, [&](JsonObject& object) {
    seen.push_back(object.OptionalJson("v", 100).value_or("-"));
  });
  EXPECT_THAT(seen, testing::ElementsAre("1.0", "[2.0]", "\"3\""));
}

TEST(JsonFields, ListsOfTextsAndIdsNameTheElementThatIsWrong) {
  const Body body(R"({"topics":["a","",1],"ids":["x"],"due":"soon","bytes":"A"})");
  JsonFields fields(body.view());
  fields.Texts("topics", 3, 5);
  fields.OptionalUuids("ids", 3);
  fields.OptionalTime("due");
  fields.OptionalBytes("bytes", 10);
  std::string names;
  for (const FieldError& each : ProblemIn([&] { fields.Finish(); }).errors)
    names += each.field + " ";
  EXPECT_EQ(names, "topics[1] topics[2] ids[0] due bytes ");
}

TEST(JsonFields, AByteOrderMarkIsRefused) {
  const Problem problem = ProblemOf("\xEF\xBB\xBF{\"text\":\"a\",\"number\":1}");
  EXPECT_EQ(problem.status, 400);
  EXPECT_THAT(problem.detail, testing::HasSubstr("byte order mark"));
}

}  // namespace
}  // namespace tenure::http
