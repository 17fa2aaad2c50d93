#pragma once

#include "cli/command.hpp"
#include "server/capability.hpp"

namespace tenure::messages {

cli::Commands Commands();

server::Capability Capability();

}  // namespace tenure::messages
