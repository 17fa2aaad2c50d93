#include "config/table.hpp"

#include <set>

#include <gtest/gtest.h>

namespace tenure::config {
namespace {

/// A text that the kind accepts and that is not the default.
std::string Another(const Kind& kind) {
  const Settings defaults;
  const auto unlike = [&](const std::string& first, const std::string& second) {
    return ValueText(kind, defaults) == first ? second : first;
  };
  if (const auto* k = std::get_if<Choice>(&kind))
    return unlike(std::string(k->words.front()), std::string(k->words.back()));
  if (std::holds_alternative<Switch>(kind)) return unlike("on", "off");
  if (const auto* k = std::get_if<Integer>(&kind))
    return unlike(std::to_string(k->least), std::to_string(k->most));
  if (const auto* k = std::get_if<Duration>(&kind)) return std::to_string(k->most_ms) + "ms";
  if (const auto* k = std::get_if<ByteSize>(&kind)) return ByteSizeText(k->most);
  if (std::holds_alternative<Decimal>(kind)) return "0.000001";
  if (std::holds_alternative<HostPort>(kind)) return "localhost:1";
  if (std::holds_alternative<OptionalHostPort>(kind)) return "localhost:1";
  if (std::holds_alternative<IpBlockList>(kind)) return "10.0.0.0/8, ::1";
  if (std::holds_alternative<RateLimit>(kind)) return "7/min";
  if (std::holds_alternative<PostgresUrl>(kind)) return "postgres://db/x";
  if (std::holds_alternative<RedisUrl>(kind)) return "rediss://cache/1";
  if (std::holds_alternative<HttpUrl>(kind)) return "https://collector/v1/traces";
  return "another";
}

TEST(Table, NamesFlagsAndVariablesAreUnique) {
  std::set<std::string> names;
  for (const Setting& setting : Table()) {
    EXPECT_TRUE(names.insert(std::string(setting.name)).second) << setting.name;
    EXPECT_TRUE(names.insert(EnvironmentName(setting.name)).second) << setting.name;
    if (IsSecret(setting.kind)) {
      EXPECT_TRUE(names.insert(EnvironmentName(setting.name) + "_FILE").second) << setting.name;
    }
    if (!setting.more.flag.empty()) {
      EXPECT_TRUE(names.insert(std::string(setting.more.flag)).second) << setting.more.flag;
    }
  }
}

TEST(Table, NamesAreLowerCaseWithAtMostOneSection) {
  for (const Setting& setting : Table()) {
    EXPECT_EQ(setting.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_.0123456789"),
              std::string::npos)
        << setting.name;
    EXPECT_TRUE(!IsSection(setting.name) || std::holds_alternative<Switch>(setting.kind))
        << setting.name << " is a value and a section, which only a switch for all of it may be";
  }
}

TEST(Table, EverySettingIsDocumentedInWholeSentences) {
  for (const Setting& setting : Table()) {
    EXPECT_GT(setting.does.size(), 20U) << setting.name;
    EXPECT_TRUE(setting.does.ends_with('.')) << setting.name;
    EXPECT_GT(setting.change_when.size(), 20U) << setting.name;
    EXPECT_TRUE(setting.change_when.ends_with('.')) << setting.name;
  }
}

TEST(Table, EveryDefaultIsAcceptedByItsOwnSetting) {
  for (const Setting& setting : Table()) {
    if (IsSecret(setting.kind)) continue;
    Settings settings;
    const std::string text = ValueText(setting.kind, settings);
    EXPECT_EQ(Assign(setting.kind, text, settings), std::nullopt) << setting.name;
    EXPECT_EQ(settings, Settings{}) << setting.name << " = " << text << " is not read back";
  }
}

TEST(Table, EverySettingReachesAMemberOfItsOwn) {
  Settings all;
  for (const Setting& setting : Table()) {
    Settings settings;
    ASSERT_EQ(Assign(setting.kind, Another(setting.kind), settings), std::nullopt) << setting.name;
    EXPECT_NE(settings, Settings{}) << setting.name << " changes nothing";
    for (const Setting& other : Table())
      EXPECT_EQ(SameValue(other.kind, settings, Settings{}), &other != &setting)
          << setting.name << " changes " << other.name;
    ASSERT_EQ(Assign(setting.kind, Another(setting.kind), all), std::nullopt);
  }
  for (const Setting& setting : Table())
    EXPECT_FALSE(SameValue(setting.kind, all, Settings{})) << setting.name;
}

TEST(Table, EveryWordOfAChoiceIsShownAsItWasGiven) {
  for (const Setting& setting : Table()) {
    const auto* choice = std::get_if<Choice>(&setting.kind);
    if (!choice) continue;
    for (const std::string_view word : choice->words) {
      Settings settings;
      ASSERT_EQ(Assign(setting.kind, word, settings), std::nullopt);
      EXPECT_EQ(ValueText(setting.kind, settings), word) << setting.name;
    }
  }
}

TEST(Table, TheWordsOfALevelMeanWhatTheySay) {
  Settings settings;
  ASSERT_EQ(Assign(FindSetting("log.level")->kind, "error", settings), std::nullopt);
  EXPECT_EQ(settings.log.level, base::LogLevel::kError);
  ASSERT_EQ(Assign(FindSetting("log.format")->kind, "json", settings), std::nullopt);
  EXPECT_EQ(settings.log.format, LogStyle::kJson);
  ASSERT_EQ(Assign(FindSetting("store.migrate")->kind, "check", settings), std::nullopt);
  EXPECT_EQ(settings.store.migrate, Migrate::kCheck);
}

TEST(Table, SettingsOfOneSectionStandTogether) {
  std::set<std::string> seen;
  std::string current;
  for (const Setting& setting : Table()) {
    const std::string_view name = setting.name;
    const std::string section(name.substr(0, name.find('.') == name.npos ? 0 : name.find('.')));
    EXPECT_TRUE(section == current || seen.insert(section).second) << setting.name;
    current = section;
  }
}

TEST(Table, ASecretIsAlsoFoundByItsFile) {
  EXPECT_EQ(FindAddressed("store.password").setting, FindSetting("store.password"));
  EXPECT_FALSE(FindAddressed("store.password").by_file);
  EXPECT_EQ(FindAddressed("store.password_file").setting, FindSetting("store.password"));
  EXPECT_TRUE(FindAddressed("store.password_file").by_file);
  EXPECT_EQ(FindAddressed("data_file").setting, nullptr) << "only secrets have a file";
  EXPECT_EQ(FindAddressed("_file").setting, nullptr);
}

TEST(Table, SectionsAreKnown) {
  EXPECT_TRUE(IsSection("sessions"));
  EXPECT_FALSE(IsSection("session"));
  EXPECT_FALSE(IsSection("listen"));
  EXPECT_FALSE(IsSection(""));
}

TEST(Table, EnvironmentNamesFollowThePath) {
  EXPECT_EQ(EnvironmentName("usage.interval"), "TENURE_USAGE_INTERVAL");
  EXPECT_EQ(EnvironmentName("store.write_lanes"), "TENURE_STORE_WRITE_LANES");
}

}  // namespace
}  // namespace tenure::config
