#pragma once

#include <cstdint>
#include <optional>

#include "http/message.hpp"

namespace tenure::http {

/// The revision in If-Match, with or without quotes: the change counts only while the thing has it. Nothing without the
/// header; throws ProblemError when it holds no number.
std::optional<std::int64_t> ExpectedRevision(const Request& request);

}  // namespace tenure::http
