#pragma once

#include "server/capability.hpp"

namespace tenure::queues {

server::Capability Capability();
cli::Commands Commands();

}  // namespace tenure::queues
