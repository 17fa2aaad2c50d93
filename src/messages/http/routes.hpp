#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "audit/refusals.hpp"
#include "http/answering.hpp"
#include "http/json_fields.hpp"
#include "http/reason.hpp"
#include "http/route_group.hpp"
#include "messages/http/spans.hpp"
#include "messages/messages.hpp"
#include "telemetry/trace.hpp"

namespace tenure::messages {

/// What the routes need. Everything must outlive the router.
struct RouteParts {
  Messages& messages;
  telemetry::Tracer& tracer;
  audit::Refusals& sums;              ///< of entries of the audit
  std::size_t payload_max = 1 << 20;  ///< messages.payload_max
};

/// /api/v1/messages, /api/v1/timers, /api/v1/topics and /api/v1/dead-letters.
void AddRoutes(http::Router& router, const RouteParts& parts);

// For the *_routes.cpp of this folder only.

void AddMessageRoutes(http::Router& router, const RouteParts& parts);
void AddListRoutes(http::Router& router, const RouteParts& parts);
void AddTopicRoutes(http::Router& router, const RouteParts& parts);
void AddDeadLetterRoutes(http::Router& router, const RouteParts& parts);

inline constexpr const char* kRead = "messages:read";
inline constexpr const char* kWrite = "messages:write";

/// The routes below a path.
inline http::RouteGroup<RouteParts> GroupAt(http::Router& router, const RouteParts& parts,
                                            std::string path) {
  return {router,
          parts,
          {.path = std::move(path),
           .rate_class = "messages",
           .encoded_slash = true,
           .span_result = kSpanResult}};
}

}  // namespace tenure::messages
