#pragma once

#include <memory>
#include <string>

#include "tenure/leases/provider.hpp"

namespace tenure::providers {

/// Leases of a Tenure server. `token` (may be empty) is sent as a bearer token.
std::unique_ptr<leases::Provider> OpenHttp(const std::string& base_url, const std::string& token);

}  // namespace tenure::providers
