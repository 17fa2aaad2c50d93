#pragma once

#include <vector>

#include "config/settings.hpp"
#include "http/rate_limits.hpp"

namespace tenure::app {

/// Which routes share a limit, and which limit the settings give them. Every route is in one class,
/// except the probes /livez and /readyz, which a limit must never make look dead.
///
/// Limits that count something else than requests of a person (a seat's heartbeats, a machine's
/// acquisitions) are the capability's own: an http::RateLimiter with a key that it chooses.
std::vector<http::RateClass> RateClassesOf(const config::RateLimitSettings& settings);

}  // namespace tenure::app
