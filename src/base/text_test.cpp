#include <gtest/gtest.h>

#include "base/base64.hpp"
#include "base/decimal.hpp"
#include "base/json_text.hpp"
#include "base/json_view.hpp"
#include "base/json_writer.hpp"
#include "base/rate.hpp"
#include "base/utf8.hpp"

namespace tenure::base {
namespace {

using namespace std::string_view_literals;

TEST(Base64, TheVectorsOfTheStandard) {
  for (const auto& [bytes, text] : {std::pair<std::string, std::string>{"", ""},
                                    {"f", "Zg=="},
                                    {"fo", "Zm8="},
                                    {"foo", "Zm9v"},
                                    {"foob", "Zm9vYg=="},
                                    {"fooba", "Zm9vYmE="},
                                    {"foobar", "Zm9vYmFy"}}) {
    EXPECT_EQ(EncodeBase64(bytes), text);
    EXPECT_EQ(DecodeBase64(text), bytes);
  }
}

TEST(Base64, EveryByteComesBack) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  EXPECT_EQ(DecodeBase64(EncodeBase64(bytes)), bytes);
}

TEST(Base64, WhatNobodyWouldHaveEncodedIsRefused) {
  for (const char* bad : {"Z", "Zg", "Zg=", "Zh==", "Zm9=", "Zg==Zg==", "=", "====", "Zm 9", "Zm-_",
                          "Zg=a", "Zm9v\n"})
    EXPECT_EQ(DecodeBase64(bad), std::nullopt) << bad;
}

TEST(Base64Url, HasItsOwnAlphabetAndNoPadding) {
  EXPECT_EQ(EncodeBase64Url("\xfb\xff\xfe"), "-__-");
  EXPECT_EQ(EncodeBase64Url("\xff"), "_w");
  EXPECT_EQ(EncodeBase64Url("\xff\xff"), "__8");
  EXPECT_EQ(DecodeBase64Url("-__-"), "\xfb\xff\xfe");
  EXPECT_EQ(DecodeBase64Url("_w"), "\xff");
  EXPECT_EQ(DecodeBase64Url(""), "");
}

TEST(Base64Url, WhatIsWrittenOtherwiseIsNothing) {
  for (const char* text : {"_w==", "+/+/", "_", "_x", "__9", "a b", "YQ\n", "YWJjZ", "YQ=", "a.b"})
    EXPECT_EQ(DecodeBase64Url(text), std::nullopt) << text;
}

TEST(Utf8, WellFormedTextIsStorable) {
  for (const auto text : {""sv, "plain"sv, "gr\xC3\xBC\xC3\x9F"sv, "\xE2\x82\xAC"sv,
                          "\xF0\x9F\x98\x80"sv, "\xF4\x8F\xBF\xBF"sv, "\xED\x9F\xBF"sv})
    EXPECT_TRUE(IsStorableText(text)) << text;
}

TEST(Utf8, ZeroOverlongSurrogatesAndCutSequencesAreNot) {
  for (const auto text :
       {"a\0b"sv, "\x80"sv, "\xC0\x80"sv, "\xC1\xBF"sv, "\xE0\x9F\xBF"sv, "\xED\xA0\x80"sv,
        "\xF0\x8F\xBF\xBF"sv, "\xF4\x90\x80\x80"sv, "\xF5\x80\x80\x80"sv, "\xE2\x82"sv, "\xFF"sv})
    EXPECT_FALSE(IsStorableText(text));
}

TEST(JsonWriter, PutsCommasAndEscapes) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject()
      .Field("text", "a\"b\\c\n\x01")
      .Field("number", -5)
      .Field("flag", true)
      .Key("none")
      .Null();
  json.Key("list").BeginArray().Value(1).Value(2).BeginObject().EndObject().EndArray();
  json.Key("empty").BeginArray().EndArray().EndObject();
  EXPECT_EQ(out, R"({"text":"a\"b\\c\n\u0001","number":-5,"flag":true,"none":null,)"
                 R"("list":[1,2,{}],"empty":[]})");
}

