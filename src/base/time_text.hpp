#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tenure::base {

/// RFC 3339 in UTC with milliseconds, "2025-12-21T10:00:00.000Z". What is printed is what is
/// stored. REQUIRES: 0 <= ms < year 10000.
void AppendUtc(std::string& out, std::int64_t ms);
std::string UtcText(std::int64_t ms);

/// A duration in a configuration file or flag: "30s", "5m", "250ms", "1h30m", "30d", or ISO 8601
/// ("PT5M", "P30D", without years and months: their length is not fixed). Empty when it is none of
/// these or does not fit 100 years.
std::optional<std::int64_t> ParseDurationMs(std::string_view text);

/// The shortest spelling that `ParseDurationMs` reads back: "30d", "1h30m", "250ms", "0s".
std::string DurationText(std::int64_t ms);

}  // namespace tenure::base
