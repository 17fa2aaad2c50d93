#include <fmt/format.h>

#include "app/cli/commands.hpp"
#include "app/cli/settings_flags.hpp"
#include "app/service.hpp"
#include "app/store_setup.hpp"
#include "base/json_writer.hpp"
#include "cli/command.hpp"
#include "cli/text_table.hpp"
#include "config/printable.hpp"
#include "config/reference.hpp"
#include "config/table.hpp"

namespace tenure::app {
namespace {

using cli::Given;

void PrintSettings(const config::Loaded& loaded, cli::Console& console) {
  cli::TextTable table({{"SETTING"}, {"VALUE"}, {"FROM"}});
  for (const config::Setting& setting : config::Table()) {
    std::string value = config::ValueText(setting.kind, loaded.settings);
    table.Add({std::string(setting.name), value.empty() ? "-" : std::move(value),
               loaded.OriginOf(setting).where});
  }
  console.out << table.Text();
}

void PrintSettingsJson(const config::Loaded& loaded, cli::Console& console) {
  std::string out;
  base::JsonWriter json(out);
  json.BeginArray();
  for (const config::Setting& setting : config::Table())
    json.BeginObject()
        .Field("name", setting.name)
        .Field("value", config::ValueText(setting.kind, loaded.settings))
        .Field("from", config::Printable(loaded.OriginOf(setting).where))
        .EndObject();
  json.EndArray();
  console.out << out << "\n";
}

int CheckConfig(const Given& given, cli::Console& console) {
  const std::string& file = given.Text("FILE");
  const config::Loaded loaded = config::Load({.file = file, .environment = {}, .flags = {}});
  CheckWithCapabilities(loaded.settings);
  try {
    CheckDoors(loaded.settings, true);
  } catch (const base::UserError& error) {
    console.err << fmt::format("tenure: {}: {}\n", config::Printable(file), error.what());
    return cli::kExitUsage;
  }
  const std::size_t count = loaded.origins.size();
  const auto& jobs = loaded.settings.file_jobs;
  console.out << fmt::format(
      "{}: {} setting{}{}, all right\n", config::Printable(file), count, count == 1 ? "" : "s",
      jobs ? fmt::format(", {} job{}", jobs->size(), jobs->size() == 1 ? "" : "s") : "");
  return cli::kExitDone;
}

int ShowConfig(const Given& given, cli::Console& console) {
  const config::Loaded loaded = config::Load(SourcesOf(given));
  given.Has("--json") ? PrintSettingsJson(loaded, console) : PrintSettings(loaded, console);
  return cli::kExitDone;
}

int PrintReference(const Given&, cli::Console& console) {
  console.out << config::ReferencePage();
  return cli::kExitDone;
}

int ApplyConfig(const Given& given, cli::Console&) {
  const config::Settings settings = config::Load(SourcesOf(given)).settings;
  CheckWithCapabilities(settings);
  return RunConfigApply(settings);
}

constexpr std::string_view kApplyNotes =
    R"(All processes on one store must agree on some settings (`tenure config reference` marks them as
shared). The first process writes them to the store; one that starts with other values refuses.
This changes them for all: apply, then restart the processes one by one with the same file.
Jobs that the file lists are made, changed and removed at once, as they are at each start of
`tenure serve` with the file; a file without `jobs` leaves them as they are. The files of bots that
it names (`queues.files`) are put in force for all processes at once, while they run.

Example:
  tenure config apply /etc/tenure.yaml
)";

}  // namespace

cli::Commands ConfigCommands() {
  using namespace cli;  // the words of its tables
  Flags apply = StoreFlags();
  std::erase_if(apply, [](const Flag& flag) { return flag.name == "--config"; });
  return {
      {.words = "config check",
       .summary = "Check a configuration file and say all that is wrong",
       .notes =
           "Looks at the file alone, not at the environment, and at what it names: addresses,\n"
           "certificate, keys. Exit code 2 when something is "
           "wrong.\n\nExample:\n  tenure config check tenure.yaml\n",
       .flags = {Argument("FILE", "The file to check.")},
       .run = CheckConfig,
       .part = Part::kLookAfter},
      {.words = "config show",
       .summary = "Print the values in effect and where each comes from",
       .notes = "Takes the flags of `tenure serve` and shows what they would make it run by. "
                "Passwords are\nnot shown.\n\nExample:\n"
                "  tenure config show --config /etc/tenure.yaml\n",
       .flags = SettingsFlags() + Flags{Switch("--json", "Print JSON for programs.")},
       .run = ShowConfig,
       .part = Part::kLookAfter},
      {.words = "config reference",
       .summary = "Print the page about all settings",
       .notes = {},
       .flags = {},
       .run = PrintReference,
       .part = Part::kLookAfter},
      {.words = "config apply",
       .summary = "Write the settings that an ensemble shares, the jobs and the bots to the store",
       .notes = std::string(kApplyNotes),
       .flags = Flags{Argument("FILE", "The configuration file with the new values.")} + apply,
       .run = ApplyConfig,
       .part = Part::kLookAfter}};
}

}  // namespace tenure::app
