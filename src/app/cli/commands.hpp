#pragma once

#include "cli/command.hpp"

namespace tenure::app {

/// Every command of the program, in the order of the help page: those of the capabilities and
/// these.
cli::Commands AllCommands();

cli::Commands StoreCommands();  ///< serve, migrate, admin
cli::Command StatusCommand();
cli::Commands TokenCommands();
cli::Commands ConfigCommands();
cli::Commands SeatClientCommands();  ///< seat run, prove and export
/// Knows `all` other commands.
cli::Command CompletionCommand(const cli::Commands& all);

}  // namespace tenure::app
