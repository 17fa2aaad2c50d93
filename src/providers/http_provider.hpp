#pragma once

#include <memory>

#include "providers/open.hpp"
#include "tenure/leases/provider.hpp"

namespace tenure::providers {

/// Leases of a Tenure server.
std::unique_ptr<leases::Provider> OpenHttp(ServerAddress address);

}  // namespace tenure::providers
