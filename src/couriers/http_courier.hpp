#pragma once

#include <memory>

#include "couriers/courier.hpp"
#include "providers/open.hpp"

namespace tenure::couriers {

/// Messages of a Tenure server.
std::unique_ptr<Courier> OpenHttp(const providers::ServerAddress& address, Milliseconds lease);

}  // namespace tenure::couriers
