#pragma once

#include "http/router.hpp"
#include "leases/leases.hpp"

namespace tenure::leases {

/// The HTTP side of leases. `leases` must outlive the router.
void AddRoutes(http::Router& router, Leases& leases);

}  // namespace tenure::leases
