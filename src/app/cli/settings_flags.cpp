#include "app/cli/settings_flags.hpp"

#include <functional>
#include <optional>

#include <fmt/format.h>

#include "cli/flags.hpp"
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
    throw cli::UsageError(fmt::format("--set takes NAME=VALUE, not {}", config::Quoted(text)));
  return {"--set", text.substr(0, equals), text.substr(equals + 1)};
}

/// --config, the short flags of those settings, --set.
cli::Flags FlagsOf(const std::function<bool(const config::Setting&)>& counts) {
  cli::Flags flags{
      cli::Value("--config", "FILE",
                 "The configuration file [TENURE_CONFIG, else ./tenure.yaml if it exists].")};
  for (const config::Setting& setting : config::Table())
    if (!setting.more.flag.empty() && counts(setting))
      flags.push_back(cli::Value(setting.more.flag, Placeholder(setting), Description(setting)));
  flags.push_back(cli::Values("--set", "NAME=VALUE",
                              "Any setting, as often as needed: --set sessions.duration=7d."));
  return flags;
}

}  // namespace

cli::Flags SettingsFlags() {
  return FlagsOf([](const config::Setting&) { return true; });
}

cli::Flags StoreFlags() {
  return FlagsOf([](const config::Setting& setting) {
    return setting.more.flag == "--data" || setting.more.flag == "--store";
  });
}

config::Sources SourcesOf(const cli::Given& given) {
  config::Sources sources;
  sources.environment = config::CurrentEnvironment();
  const std::string* const file = given.Find(given.Has("FILE") ? "FILE" : "--config");
  sources.file =
      config::ChooseFile(file ? std::optional(*file) : std::nullopt, sources.environment);
  for (const config::Setting& setting : config::Table())
    if (const std::string* const value = given.Find(setting.more.flag))
      sources.flags.push_back({std::string(setting.more.flag), std::string(setting.name), *value});
  for (const std::string& set : given.All("--set")) sources.flags.push_back(ParseSet(set));
  return sources;
}

}  // namespace tenure::app
