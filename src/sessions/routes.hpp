#pragma once

#include "audit/refusals.hpp"
#include "http/router.hpp"
#include "sessions/sessions.hpp"

namespace tenure::sessions {

/// PUT, GET, DELETE of /sessions. `sessions` and `refusals` must outlive the router.
void AddRoutes(http::Router& router, Sessions& sessions, audit::Refusals& refusals);

}  // namespace tenure::sessions
