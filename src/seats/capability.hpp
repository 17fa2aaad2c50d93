#pragma once

#include "cli/command.hpp"
#include "server/capability.hpp"

namespace tenure::seats {

cli::Commands Commands();

server::Capability Capability();

}  // namespace tenure::seats
