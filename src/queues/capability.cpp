#include "queues/capability.hpp"

#include "messages/messages.hpp"
#include "queues/http/routes.hpp"
#include "queues/queues.hpp"
#include "queues_sql/queries.hpp"

namespace tenure::queues {
namespace {

server::Running Run(const server::Parts& parts, const server::Others& others) {
  const auto object = std::make_shared<Queues>(parts.store, parts.wake,
                                               others.Of<messages::Messages>(), parts.clock);
  server::Running running;
  running.object = object;
  running.type = typeid(Queues);
  running.add_routes = [routes = RouteParts{*object, parts.settings.messages.payload_max_bytes}](
                           http::Router& router) { AddRoutes(router, routes); };
  return running;
}

}  // namespace

server::Capability Capability() {
  return {.name = "queues",
          .needs = {"messages"},
          .queries = sql::All(),
          .rate = &config::RateLimitSettings::queues,
          .run = Run};
}

}  // namespace tenure::queues
