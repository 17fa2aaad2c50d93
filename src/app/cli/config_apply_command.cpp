#include "app/cli/command.hpp"
#include "app/cli/settings_flags.hpp"
#include "app/store_commands.hpp"

namespace tenure::app {
namespace {

constexpr std::string_view kNotes =
    R"(All processes on one store must agree on some settings (`tenure config reference` marks them as
shared). The first process writes them to the store; one that starts with other values refuses.
This changes them for all: apply, then restart the processes one by one with the same file.

Example:
  tenure config apply /etc/tenure.yaml
)";

class ConfigApply final : public Command {
 public:
  std::string_view words() const override { return "config apply"; }
  std::string_view summary() const override {
    return "Write the settings that an ensemble shares to the store";
  }
  std::string notes() const override { return std::string(kNotes); }
  void Declare(Flags& flags) override {
    flags.Add(Flags::Argument{"FILE", "The configuration file with the new values.", &file_});
    settings_.DeclareWithoutFile(flags);
  }
  int Run(Console&) override {
    config::Sources sources = settings_.Sources();
    sources.file = file_;
    return RunConfigApply(config::Load(sources).settings);
  }

 private:
  std::string file_;
  SettingsFlags settings_;
};

}  // namespace

std::unique_ptr<Command> MakeConfigApply() { return std::make_unique<ConfigApply>(); }

}  // namespace tenure::app
