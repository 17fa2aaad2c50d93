#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "explain/glance.hpp"
#include "http/message.hpp"
#include "overview/instances.hpp"

namespace tenure::overview {

/// Processes that are missed, and versions that differ.
std::vector<explain::Concern> ConcernsOf(std::span<const Instance> instances, std::int64_t now_ms);

/// What `asker` is told, the worst first: of other tenants' things only how many there are.
std::vector<explain::Concern> TellTo(const http::Principal& asker,
                                     std::span<const explain::Concern> concerns);

}  // namespace tenure::overview
