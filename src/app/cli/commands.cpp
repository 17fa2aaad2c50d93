#include "app/cli/commands.hpp"

#include "app/capabilities.hpp"

namespace tenure::app {

cli::Commands AllCommands() {
  cli::Commands all = StoreCommands() + TokenCommands();
  for (const server::Capability& capability : AllCapabilities())
    if (capability.commands) all = std::move(all) + capability.commands();
  all.push_back(StatusCommand());
  all = std::move(all) + SeatClientCommands();
  all = std::move(all) + ConfigCommands();
  all.push_back(CompletionCommand(all));
  return all;
}

}  // namespace tenure::app
