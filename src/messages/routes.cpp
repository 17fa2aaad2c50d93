#include "messages/routes.hpp"

#include "messages/route_support.hpp"

namespace tenure::messages {

void AddRoutes(http::Router& router, const RouteParts& parts) {
  AddMessageRoutes(router, parts);
  AddTimerRoutes(router, parts);
  AddTopicRoutes(router, parts);
  AddDeadLetterRoutes(router, parts);
}

}  // namespace tenure::messages
