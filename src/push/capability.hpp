#pragma once

#include "cli/command.hpp"
#include "server/capability.hpp"

namespace tenure::push {

cli::Commands Commands();

server::Capability Capability();

}  // namespace tenure::push
