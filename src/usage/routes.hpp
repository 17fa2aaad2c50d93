#pragma once

#include "http/router.hpp"
#include "messages/messages.hpp"
#include "usage/usage.hpp"

namespace tenure::usage {

/// `/usage/*`.
void AddRoutes(http::Router& router, Usage& usage, messages::Messages& messages);

}  // namespace tenure::usage
