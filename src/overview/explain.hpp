#pragma once

#include <cstdint>

#include "explain/explanation.hpp"
#include "overview/instances.hpp"

namespace tenure::overview {

/// Whether a process serves, since when, and what it does; or since when it is gone.
explain::Explanation Explain(const Instance& instance, std::int64_t now_ms);

}  // namespace tenure::overview