TEST(Decimal, IsPrintedWithSixPlaces) {
  EXPECT_EQ(MillionthsText(0), "0.000000");
  EXPECT_EQ(MillionthsText(23), "0.000023");
  EXPECT_EQ(MillionthsText(1'000'000), "1.000000");
  EXPECT_EQ(MillionthsText(-500'000), "-0.500000");
  EXPECT_EQ(MillionthsText(INT64_MIN), "-9223372036854.775808");
}

TEST(Decimal, IsReadWithUpToSixPlaces) {
  EXPECT_EQ(ParseMillionths("0"), 0);
  EXPECT_EQ(ParseMillionths("2"), 2'000'000);
  EXPECT_EQ(ParseMillionths("1.5"), 1'500'000);
  EXPECT_EQ(ParseMillionths("0.000001"), 1);
  EXPECT_EQ(ParseMillionths("1000000000.999999"), 1'000'000'000'999'999);
}

TEST(Decimal, NothingElseIsRead) {
  for (const char* text : {"", ".", "1.", ".5", "-1", "+1", "1e3", "1.0000001", " 1", "1 ", "0x1",
                           "1,5", "1.5.5", "99999999999999999999", "nan"})
    EXPECT_FALSE(ParseMillionths(text)) << text;
}

TEST(Rate, ARateIsACountAndATime) {
  EXPECT_EQ(ParseRate("100/s"), (Rate{100, 1'000}));
  EXPECT_EQ(ParseRate("6000/min"), (Rate{6'000, 60'000}));
  EXPECT_EQ(ParseRate("1/h"), (Rate{1, 3'600'000}));
  EXPECT_EQ(ParseRate("1000000/s"), (Rate{1'000'000, 1'000}));
  for (const char* text : {"100/s", "6000/min", "1/h", "off"})
    EXPECT_EQ(RateText(*ParseRate(text)), text);
}

TEST(Rate, OffOrNothingIsNoLimit) {
  for (const char* text : {"", "off"}) {
    EXPECT_FALSE(ParseRate(text)->limits());
    EXPECT_EQ(RateText(*ParseRate(text)), "off");
  }
}

TEST(Rate, WhatIsNearlyARateIsNone) {
  for (const char* text : {"0/s",   "-1/s",  "+1/s",      "1",
                           "1/",    "/s",    "1/m",       "1/sec",
                           "1 /s",  "1/ s",  " 1/s",      "1/s ",
                           "1.5/s", "1e3/s", "1000001/s", "99999999999999999999/s",
                           "OFF",   "on",    "unlimited", "1s"})
    EXPECT_EQ(ParseRate(text), std::nullopt) << text;
}

TEST(Utf8, WhatCannotBeSeenIsNotHarmless) {
  for (const char* text : {"a", "\u00e9", "\u061b", "\u061d", "\u2010", "\u2027", "\u202f",
                           "\u2070", "\uffee", "\U0001f600", "\U000e0100"})
    EXPECT_EQ(Printable(text), text);
  for (const char* text :
       {"\x1b", "\x7f", "\u0080", "\u009f", "\u061c", "\u200b", "\u200f", "\u2028", "\u202e",
        "\u2060", "\u206f", "\ufeff", "\ufff9", "\U000e0001", "\U000e007f"})
    EXPECT_EQ(Printable(text), "?") << text;
}

TEST(JsonWriterTest, BytesThatAreNotUtf8StayJson) {
  std::string out;
  JsonWriter(out).Value("a\xff\u00e9\xe2\x82z"sv);
  EXPECT_EQ(out, "\"a\\ufffd\u00e9\\ufffd\\ufffdz\"");
}

TEST(JsonText, KnowsWhatIsJson) {
  for (const char* text : {"1", "-0.5e+3", "0", "123456789012345678901234567890", "1e999", "true",
                           "false", "null", R"("a\u00e9\n\"\\/")", "\"\u00e9\"", "[]", "{}",
                           " [1 , 2]\n", R"({"a":{"b":[{}]},"c":""})"})
    EXPECT_TRUE(IsJson(text)) << text;
  for (const auto text : {""sv,
                          " "sv,
                          "{"sv,
                          "}"sv,
                          "[1,]"sv,
                          "[1 2]"sv,
                          "{\"a\"}"sv,
                          "{\"a\":1,}"sv,
                          "{a:1}"sv,
                          "01"sv,
                          "1."sv,
                          ".5"sv,
                          "+1"sv,
                          "-"sv,
                          "1e"sv,
                          "tru"sv,
                          "truex"sv,
                          "\"a"sv,
                          "\"\n\""sv,
                          "\"\\x\""sv,
                          "\"\\u12g4\""sv,
                          "\"\xff\""sv,
                          "\0"sv,
                          "1\0"sv,
                          "\xEF\xBB\xBF{}"sv,
                          "1 2"sv,
                          "NaN"sv})
    EXPECT_FALSE(IsJson(text)) << text;
}

TEST(JsonText, DeepNestingIsNoJsonAndCostsNoStack) {
  const auto nested = [](int depth) {
    return std::string(static_cast<std::size_t>(depth), '[') +
           std::string(static_cast<std::size_t>(depth), ']');
  };
  EXPECT_TRUE(IsJson(nested(kMaxStoredJsonDepth)));
  EXPECT_FALSE(IsJson(nested(kMaxStoredJsonDepth + 1)));
  EXPECT_FALSE(IsJson(std::string(1'000'000, '[')));
  EXPECT_TRUE(IsJson(nested(1'000'000), SIZE_MAX));
  std::string mixed = "1";
  for (int level = 0; level < 100; ++level)
    mixed = level % 3 == 0 ? "{\"a\":" + mixed + ",\"b\":[]}" : "[{}," + mixed + "]";
  EXPECT_TRUE(IsJson(mixed, 101));
  EXPECT_FALSE(IsJson(mixed, 100));
  mixed[mixed.size() - 30] = mixed[mixed.size() - 30] == ']' ? '}' : ']';
  EXPECT_FALSE(IsJson(mixed, 101));
}

TEST(JsonView, FindsWhatStandsInAnObjectAndDecodesNothingElse) {
  const auto view = JsonView::Parse(
      R"( {"a": {"b": [1, {"c": "x\"}]"}, -2.50]}, "text": "\u00e9\n\ud83d\ude00", "a\u0062": true,)"
      R"( "half": "\ud800", "no": null, "n": 7, "n": 8} )");
  ASSERT_TRUE(view);
  EXPECT_EQ(view->kind(), JsonView::Kind::kObject);
  const auto list = view->Find("a")->Find("b")->Values();
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ(list[1].Find("c")->Text(), "x\"}]");
  EXPECT_EQ(list[2].text(), "-2.50");
  EXPECT_EQ(view->Find("text")->Text(), "\u00e9\n\U0001F600");
  EXPECT_EQ(view->Find("ab")->kind(), JsonView::Kind::kTrue) << "a name may be escaped";
  EXPECT_EQ(view->Find("half")->Text(), "\xED\xA0\x80") << "as WTF-8 has it";
  EXPECT_EQ(view->Find("n")->text(), "8") << "the last one counts, as nearly all readers have it";
  EXPECT_EQ(view->Find("no")->kind(), JsonView::Kind::kNull);
  EXPECT_FALSE(view->Find("c"));
  EXPECT_FALSE(view->Find("n")->Find("x"));
  EXPECT_FALSE(view->Find("n")->Text());
  EXPECT_TRUE(view->Find("n")->Values().empty());
  EXPECT_FALSE(JsonView::Parse("{} {}"));
}

TEST(JsonText, WhatIsNoObjectIsAnEmptyOne) {
  EXPECT_EQ(ObjectOrEmpty(R"( {"a":1})"), R"( {"a":1})");
  for (const char* text : {"", "{", "[]", "\"{}\"", "null", "1"})
    EXPECT_EQ(ObjectOrEmpty(text), "{}");
}

TEST(JsonText, WhatIsNoJsonInAStoreBecomesAString) {
  std::string out;
  JsonWriter(out).BeginObject().Key("good").Stored("[1]").Key("bad").Stored("{\"x").EndObject();
  EXPECT_EQ(out, R"({"good":[1],"bad":"{\"x"})");
}

}  // namespace
}  // namespace tenure::base
