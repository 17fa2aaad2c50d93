#include "app/cli/settings_flags.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "app/cli/usage_error.hpp"
#include "config/printable.hpp"
#include "config/table.hpp"

namespace tenure::app {
namespace {

std::string_view Placeholder(const config::Setting& setting) {
  if (std::holds_alternative<config::HostPort>(setting.kind)) return "HOST:PORT";
  if (std::holds_alternative<config::OptionalHostPort>(setting.kind)) return "HOST:PORT";
  if (std::holds_alternative<config::Switch>(setting.kind)) return "on|off";
  if (std::holds_alternative<config::PostgresUrl>(setting.kind)) return "URL";
  return "DIR";
}

std::string Description(const config::Setting& setting) {
  const std::string value = config::ValueText(setting.kind, config::Settings{});
  return fmt::format("{}{}", setting.does, value.empty() ? "" : fmt::format(" [{}]", value));
}

config::Flag ParseSet(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos)
    throw UsageError(fmt::format("--set takes NAME=VALUE, not {}", config::Quoted(text)));
  return {"--set", text.substr(0, equals), text.substr(equals + 1)};
}

}  // namespace

void SettingsFlags::Declare(Flags& flags) {
  flags.Add(Flags::Value{"--config", "FILE",
                         "The configuration file [TENURE_CONFIG, else ./tenure.yaml if it exists].",
                         Flags::Need::kOptional, &file_});
  DeclareWithoutFile(flags);
}

void SettingsFlags::DeclareWithoutFile(Flags& flags) {
  for (const config::Setting& setting : config::Table())
    if (!setting.flag.empty())
      flags.Add(Flags::Value{setting.flag, Placeholder(setting), Description(setting),
                             Flags::Need::kOptional, &by_setting_[setting.name]});
  flags.Add(Flags::List{"--set", "NAME=VALUE",
                        "Any setting, as often as needed: --set sessions.duration=7d.", &sets_});
}

config::Sources SettingsFlags::Sources() const {
  config::Sources sources;
  sources.environment = config::CurrentEnvironment();
  sources.file = config::ChooseFile(file_, sources.environment);
  for (const auto& [name, value] : by_setting_)
    if (value)
      sources.flags.push_back(
          {std::string(config::FindSetting(name)->flag), std::string(name), *value});
  for (const std::string& set : sets_) sources.flags.push_back(ParseSet(set));
  return sources;
}

}  // namespace tenure::app
