#pragma once

#include "cli/command.hpp"
#include "server/capability.hpp"

namespace tenure::audit {
class Refusals;
}

namespace tenure::sessions {
class Sessions;

cli::Commands Commands();
/// PUT, GET, DELETE of /sessions. `sessions` and `refusals` must outlive the router.
void AddRoutes(http::Router& router, Sessions& sessions, audit::Refusals& refusals);

server::Capability Capability();

}  // namespace tenure::sessions
