#pragma once

#include "http/router.hpp"
#include "inbox/inbox.hpp"

namespace tenure::inbox {

/// None of these needs an Idempotency-Key: `begin` is idempotent by its `term`, `complete` and
/// `fail` by the claim's fence.
void AddRoutes(http::Router& router, Inbox& inbox);

}  // namespace tenure::inbox
