#include <fmt/format.h>

#include "app/cli/command.hpp"
#include "app/cli/exit_code.hpp"
#include "config/load.hpp"
#include "config/printable.hpp"

namespace tenure::app {
namespace {

class ConfigCheck final : public Command {
 public:
  std::string_view words() const override { return "config check"; }
  std::string_view summary() const override {
    return "Check a configuration file and say all that is wrong";
  }
  std::string notes() const override {
    return "Looks at the file alone, not at the environment. Exit code 2 when something is "
           "wrong.\n\nExample:\n  tenure config check tenure.yaml\n";
  }
  void Declare(Flags& flags) override {
    flags.Add(Flags::Argument{"FILE", "The file to check.", &file_});
  }

  int Run(Console& console) override {
    const config::Loaded loaded = config::Load({.file = file_, .environment = {}, .flags = {}});
    const std::size_t count = loaded.origins.size();
    console.out << fmt::format("{}: {} setting{}, all right\n", config::Printable(file_), count,
                               count == 1 ? "" : "s");
    return kExitDone;
  }

 private:
  std::string file_;
};

}  // namespace

std::unique_ptr<Command> MakeConfigCheck() { return std::make_unique<ConfigCheck>(); }

}  // namespace tenure::app
