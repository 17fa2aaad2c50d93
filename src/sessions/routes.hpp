#pragma once

#include "http/router.hpp"
#include "sessions/sessions.hpp"

namespace tenure::sessions {

/// PUT, GET, DELETE of /sessions. `sessions` must outlive the router.
void AddRoutes(http::Router& router, Sessions& sessions);

}  // namespace tenure::sessions
