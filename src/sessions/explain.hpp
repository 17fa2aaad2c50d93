#pragma once

#include <cstdint>

#include "explain/explanation.hpp"
#include "sessions/session.hpp"

namespace tenure::sessions {

/// Who has which capacity, since when, until when; or how that ended.
explain::Explanation Explain(const Session& session, std::int64_t now_ms);

}  // namespace tenure::sessions
