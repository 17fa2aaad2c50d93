#pragma once

#include <cstdint>
#include <stop_token>

#include "tenure/clock.hpp"

namespace tenure::holder {

/// Sleeps until `until_ms` or until `stop` is requested. False: it was requested.
bool SleepUntil(const Clock& clock, std::int64_t until_ms, const std::stop_token& stop);

}  // namespace tenure::holder
