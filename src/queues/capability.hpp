#pragma once

#include "server/capability.hpp"

namespace tenure::queues {

server::Capability Capability();

}  // namespace tenure::queues
