#pragma once

#include <vector>

#include "app/ops_routes.hpp"
#include "explain/glance.hpp"

namespace tenure::app {

/// What an operator must know of the server and its store, from memory. `certificate_end_s`: of the
/// certificate that is shown, in seconds since 1970; 0: there is none.
std::vector<explain::Concern> ConcernsOf(const OpsParts& parts, std::int64_t certificate_end_s,
                                         std::int64_t wall_ms);

}  // namespace tenure::app
