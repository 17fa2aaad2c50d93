#pragma once

#include <cstdint>

#include "http/router.hpp"
#include "queues/queues.hpp"
#include "webhooks/webhooks.hpp"

namespace tenure::webhooks {

struct RouteParts {
  Webhooks& webhooks;
  queues::Queues& queues;
  std::int64_t retention_ms;  ///< of events: no bot's history is longer
  std::size_t max_body_bytes;
};

void AddRoutes(http::Router& router, const RouteParts& parts);

}  // namespace tenure::webhooks
