#pragma once

#include "http/router.hpp"
#include "server/capability.hpp"

namespace tenure::app {

/// /api/v1/search: everything of the asker's tenant that has this id, or whose name begins so, of the
/// kinds that the token may read. `capabilities` must outlive the router.
void AddSearchRoute(http::Router& router, const server::Capabilities& capabilities);

}  // namespace tenure::app
