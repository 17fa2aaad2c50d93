#include "config/kinds.hpp"

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

TEST(Kinds, DurationsAreReadInBothSpellingsAndShownInOne) {
  EXPECT_EQ(Shown("sessions.duration", "720h"), "30d");
  EXPECT_EQ(Shown("sessions.duration", "P30D"), "30d");
  EXPECT_EQ(Shown("sessions.duration", "1s"), "1s");
  EXPECT_EQ(Shown("sessions.duration", "3650d"), "3650d");
}

TEST(Kinds, DurationsOutOfBoundsOrWithoutAUnitAreRefused) {
  EXPECT_EQ(Refusal("sessions.duration", "30"),
            "\"30\" is not a duration from 1s to 3650d (like 30s, 5m, 1h30m or PT5M)");
  for (const char* text : {"", "999ms", "3651d", "-1s", "1 s", "forever", "1y"})
    EXPECT_NE(Refusal("sessions.duration", text), "") << text;
}

TEST(Kinds, SizesHaveBinaryUnits) {
  EXPECT_EQ(Shown("http.max_body", "2048KiB"), "2MiB");
  EXPECT_EQ(Shown("http.max_body", "1025B"), "1025B");
  for (const char* text : {"", "1024", "1MB", "1mib", "1 MiB", "1.5MiB", "-1KiB", "1023B", "65MiB",
                           "99999999999999999999GiB", "18446744073709551615GiB"})
    EXPECT_NE(Refusal("http.max_body", text), "") << text;
}

TEST(Kinds, ByteSizesAreReadBack) {
  for (const std::size_t bytes : {0UL, 1UL, 1'023UL, 1'024UL, 1'048'576UL, 3'221'225'472UL})
    EXPECT_EQ(ParseByteSize(ByteSizeText(bytes)), bytes) << ByteSizeText(bytes);
}

TEST(Kinds, WholeNumbersHaveBounds) {
  EXPECT_EQ(Shown("store.write_lanes", "64"), "64");
  EXPECT_EQ(Refusal("store.write_lanes", "65"), "\"65\" is not a whole number from 1 to 64");
  for (const char* text :
       {"", "0", "-1", "+1", "1.0", "1e1", "0x10", " 2", "2 ", "two", "99999999999"})
    EXPECT_NE(Refusal("store.write_lanes", text), "") << text;
}

TEST(Kinds, WhatIsSentLeavesThisMachineOnlyEncrypted) {
  constexpr const char* kName = "telemetry.traces_endpoint";
  for (const char* url :
       {"", "https://collector", "https://collector.example:4318/v1/traces?tenant=a",
        "http://127.0.0.1:4318/v1/traces", "http://127.9.9.9/", "http://localhost:4318",
        "http://[::1]:4318/v1/traces", "https://[2001:db8::1]/x"})
    EXPECT_EQ(Shown(kName, url), url);
  for (const char* url : {"collector", "http://collector/", "https://user@collector/"})
    EXPECT_NE(Refusal(kName, url), "") << url;
}

TEST(Kinds, ARefusedAddressIsNotQuotedSinceItMayHoldAPassword) {
  EXPECT_THAT(Refusal("telemetry.traces_endpoint", "https://user:hunter2@collector/"),
              Not(HasSubstr("hunter2")));
}

TEST(Kinds, SwitchesAreOnOrOff) {
  EXPECT_EQ(Shown("workers", "off"), "off");
  EXPECT_EQ(Shown("workers", "false"), "off");
  EXPECT_EQ(Shown("store.pooled", "true"), "on");
  for (const char* text : {"", "yes", "no", "1", "0", "ON", "True"})
    EXPECT_NE(Refusal("workers", text), "") << text;
}

TEST(Kinds, ChoicesAreOneOfTheirWords) {
  EXPECT_EQ(Shown("log.level", "warn"), "warn");
  EXPECT_EQ(Refusal("log.level", "loud"), "\"loud\" is not one of debug, info, warn, error");
  EXPECT_NE(Refusal("log.level", "Warn"), "");
  EXPECT_NE(Refusal("log.level", ""), "");
}

TEST(Kinds, AddressesAreHostAndPort) {
  EXPECT_EQ(Shown("listen", "0.0.0.0:0"), "0.0.0.0:0");
  EXPECT_EQ(Shown("listen", "localhost:65535"), "localhost:65535");
  EXPECT_EQ(Shown("listen", "[::1]:8080"), "[::1]:8080");
  EXPECT_EQ(ParseAddress("[::1]:8080"), (Address{"::1", 8080}));
  for (const char* text :
       {"", ":8080", "8080", "localhost", "localhost:", "localhost:65536", "localhost:-1",
        "::1:8080", "[::1]", "[]:1", "[localhost]:1", "a b:1", "http://localhost:80", "host:80x"})
    EXPECT_NE(Refusal("listen", text), "") << text;
}

TEST(Kinds, ASecondAddressMayBeNone) {
  EXPECT_EQ(Shown("ops.listen", ""), "");
  EXPECT_EQ(Shown("ops.listen", "0.0.0.0:9100"), "0.0.0.0:9100");
  for (const char* text : {":9100", "9100", "off", " "})
    EXPECT_NE(Refusal("ops.listen", text), "") << text;
}

TEST(Kinds, ProxiesAreAddressesAndBlocks) {
  constexpr const char* kName = "http.trusted_proxies";
  EXPECT_EQ(Shown(kName, ""), "");
  EXPECT_EQ(Shown(kName, "10.0.0.0/8,192.0.2.1 , 2001:DB8::/32"),
            "10.0.0.0/8, 192.0.2.1, 2001:db8::/32");
  EXPECT_EQ(Shown(kName, "::ffff:192.0.2.1"), "192.0.2.1");
  for (const char* text :
       {"10.0.0.1/8", "proxy.internal", "10.0.0.0/8,,::1", ",", "10.0.0.0/8 ::1"})
    EXPECT_NE(Refusal(kName, text), "") << text;
}

TEST(Kinds, RatesAreACountAndATimeOrOff) {
  EXPECT_EQ(Shown("rate_limits.messages", "100/s"), "100/s");
  EXPECT_EQ(Shown("rate_limits.messages", ""), "off");
  EXPECT_EQ(Shown("rate_limits.messages", "off"), "off");
  EXPECT_EQ(Refusal("rate_limits.messages", "100"),
            "\"100\" is not off or a rate such as 100/s, 6000/min or 10/h");
}

TEST(Kinds, TextIsOneLineOfPrintableCharacters) {
  EXPECT_EQ(Shown("data", "/var/lib/tenüre"), "/var/lib/tenüre");
  EXPECT_NE(Refusal("data", ""), "");
  EXPECT_NE(Refusal("data", "a\nb"), "");
  EXPECT_NE(Refusal("data", "a\x1b[31m"), "");
  EXPECT_NE(Refusal("data", "\xff"), "");
  EXPECT_NE(Refusal("data", std::string(4'097, 'x')), "");
}

TEST(Kinds, StoreAddressesAreShownWithoutTheirPassword) {
  EXPECT_EQ(Shown("store.url", ""), "");
  EXPECT_EQ(Shown("store.url", "postgres://app:hunter2@db/tenure"), "postgres://app:***@db/tenure");
  EXPECT_EQ(Shown("store.url", "postgresql:///tenure"), "postgresql:///tenure");
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
