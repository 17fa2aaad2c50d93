#pragma once

#include <cstdint>
#include <vector>

#include "base/caller.hpp"
#include "http/message.hpp"

namespace tenure::http {

/// Fences are exact as JSON numbers.
inline constexpr std::int64_t kMaxFence = (std::int64_t{1} << 53) - 1;

/// The fences under which a write may happen: "Tenure-Fence: name=fence", in any number of headers
/// and comma-separated, at most 8 of them. The leases are the principal's tenant's.
///
/// None for GET and HEAD, which change nothing. Throws ProblemError 400 for anything else than a
/// lease's name and a number that a fence can be: a caller who wants to be fenced must not be
/// carried out unfenced.
std::vector<base::Fence> ReadFences(const Request& request);

}  // namespace tenure::http
