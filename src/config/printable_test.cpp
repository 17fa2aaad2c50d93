#include "config/printable.hpp"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/secret.hpp"

namespace tenure::config {
namespace {

using testing::HasSubstr;
using testing::Not;

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

TEST(Redact, AddressesWithoutAPasswordStayAsTheyAre) {
  for (const char* url :
       {"", "postgres://", "postgres://db", "postgres://app@db:5432/tenure?sslmode=require",
        "postgresql:///tenure?host=/run/postgresql", "postgres://[::1]:5432/x"}) {
    EXPECT_EQ(RedactedUrl(url), url);
    EXPECT_FALSE(HasPassword(url));
  }
}

TEST(Redact, ThePasswordOfTheUserPartIsHidden) {
  EXPECT_EQ(RedactedUrl("postgres://app:hunter2@db:5432/tenure"),
            "postgres://app:***@db:5432/tenure");
  EXPECT_EQ(RedactedUrl("postgres://:hunter2@db"), "postgres://:***@db");
  EXPECT_TRUE(HasPassword("postgres://app:hunter2@db"));
}

TEST(Redact, PasswordParametersAreHidden) {
  EXPECT_EQ(RedactedUrl("postgres://db/x?user=app&password=hunter2&sslmode=require"),
            "postgres://db/x?user=app&password=***&sslmode=require");
  EXPECT_EQ(RedactedUrl("postgres://db?sslpassword=hunter2"), "postgres://db?sslpassword=***");
  EXPECT_EQ(RedactedUrl("postgres://db?%70assword=hunter2"), "postgres://db?password=***");
}

TEST(Redact, APasswordThatWasNotEncodedIsHiddenWhole) {
  for (const char* url : {"postgres://app:hun@ter2@db/x", "postgres://app:hun/ter2@db/x",
                          "postgres://app:hun?ter2@db/x", "postgres://app:ter2?x=y&z@db/x",
                          "app:ter2@db", "postgres://app:a:ter2@db"})
    EXPECT_THAT(RedactedUrl(url), Not(HasSubstr("ter2"))) << url;
}

TEST(Redact, APasswordIsInsertedPercentEncoded) {
  const Secret password("p@ss:w/ör?d%");
  EXPECT_EQ(WithPassword("postgres://app@db/x", password),
            "postgres://app:p%40ss%3Aw%2F%C3%B6r%3Fd%25@db/x");
  EXPECT_EQ(WithPassword("postgres://db/x", Secret("a")), "postgres://:a@db/x");
  EXPECT_EQ(WithPassword("postgres:///x?user=a@b", Secret("a")), "postgres://:a@/x?user=a@b");
}

const std::vector<std::string> kWords{"sessions", "store", "log", "listen"};

TEST(Suggest, FindsTheWordThatWasMeant) {
  EXPECT_EQ(Nearest("sesions", kWords), "sessions");
  EXPECT_EQ(Nearest("sessoins", kWords), "sessions") << "swapped letters count once";
  EXPECT_EQ(Nearest("session", kWords), "sessions");
  EXPECT_EQ(Nearest("lgo", kWords), "log");
}

TEST(Suggest, SaysNothingWhenNoWordIsNear) {
  EXPECT_EQ(Nearest("metrics", kWords), std::nullopt);
  EXPECT_EQ(Nearest("x", kWords), std::nullopt);
  EXPECT_EQ(Nearest("", kWords), std::nullopt);
  EXPECT_EQ(Nearest("log", {}), std::nullopt);
  EXPECT_EQ(Nearest(std::string(1'000'000, 'x'), kWords), std::nullopt);
}

TEST(Suggest, TakesTheNearestOfSeveral) {
  const std::vector<std::string> words{"header_timeout", "idle_timeout", "write_timeout"};
  EXPECT_EQ(Nearest("wite_timeout", words), "write_timeout");
}

}  // namespace
}  // namespace tenure::config
