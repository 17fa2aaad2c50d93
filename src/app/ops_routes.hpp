#pragma once

#include "app/background.hpp"
#include "db/store.hpp"
#include "http/router.hpp"
#include "messages/messages.hpp"
#include "tasks/tasks.hpp"
#include "telemetry/metrics.hpp"

namespace tenure::app {

struct OpsParts {
  db::Store& store;
  const Background& background;
  tasks::Tasks& tasks;
  messages::Messages& messages;
  const telemetry::Registry& metrics;
  std::string store_place;   ///< for people
  std::string installation;  ///< of the store
};

/// /livez, /readyz, /health, /metrics and /openapi.json. `parts` must outlive the router.
void AddOpsRoutes(http::Router& router, const OpsParts& parts);

/// The routes of the second listener (`ops.listen`): the first four, and none of them asks for a
/// token. Whoever may reach its address is the operator's choice. The same for `parts`.
http::Router OpsListenerRoutes(const OpsParts& parts);

}  // namespace tenure::app
