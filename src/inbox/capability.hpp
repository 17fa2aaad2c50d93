#pragma once

#include "cli/command.hpp"
#include "server/capability.hpp"

namespace tenure::inbox {
class Inbox;

/// None of these needs an Idempotency-Key: `begin` is idempotent by its `term`, `complete` and
/// `fail` by the claim's fence.
void AddRoutes(http::Router& router, Inbox& inbox);

cli::Commands Commands();

server::Capability Capability();

}  // namespace tenure::inbox
