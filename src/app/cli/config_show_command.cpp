#include "app/cli/command.hpp"
#include "app/cli/exit_code.hpp"
#include "app/cli/settings_flags.hpp"
#include "app/cli/text_table.hpp"
#include "base/json_writer.hpp"
#include "config/printable.hpp"
#include "config/table.hpp"

namespace tenure::app {
namespace {

void PrintTable(const config::Loaded& loaded, Console& console) {
  TextTable table({{"SETTING"}, {"VALUE"}, {"FROM"}});
  for (const config::Setting& setting : config::Table()) {
    std::string value = config::ValueText(setting.kind, loaded.settings);
    table.Add({std::string(setting.name), value.empty() ? "-" : std::move(value),
               loaded.OriginOf(setting).where});
  }
  console.out << table.Text();
}

void PrintJson(const config::Loaded& loaded, Console& console) {
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

class ConfigShow final : public Command {
 public:
  std::string_view words() const override { return "config show"; }
  std::string_view summary() const override {
    return "Print the values in effect and where each comes from";
  }
  std::string notes() const override {
    return "Takes the flags of `tenure serve` and shows what they would make it run by. Passwords "
           "are\nnot shown.\n\nExample:\n  tenure config show --config /etc/tenure.yaml\n";
  }
  void Declare(Flags& flags) override {
    settings_.Declare(flags);
    flags.Add(Flags::Switch{"--json", "Print JSON for programs.", &json_});
  }

  int Run(Console& console) override {
    const config::Loaded loaded = config::Load(settings_.Sources());
    json_ ? PrintJson(loaded, console) : PrintTable(loaded, console);
    return kExitDone;
  }

 private:
  SettingsFlags settings_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> MakeConfigShow() { return std::make_unique<ConfigShow>(); }

}  // namespace tenure::app
