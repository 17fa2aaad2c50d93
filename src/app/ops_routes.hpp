#pragma once

#include <string>
#include <string_view>

#include "app/background.hpp"
#include "app/capabilities.hpp"
#include "app/store_watch.hpp"
#include "db/store.hpp"
#include "http/router.hpp"
#include "telemetry/metrics.hpp"

namespace tenure::app {

/// The repository's openapi.json, embedded at build.
std::string_view OpenApiDocument();

struct OpsParts {
  db::Store& store;
  const Background& background;
  const StoreWatch& watch;
  const server::Capabilities& capabilities;
  const telemetry::Registry& metrics;
  std::string store_place;   ///< for people
  std::string installation;  ///< of the store
};

/// The gauge `tenure_ready`: what /readyz says, for alerts. `parts` must outlive whoever asks for
/// the metrics.
void ShowReadiness(const OpsParts& parts, telemetry::Registry& metrics);

/// /livez, /readyz, /health, /metrics and /openapi.json. `parts` must outlive the router.
void AddOpsRoutes(http::Router& router, const OpsParts& parts);

/// The routes of the second listener (`ops.listen`): the first four, and none of them asks for a
/// token. Whoever may reach its address is the operator's choice. The same for `parts`.
http::Router OpsListenerRoutes(const OpsParts& parts);

}  // namespace tenure::app
