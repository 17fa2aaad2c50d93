#pragma once

#include "cli/command.hpp"

namespace tenure::app {

/// Every command of the program, in the order of the help page: those of the capabilities and
/// these.
cli::Commands AllCommands();

cli::Commands StoreCommands();  ///< serve, migrate, admin
cli::Command DemoCommand();
cli::Command BenchCommand();
cli::Command StatusCommand();
cli::Command DoctorCommand();
cli::Commands TokenCommands();
cli::Commands ContextCommands();
cli::Commands ConfigCommands();
cli::Commands SeatClientCommands();  ///< seat run, prove and export
cli::Commands FindCommands();
cli::Command TopCommand();
cli::Commands ManualCommands();
cli::Commands CompletionCommands();

}  // namespace tenure::app
