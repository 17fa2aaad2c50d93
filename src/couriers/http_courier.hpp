#pragma once

#include <memory>
#include <string>

#include "couriers/courier.hpp"

namespace tenure::couriers {

/// Messages of a Tenure server. `token` (may be empty) is sent as a bearer token.
std::unique_ptr<Courier> OpenHttp(const std::string& base_url, const std::string& token,
                                  Milliseconds lease);

}  // namespace tenure::couriers
