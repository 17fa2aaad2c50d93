#pragma once

#include "http/router.hpp"
#include "tasks/tasks.hpp"

namespace tenure::tasks {

/// The HTTP side of reliable tasks. `tasks` must outlive the router.
void AddRoutes(http::Router& router, Tasks& tasks);

}  // namespace tenure::tasks
