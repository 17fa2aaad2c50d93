#pragma once

#include "cli/command.hpp"

namespace tenure::seats {

/// `tenure seat run`.
cli::Command SeatRunCommand();

}  // namespace tenure::seats
