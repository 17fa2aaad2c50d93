#pragma once

#include "cli/command.hpp"

namespace tenure::seats {

/// `tenure seat ledger`: which store keeps heartbeats.
cli::Commands LedgerCommands();

}  // namespace tenure::seats
