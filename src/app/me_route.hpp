#pragma once

#include <string>

#include "base/clock.hpp"
#include "db/engine.hpp"
#include "http/router.hpp"
#include "server/capability.hpp"

namespace tenure::app {

struct MeParts {
  const server::CapabilityList& capabilities;
  const std::string& process;
  const db::Engine& engine;
  const http::Router& router;  ///< of all routes: its scopes are those that there are
  bool asks_for_tokens;
};

/// /api/v1/me: who asks, what the token allows, and what there is to ask for. The page draws its
/// menu by it. `parts` must outlive the router.
void AddMeRoute(http::Router& router, const MeParts& parts);

}  // namespace tenure::app
