#pragma once

#include "cli/command.hpp"
#include "server/capability.hpp"

namespace tenure::tasks {
class Tasks;

cli::Commands Commands();
/// The HTTP side of reliable tasks. `tasks` must outlive the router.
void AddRoutes(http::Router& router, Tasks& tasks);

server::Capability Capability();

}  // namespace tenure::tasks
