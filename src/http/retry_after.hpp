#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tenure::http {

/// What Retry-After asks for, from now on: seconds, or the distance of a date from `now_ms`. At
/// most a day: further ahead nobody knows what a server will want. Nothing when it is neither.
std::optional<std::int64_t> ParseRetryAfterMs(std::string_view text, std::int64_t now_ms);

}  // namespace tenure::http
