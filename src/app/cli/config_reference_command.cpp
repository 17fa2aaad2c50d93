#include "app/cli/command.hpp"
#include "app/cli/exit_code.hpp"
#include "config/reference.hpp"

namespace tenure::app {
namespace {

class ConfigReference final : public Command {
 public:
  std::string_view words() const override { return "config reference"; }
  std::string_view summary() const override { return "Print the page about all settings"; }
  void Declare(Flags&) override {}
  int Run(Console& console) override {
    console.out << config::ReferencePage();
    return kExitDone;
  }
};

}  // namespace

std::unique_ptr<Command> MakeConfigReference() { return std::make_unique<ConfigReference>(); }

}  // namespace tenure::app
