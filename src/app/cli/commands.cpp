#include "app/cli/commands.hpp"

#include "app/capabilities.hpp"

namespace tenure::app {

cli::Commands AllCommands() {
  cli::Commands all = StoreCommands() + TokenCommands();
  for (const server::Capability& capability : AllCapabilities())
    if (capability.commands) all = std::move(all) + capability.commands();
  all.push_back(DemoCommand());
  all.push_back(StatusCommand());
  all.push_back(DoctorCommand());
  all.push_back(BenchCommand());
  all = std::move(all) + SeatClientCommands();
  all = std::move(all) + ConfigCommands();
  all = std::move(all) + FindCommands();
  all.push_back(TopCommand());
  all = std::move(all) + ContextCommands();
  all = std::move(all) + ManualCommands();
  all = std::move(all) + CompletionCommands();
  return all;
}

}  // namespace tenure::app
