#include "config/yaml_tree.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::config {
namespace {

using testing::HasSubstr;

struct Parsed {
  YamlNode root;
  Problems problems;
};

Parsed Parse(std::string_view text) {
  Parsed parsed;
  parsed.root = ParseYaml(text, "f", parsed.problems);
  return parsed;
}

TEST(YamlTree, KeepsOrderLinesAndTheTextOfScalars) {
  const Parsed parsed = Parse("# comment\na: off\nb:\n  c: '0755'\n  d: 1_000\n");
  ASSERT_TRUE(parsed.problems.empty());
  ASSERT_EQ(parsed.root.entries.size(), 2U);
  EXPECT_EQ(parsed.root.entries[0].key, "a");
  EXPECT_EQ(parsed.root.entries[0].value.scalar, "off");
  EXPECT_EQ(parsed.root.entries[0].line, 2);
  const YamlNode& section = parsed.root.entries[1].value;
  ASSERT_EQ(section.entries.size(), 2U);
  EXPECT_EQ(section.entries[0].value.scalar, "0755");
  EXPECT_EQ(section.entries[1].value.scalar, "1_000");
  EXPECT_EQ(section.entries[1].line, 5);
}

TEST(YamlTree, AnEmptyFileIsNothing) {
  for (const char* text :
       {"", "\n\n", "# only a comment\n", "---\n", "---\n...\n", "\xEF\xBB\xBF"}) {
    const Parsed parsed = Parse(text);
    EXPECT_TRUE(parsed.problems.empty()) << text;
    EXPECT_EQ(parsed.root.shape, YamlNode::Shape::kNothing) << text;
  }
}

TEST(YamlTree, RepeatedKeysAreRefusedAndTheFirstIsKept) {
  const Parsed parsed = Parse("a: 1\nb: {c: 2,\n  c: 3}\na: 4\n");
  ASSERT_EQ(parsed.problems.size(), 2U);
  EXPECT_EQ(parsed.problems[0].where, "f:3");
  EXPECT_EQ(parsed.problems[0].message, "\"c\" is given twice, first on line 2");
  EXPECT_EQ(parsed.problems[1].where, "f:4");
  EXPECT_EQ(parsed.root.entries[0].value.scalar, "1");
  EXPECT_EQ(parsed.root.entries.size(), 2U);
}

TEST(YamlTree, MalformedYamlIsRefusedWithItsLine) {
  for (const char* text : {"a: 1\nb: [1,\n", "a: 1\nb: \"x\n", "a: 1\n\tb: 2\n", "a: 1\nb: 2: 3\n",
                           "a: 1\n}\n", "a: 1\n- b\n", "a: 1\nb: %x\n", "a: 1\nb: @x\n"}) {
    const Parsed parsed = Parse(text);
    ASSERT_EQ(parsed.problems.size(), 1U) << text;
    EXPECT_THAT(parsed.problems[0].where, testing::MatchesRegex("f:[23]")) << text;
    EXPECT_THAT(parsed.problems[0].message, HasSubstr("this is not YAML")) << text;
  }
}

TEST(YamlTree, AnchorsDoNothingAndAliasesAreRefused) {
  const Parsed anchored = Parse("a: &x 1\nb: &y {c: 2}\n");
  EXPECT_TRUE(anchored.problems.empty());
  EXPECT_EQ(anchored.root.entries[0].value.scalar, "1");
  const Parsed aliased = Parse("a: &x 1\nb: *x\n*x : 3\n");
  ASSERT_EQ(aliased.problems.size(), 2U);
  EXPECT_EQ(aliased.problems[0].where, "f:2");
  EXPECT_THAT(aliased.problems[0].message, HasSubstr("aliases"));
}

TEST(YamlTree, ABillionLaughsAreAFewRefusals) {
  std::string text = "a: &a [x, x]\n";
  for (char c = 'b'; c <= 'z'; ++c)
    text += std::string(1, c) + ": &" + c + " [*" + static_cast<char>(c - 1) + ", *" +
            static_cast<char>(c - 1) + "]\n";
  EXPECT_EQ(Parse(text).problems.size(), 50U);
}

TEST(YamlTree, DeepNestingIsRefused) {
  for (const char* open : {"[", "{a: ", "- ", "? "}) {
    std::string text;
    for (int depth = 0; depth < 100'000; ++depth) text += open;
    const Parsed parsed = Parse(text);
    ASSERT_EQ(parsed.problems.size(), 1U) << open;
  }
}

TEST(YamlTree, KeysMustBePlainText) {
  const Parsed parsed = Parse("? [a, b]\n: 1\n? {c: d}\n: 2\n~: 3\nok: 4\n");
  EXPECT_EQ(parsed.problems.size(), 3U);
  ASSERT_EQ(parsed.root.entries.size(), 1U);
  EXPECT_EQ(parsed.root.entries[0].key, "ok");
}

TEST(YamlTree, ASecondDocumentIsRefusedWithItsLine) {
  const Parsed parsed = Parse("a: 1\n---\nb: 2\n");
  ASSERT_EQ(parsed.problems.size(), 1U);
  EXPECT_EQ(parsed.problems[0].where, "f:2");
  EXPECT_THAT(parsed.problems[0].message, HasSubstr("second YAML document"));
}

TEST(YamlTree, TagsChangeNothing) {
  const Parsed parsed = Parse("a: !!int 5\nb: !secret x\n");
  EXPECT_TRUE(parsed.problems.empty());
  EXPECT_EQ(parsed.root.entries[1].value.scalar, "x");
}

}  // namespace
}  // namespace tenure::config
