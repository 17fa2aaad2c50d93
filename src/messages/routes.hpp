#pragma once

#include <cstddef>

#include "http/router.hpp"
#include "messages/messages.hpp"
#include "telemetry/trace.hpp"

namespace tenure::messages {

/// What the routes need. Everything must outlive the router.
struct RouteParts {
  Messages& messages;
  telemetry::Tracer& tracer;
  std::size_t payload_max = 1 << 20;  ///< messages.payload_max
};

/// /api/v1/messages, /api/v1/timers, /api/v1/topics and /api/v1/dead-letters.
void AddRoutes(http::Router& router, const RouteParts& parts);

}  // namespace tenure::messages
