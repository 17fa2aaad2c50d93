#pragma once

#include <cstddef>

#include "http/router.hpp"
#include "queues/queues.hpp"

namespace tenure::queues {

/// What the routes work with.
struct RouteParts {
  Queues& queues;
  std::size_t payload_max = 0;  ///< messages.payload_max
};

void AddConsumerRoutes(http::Router& router, const RouteParts& parts);
void AddOperatorRoutes(http::Router& router, const RouteParts& parts);
void AddRoutes(http::Router& router, const RouteParts& parts);

}  // namespace tenure::queues
