#pragma once

#include "cli/command.hpp"
#include "server/capability.hpp"

namespace tenure::leases {

cli::Commands Commands();

server::Capability Capability();

}  // namespace tenure::leases
