#include "config/printable.hpp"

#include <gtest/gtest.h>

namespace tenure::config {
namespace {

TEST(Printable, LeavesTextAsItIs) {
  for (const char* text : {"", "plain", "Zürich", "東京", "𝒳", "a — b … c"})
    EXPECT_EQ(Printable(text), text);
}

TEST(Printable, ControlCharactersBecomeQuestionMarks) {
  EXPECT_EQ(Printable("a\x1b[2Jb\r\n\tc\x7f"), "a?[2Jb???c?");
  EXPECT_EQ(Printable(std::string_view("\0x", 2)), "?x");
  EXPECT_EQ(Printable("\xC2\x9B"
                      "31m"),
            "?31m")
      << "C1 control sequence introducer";
}

TEST(Printable, InvisibleMarksBecomeQuestionMarks) {
  EXPECT_EQ(Printable("a\u202Eb"), "a?b") << "right-to-left override";
  EXPECT_EQ(Printable("a\u200Bb"), "a?b") << "zero width space";
  EXPECT_EQ(Printable("a\u2066b\uFEFF"), "a?b?");
  EXPECT_EQ(Printable("\u2010\u2027\u202F\u205F"), "\u2010\u2027\u202F\u205F");
}

TEST(Printable, BytesThatAreNotUtf8BecomeQuestionMarksOneByOne) {
  EXPECT_EQ(Printable("\xff\xfe"
                      "a"),
            "??a");
  EXPECT_EQ(Printable("\xE2\x82"), "??") << "cut off in the middle of a character";
  EXPECT_EQ(Printable("\xC0\xAF"), "??") << "overlong";
}

TEST(Printable, QuotesAreCutBetweenCharacters) {
  EXPECT_EQ(Quoted("short"), "\"short\"");
  const std::string quoted = Quoted(std::string(59, 'x') + "üüü");
  EXPECT_EQ(quoted, '"' + std::string(59, 'x') + "…\"");
}

TEST(Printable, WidthCountsCharacters) {
  EXPECT_EQ(DisplayWidth(""), 0U);
  EXPECT_EQ(DisplayWidth("Zürich"), 6U);
}

}  // namespace
}  // namespace tenure::config
