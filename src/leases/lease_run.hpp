#pragma once

#include "cli/command.hpp"

namespace tenure::leases {

/// The argument of every command about one lease. Refuses what no lease can be called.
cli::Flag LeaseArgument();

/// `tenure lease run`: a command that runs while a lease is held.
cli::Command RunCommand();

}  // namespace tenure::leases
