#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tenure::base {

/// "2025-12-21T10:00:00.000Z", as the server prints times; milliseconds may be missing.
std::optional<std::int64_t> ParseUtcMs(std::string_view text);

/// Any time that RFC 3339 has: "2025-12-21t11:00:00.123456+01:00". What is below a millisecond is
/// cut off.
std::optional<std::int64_t> ParseRfc3339Ms(std::string_view text);

/// The Date header: "Sun, 21 Dec 2025 10:00:00 GMT".
std::optional<std::int64_t> ParseHttpDateMs(std::string_view text);

/// A time span for people: its two largest units, "29d 23h", "4m 10s", "0s".
std::string SpanText(std::int64_t ms);

}  // namespace tenure::base
