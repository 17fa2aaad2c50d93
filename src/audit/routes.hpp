#pragma once

#include "audit/audit.hpp"
#include "http/router.hpp"

namespace tenure::audit {

/// /api/v1/audit. The audit must outlive the router.
void AddRoutes(http::Router& router, Audit& audit);

}  // namespace tenure::audit
