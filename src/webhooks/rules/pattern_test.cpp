#include "webhooks/rules/pattern.hpp"

#include <gtest/gtest.h>

#include "webhooks/rules/form.hpp"
#include "webhooks/rules/key_template.hpp"
#include "webhooks/rules/key_text.hpp"
#include "webhooks/rules/payload.hpp"

namespace tenure::webhooks::rules {
namespace {

std::vector<EventPattern> Events(std::initializer_list<std::string_view> texts) {
  std::vector<EventPattern> patterns;
  for (const std::string_view text : texts) patterns.push_back(EventPattern::Parse(text).value());
  return patterns;
}

std::vector<RepositoryPattern> Repositories(std::initializer_list<std::string_view> texts) {
  std::vector<RepositoryPattern> patterns;
  for (const std::string_view text : texts)
    patterns.push_back(RepositoryPattern::Parse(text).value());
  return patterns;
}

TEST(Patterns, OfEventsFitTheNameAndTheAction) {
  struct Case {
    std::string_view pattern, event, action;
    bool fits;
  };
  for (const Case& c : {Case{"issues", "issues", "opened", true},
                        {"issues", "issues", "", true},
                        {"issues.*", "issues", "", true},
                        {"issues.opened", "issues", "opened", true},
                        {"issues.opened", "issues", "reopened", false},
                        {"issues.opened", "issues", "", false},
                        {"issues.*opened", "issues", "reopened", true},
                        {"pull_request", "pull_request_review", "submitted", false},
                        {"pull_request*.*", "pull_request_review", "submitted", true},
                        {"*", "push", "", true},
                        {"*.labeled", "issues", "labeled", true},
                        {"*_comment.created", "issue_comment", "created", true},
                        {"p*h", "push", "", true},
                        {"p*h", "pusher", "", false}}) {
    EXPECT_EQ(EventPattern::Parse(c.pattern)->Fits(c.event, c.action), c.fits)
        << c.pattern << " " << c.event << " " << c.action;
  }
}

TEST(Patterns, WhatIsNoneIsRefused) {
  for (const std::string_view text : {"", "!", ".", "issues.", ".opened", "Issues", "a b", "a.b.c",
                                      "!!issues", "issues.[a]", "pull-request"})
    EXPECT_FALSE(EventPattern::Parse(text)) << text;
  for (const std::string_view text : {"", "acme", "acme/", "/x", "a/b/c", "!", "a b/c", "ä/b"})
    EXPECT_FALSE(RepositoryPattern::Parse(text)) << text;
}

TEST(Patterns, AListPassesWhatOneFitsAndNoneExcludesInWhateverOrder) {
  const auto patterns = Events({"!*.labeled", "issues.*", "!issues.un*"});
  EXPECT_TRUE(Judge(patterns, "issues", "opened").passes);
  EXPECT_EQ(*Judge(patterns, "issues", "opened").by, "issues.*");
  EXPECT_FALSE(Judge(patterns, "issues", "labeled").passes);
  EXPECT_EQ(*Judge(patterns, "issues", "unlabeled").by, "!issues.un*");
  EXPECT_FALSE(Judge(patterns, "push", "").passes);
  EXPECT_EQ(Judge(patterns, "push", "").by, nullptr);
  EXPECT_TRUE(Judge(Events({"!push"}), "issues", "opened").passes)
      << "without a positive one all pass";
  EXPECT_FALSE(Judge(Events({"!push"}), "push", "").passes);
}

TEST(Patterns, OfRepositoriesDoNotCareForLetterCase) {
  const auto patterns = Repositories({"Acme/*", "!acme/SECRET-*", "other/exact"});
  EXPECT_TRUE(Judge(patterns, "ACME/shop").passes);
  EXPECT_FALSE(Judge(patterns, "acme/secret-plans").passes);
  EXPECT_TRUE(Judge(patterns, "other/Exact").passes);
  EXPECT_FALSE(Judge(patterns, "other/exactly").passes);
  EXPECT_TRUE(Judge(patterns, "acme").passes) << "an organisation, for an event without repository";
  EXPECT_FALSE(Judge(patterns, "other").passes);
  EXPECT_FALSE(Judge(patterns, "").passes) << "neither";
  EXPECT_TRUE(Judge(std::vector<RepositoryPattern>(), "").passes);
}

TEST(Patterns, AGlobOfManyStarsTakesNoExponentialTime) {
  std::string pattern;
  for (int i = 0; i < 60; ++i) pattern += "*a";
  EXPECT_FALSE(FitsGlob(pattern + "b", std::string(200, 'a')));
  EXPECT_TRUE(FitsGlob("*", ""));
  EXPECT_TRUE(FitsGlob("**x*", "x"));
  EXPECT_FALSE(FitsGlob("", "x"));
}

std::string RefusalOf(std::string_view text) {
  const auto made = KeyTemplate::Parse(text);
  const auto* const problem = std::get_if<std::string>(&made);
  return problem ? *problem : "";
}

TEST(KeyTemplates, AreRefusedWhenTwoInputsCouldGetOneKey) {
  for (const std::string_view text :
       {"{repository.id}/{deployment.environment}", "{$repository}/releases", "x{a}", "{a}:{b}",
        "{commits[0].id}", "env {deployment.environment}", "{$entity}/{$action}", "{a}-x/{b}"})
    EXPECT_EQ(RefusalOf(text), "") << text;
  for (const std::string_view text :
       {"", "fixed", "{a}{b}", "{a}-{b}", "{a}%{b}", "{a", "a}", "{}", "{a b}", "{$unknown}",
        "{[0]}", "{a[x]}", "{a[99999]}", "{a[+1]}", "{a..b}", "a\n{b}"})
    EXPECT_NE(RefusalOf(text), "") << text;
}

TEST(KeyText, IsEncodedAndBoundedWithoutTwoTextsBecomingOne) {
  EXPECT_EQ(EncodePart("feature/a b%"), "feature%2Fa%20b%25");
  EXPECT_EQ(EncodePart("A-z0.9_~"), "A-z0.9_~");
  EXPECT_EQ(EncodePart("\xC3\xA4"), "%C3%A4");
  const std::string longest(200, 'x');
  EXPECT_EQ(KeyOf(longest), longest);
  const std::string shortened = KeyOf(longest + "x");
  EXPECT_EQ(shortened.size(), 183U);
  EXPECT_NE(shortened, KeyOf(longest + "y"));
  EXPECT_NE(KeyOf(shortened), shortened) << "a text that looks like a shortened one is no other's";
}

TEST(Payloads, AreOneObjectOfWhichOnlyWhatIsAskedForIsRead) {
  for (const std::string_view text : {"", "[]", "1", "{", "{}{}", "{\"a\":tru}", "{\"a\":\"\xff\"}",
                                      "\xEF\xBB\xBF{}", "{\"a\":1,}"})
    EXPECT_FALSE(Payload::Parse(text)) << text;
  const std::string deep = std::string(5'000, '[') + std::string(5'000, ']');
  const std::string text =
      R"({"n": 7, "zero": 0, "minus": -7, "half": 7.0, "huge": 99999999999999999999, "text": "x",)"
      R"( "empty": "", "lone": "\ud800", "nul": "\u0000", "deep": )" +
      deep + R"(, "list": [{"id": 5}], "n": 8})";
  const auto payload = Payload::Parse(text);
  ASSERT_TRUE(payload);
  EXPECT_EQ(payload->Id("n"), "8") << "the last one counts";
  EXPECT_EQ(payload->Id("zero"), "0");
  for (const std::string_view path : {"minus", "half", "huge", "text", "missing", "list", "n.n"})
    EXPECT_FALSE(payload->Id(path)) << path;
  EXPECT_EQ(payload->Id("list[0].id"), "5");
  EXPECT_FALSE(payload->Id("list[1].id"));
  EXPECT_FALSE(payload->Find("n[0]"));
  EXPECT_EQ(payload->Text("text"), "x");
  EXPECT_FALSE(payload->Text("empty"));
  EXPECT_EQ(payload->json(), text);
}

TEST(Payloads, OfAFormAreItsOneField) {
  EXPECT_EQ(PayloadOfForm("payload=%7B%22a%22%3A+1%7D"), R"({"a": 1})");
  EXPECT_EQ(PayloadOfForm("payload="), "");
  for (const std::string_view form :
       {"", "payload", "other=1", "payload=a&x=1", "x=1&payload=a", "payload=a&payload=b",
        "payload=%", "payload=%1", "payload=%zz"})
    EXPECT_FALSE(PayloadOfForm(form)) << form;
}

}  // namespace
}  // namespace tenure::webhooks::rules
