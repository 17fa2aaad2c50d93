#pragma once

#include <cstddef>
#include <string>

#include "http/answering.hpp"
#include "http/router.hpp"
#include "queues/queues.hpp"

namespace tenure::queues {

/// What the routes work with.
struct RouteParts {
  Queues& queues;
  std::size_t payload_max = 0;  ///< messages.payload_max
};

/// Answers `body`, which has nothing in it; 404 when there is no such queue.
void ReplyUnlessUnknown(const RouteParts& parts, const http::ExchangePtr& to, std::string body);

/// What a session has done, once more, behind what waits in it. The route is webhooks', which send stored
/// events once more under the same address.
void ReplayHistory(const RouteParts& parts, const http::ExchangePtr& exchange);

void AddConsumerRoutes(http::Router& router, const RouteParts& parts);
void AddOperatorRoutes(http::Router& router, const RouteParts& parts);
void AddLetterRoutes(http::Router& router, const RouteParts& parts);
void AddDropRoute(http::Router& router, const RouteParts& parts);
void AddWhyRoutes(http::Router& router, const RouteParts& parts);
void AddRoutes(http::Router& router, const RouteParts& parts);

}  // namespace tenure::queues
