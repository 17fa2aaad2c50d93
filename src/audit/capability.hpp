#pragma once

#include "cli/command.hpp"
#include "server/capability.hpp"

namespace tenure::audit {
class Audit;

cli::Commands Commands();
/// /api/v1/audit. The audit must outlive the router.
void AddRoutes(http::Router& router, Audit& audit);

server::Capability Capability();

}  // namespace tenure::audit
