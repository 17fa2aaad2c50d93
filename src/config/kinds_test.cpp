#include "config/kinds.hpp"

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/table.hpp"

namespace tenure::config {
namespace {

using testing::HasSubstr;
using testing::Not;

const Kind& KindOf(std::string_view name) { return FindSetting(name)->kind; }

/// Empty when the setting takes the text, else the sentence that refuses it.
std::string Refusal(std::string_view name, std::string_view text) {
  Settings settings;
  const std::optional<std::string> refused = Assign(KindOf(name), text, settings);
  EXPECT_TRUE(!refused || settings == Settings{}) << "a refused value changed something";
  return refused.value_or("");
}

/// The value as it is shown after `text` was given.
std::string Shown(std::string_view name, std::string_view text) {
  Settings settings;
  EXPECT_EQ(Assign(KindOf(name), text, settings), std::nullopt) << text;
  return ValueText(KindOf(name), settings);
}

/// What a setting of a kind takes, and how it is shown then; and what it refuses.
struct OfKind {
  const char* what;
  const char* setting;
  std::vector<std::pair<std::string, std::string>> shown;
  std::vector<std::string> refused;
};

TEST(Kinds, EachTakesWhatIsRightAndShowsItInOneSpelling) {
  const auto as_given = [](std::initializer_list<const char*> texts) {
    std::vector<std::pair<std::string, std::string>> shown;
    for (const char* text : texts) shown.emplace_back(text, text);
    return shown;
  };
  const std::vector<OfKind> rows{
      {"a duration",
       "sessions.duration",
       {{"720h", "30d"}, {"P30D", "30d"}, {"1s", "1s"}, {"3650d", "3650d"}},
       {"", "30", "999ms", "3651d", "-1s", "1 s", "forever", "1y"}},
      {"a size",
       "http.max_body",
       {{"2048KiB", "2MiB"}, {"1025B", "1025B"}},
       {"", "1024", "1MB", "1mib", "1 MiB", "1.5MiB", "-1KiB", "1023B", "65MiB",
        "99999999999999999999GiB", "18446744073709551615GiB"}},
      {"a whole number",
       "store.write_lanes",
       as_given({"64"}),
       {"", "0", "65", "-1", "+1", "1.0", "1e1", "0x10", " 2", "2 ", "two", "99999999999"}},
      {"an address that something is sent to: it leaves this machine only encrypted",
       "telemetry.traces_endpoint",
       as_given({"", "https://collector", "https://collector.example:4318/v1/traces?tenant=a",
                 "http://127.0.0.1:4318/v1/traces", "http://127.9.9.9/", "http://localhost:4318",
                 "http://[::1]:4318/v1/traces", "https://[2001:db8::1]/x"}),
       {"collector", "http://collector/", "https://user@collector/"}},
      {"a switch",
       "workers",
       {{"off", "off"}, {"false", "off"}, {"true", "on"}},
       {"", "yes", "no", "1", "0", "ON", "True"}},
      {"a choice", "log.level", as_given({"warn"}), {"", "loud", "Warn"}},
      {"an address",
       "listen",
       as_given({"0.0.0.0:0", "localhost:65535", "[::1]:8080"}),
       {"", ":8080", "8080", "localhost", "localhost:", "localhost:65536", "localhost:-1",
        "::1:8080", "[::1]", "[]:1", "[localhost]:1", "a b:1", "http://localhost:80", "host:80x"}},
      {"an address or none",
       "ops.listen",
       as_given({"", "0.0.0.0:9100"}),
       {":9100", "9100", "off", " "}},
      {"addresses and blocks",
       "http.trusted_proxies",
       {{"", ""},
        {"10.0.0.0/8,192.0.2.1 , 2001:DB8::/32", "10.0.0.0/8, 192.0.2.1, 2001:db8::/32"},
        {"::ffff:192.0.2.1", "192.0.2.1"}},
       {"10.0.0.1/8", "proxy.internal", "10.0.0.0/8,,::1", ",", "10.0.0.0/8 ::1"}},
      {"a rate",
       "rate_limits.messages",
       {{"100/s", "100/s"}, {"", "off"}, {"off", "off"}},
       {"100"}},
      {"one line of printable text",
       "data",
       as_given({"/var/lib/tenüre"}),
       {"", "a\nb", "a\x1b[31m", "\xff", std::string(4'097, 'x')}},
      {"a store's address, which is shown without its password",
       "store.url",
       {{"", ""},
        {"postgres://app:hunter2@db/tenure", "postgres://app:***@db/tenure"},
        {"postgresql:///tenure", "postgresql:///tenure"}},
       {"mysql://app@db/x", "host=db"}},
  };
  for (const OfKind& row : rows) {
    for (const auto& [text, shown] : row.shown)
      EXPECT_EQ(Shown(row.setting, text), shown) << row.what;
    for (const std::string& text : row.refused)
      EXPECT_NE(Refusal(row.setting, text), "") << row.what << ": " << text;
  }
  EXPECT_EQ(ParseAddress("[::1]:8080"), (Address{"::1", 8080}));
}

TEST(Kinds, ARefusalSaysWhatIsAccepted) {
  EXPECT_EQ(Refusal("sessions.duration", "30"),
            "\"30\" is not a duration from 1s to 3650d (like 30s, 5m, 1h30m or PT5M)");
  EXPECT_EQ(Refusal("store.write_lanes", "65"), "\"65\" is not a whole number from 1 to 64");
  EXPECT_EQ(Refusal("log.level", "loud"), "\"loud\" is not one of debug, info, warn, error");
  EXPECT_EQ(Refusal("rate_limits.messages", "100"),
            "\"100\" is not off or a rate such as 100/s, 6000/min or 10/h");
}

TEST(Kinds, ByteSizesAreReadBack) {
  for (const std::size_t bytes : {0UL, 1UL, 1'023UL, 1'024UL, 1'048'576UL, 3'221'225'472UL})
    EXPECT_EQ(ParseByteSize(ByteSizeText(bytes)), bytes) << ByteSizeText(bytes);
}

TEST(Kinds, ARefusedAddressIsNotQuotedSinceItMayHoldAPassword) {
  EXPECT_THAT(Refusal("telemetry.traces_endpoint", "https://user:hunter2@collector/"),
              Not(HasSubstr("hunter2")));
}

TEST(Kinds, AWrongStoreAddressIsRefusedWithoutQuotingIt) {
  for (const char* text : {"mysql://app:hunter2@db/x", "host=db password=hunter2", "hunter2",
                           "postgres://app:hunter2\n@db"}) {
    const std::string refusal = Refusal("store.url", text);
    EXPECT_THAT(refusal, HasSubstr("is not empty or an address postgres://"));
    EXPECT_THAT(refusal, Not(HasSubstr("hunter2")));
  }
}

TEST(Kinds, SecretsAreNeitherShownNorQuoted) {
  EXPECT_EQ(Shown("store.password", "hunter2"), "***");
  EXPECT_EQ(ValueText(KindOf("store.password"), Settings{}), "");
  EXPECT_NE(Refusal("store.password", ""), "");
  EXPECT_THAT(Refusal("store.password", std::string("hunter2\0", 8)), Not(HasSubstr("hunter2")));
}

TEST(Kinds, SecretsAreComparedByWhatTheyAreNotByWhatIsShown) {
  Settings one;
  Settings two;
  EXPECT_TRUE(SameValue(KindOf("store.password"), one, two));
  one.store.password = Secret("a");
  two.store.password = Secret("b");
  EXPECT_FALSE(SameValue(KindOf("store.password"), one, two));
}

TEST(Kinds, AQuotedValueCannotReachTheTerminalAsAControlSequence) {
  EXPECT_EQ(Refusal("log.level", "\x1b]0;x\x07"),
            "\"?]0;x?\" is not one of debug, info, warn, error");
  EXPECT_LT(Refusal("log.level", std::string(1'000'000, 'x')).size(), 150U);
}

}  // namespace
}  // namespace tenure::config
