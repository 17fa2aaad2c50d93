#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tenure::base {

/// RFC 3339 in UTC with milliseconds, "2025-12-21T10:00:00.000Z". What is printed is what is
/// stored; what lies before the year 0 or behind 9999 is printed as its first or last instant.
void AppendUtc(std::string& out, std::int64_t ms);
std::string UtcText(std::int64_t ms);

/// A duration in a configuration file or flag: "30s", "5m", "250ms", "1h30m", "30d", or ISO 8601
/// ("PT5M", "P30D", without years and months: their length is not fixed). Empty when it is none of
/// these or does not fit 100 years.
std::optional<std::int64_t> ParseDurationMs(std::string_view text);

/// The shortest spelling that `ParseDurationMs` reads back: "30d", "1h30m", "250ms", "0s".
std::string DurationText(std::int64_t ms);

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
