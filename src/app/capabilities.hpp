#pragma once

#include "server/capability.hpp"

namespace tenure::app {

/// Every capability of the program. Each stands behind those that it needs.
server::CapabilityList AllCapabilities();

}  // namespace tenure::app
