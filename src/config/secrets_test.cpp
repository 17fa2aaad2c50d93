// Every setting that is a secret, whichever there are: two ways in, and no way out.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load.hpp"
#include "config/reference.hpp"
#include "config/test_support.hpp"

namespace tenure::config {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kMarker = "hunter2";

std::vector<const Setting*> Secrets() {
  std::vector<const Setting*> secrets;
  for (const Setting& setting : Table())
    if (IsSecret(setting.kind)) secrets.push_back(&setting);
  return secrets;
}

/// Of its own for each setting; long enough for the most demanding.
std::string SecretOf(const Setting& setting) {
  return std::string(kMarker) + "-of-" + std::string(setting.name) + std::string(40, 'x');
}

/// What secrets need beside them to be of any use.
std::vector<Flag> Beside() {
  return {{"--set", "store.url", "postgres://app@db/tenure"},
          {"--set", "auth.issuer", "https://issuer.example"},
          {"--set", "auth.audience", "tenure"}};
}

/// How a refusal reads; empty when there is none.
std::string Refusal(const Sources& sources) {
  try {
    Load(sources);
    return "";
  } catch (const SettingsError& error) {
    return error.what();
  }
}

/// Everything that may be printed of settings.
std::string AllText(const Settings& settings) {
  std::string text;
  for (const Setting& setting : Table()) text += ValueText(setting.kind, settings) + "\n";
  for (const NamedValue& value : SharedValues(settings)) text += value.value + "\n";
  for (const Change& change : Differences(Settings{}, settings))
    text += change.from + " " + change.to + "\n";
  return text;
}

bool IsTaken(const Setting& setting, const Settings& settings) {
  return std::get<SecretText>(setting.kind).member.In(settings).Reveal() == SecretOf(setting);
}

TEST(Secrets, EachComesFromTheEnvironmentAndIsNeverShown) {
  ASSERT_GE(Secrets().size(), 3U);
  Sources sources{.flags = Beside()};
  for (const Setting* setting : Secrets())
    sources.environment.emplace_back(EnvironmentName(setting->name), SecretOf(*setting));
  const Settings settings = Load(sources).settings;
  for (const Setting* setting : Secrets())
    EXPECT_TRUE(IsTaken(*setting, settings)) << setting->name;
  EXPECT_THAT(AllText(settings), Not(HasSubstr(kMarker)));
}

TEST(Secrets, EachComesFromAFileThatTheFileTheEnvironmentOrAFlagNames) {
  for (const Setting* setting : Secrets()) {
    const TemporaryFile secret(SecretOf(*setting) + "\n");
    const std::string name = std::string(setting->name) + "_file";
    const std::size_t dot = name.find('.');
    const TemporaryFile yaml(name.substr(0, dot) + ":\n  " + name.substr(dot + 1) + ": " +
                             secret.path() + "\n");
    std::vector<Sources> ways(3, {.flags = Beside()});
    ways[0].file = yaml.path();
    ways[1].environment = {{EnvironmentName(setting->name) + "_FILE", secret.path()}};
    ways[2].flags.push_back({"--set", name, secret.path()});
    // Only the one that is given: the issuer's settings need a key beside them.
    if (setting->name != "auth.secret")
      for (Sources& way : ways) way.flags.erase(way.flags.begin() + 1, way.flags.begin() + 3);
    for (const Sources& way : ways) {
      const Settings settings = Load(way).settings;
      EXPECT_TRUE(IsTaken(*setting, settings)) << setting->name;
      EXPECT_THAT(AllText(settings), Not(HasSubstr(kMarker))) << setting->name;
    }
  }
}

TEST(Secrets, NoneStandsInTheFileOrOnTheCommandLineAndNoRefusalQuotesIt) {
  for (const Setting* setting : Secrets()) {
    const std::string name(setting->name);
    const std::size_t dot = name.find('.');
    const TemporaryFile yaml(name.substr(0, dot) + ":\n  " + name.substr(dot + 1) + ": " +
                             SecretOf(*setting) + "\n");
    const std::string too_long = SecretOf(*setting) + std::string(5'000, 'x');
    const TemporaryFile too_long_file(too_long);
    for (const Sources& way :
         {Sources{.file = yaml.path()}, Sources{.flags = {{"--set", name, SecretOf(*setting)}}},
          Sources{.environment = {{EnvironmentName(name), too_long}}},
          Sources{.environment = {{EnvironmentName(name) + "_FILE", too_long_file.path()}}}}) {
      const std::string refusal = Refusal(way);
      EXPECT_THAT(refusal, HasSubstr(name)) << "refused, by name";
      EXPECT_THAT(refusal, Not(HasSubstr(kMarker)));
    }
  }
}

TEST(Secrets, TheReferenceSaysHowToGiveEach) {
  for (const Setting* setting : Secrets()) {
    EXPECT_THAT(ReferencePage(), HasSubstr(EnvironmentName(setting->name) + "_FILE"));
    EXPECT_THAT(ReferencePage(), HasSubstr(std::string(setting->name) + "_file"));
  }
}

}  // namespace
}  // namespace tenure::config
