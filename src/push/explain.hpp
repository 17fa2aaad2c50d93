#pragma once

#include <cstdint>

#include "explain/explanation.hpp"
#include "push/subscription.hpp"

namespace tenure::push {

/// How a subscription's endpoint does, and what it waits for.
explain::Explanation Explain(const Subscription& subscription, std::int64_t now_ms);

}  // namespace tenure::push
