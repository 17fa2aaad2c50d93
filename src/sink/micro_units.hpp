#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tenure::sink {

// Usage as a receiver reads and adds it: whole millionths inside, a decimal with six places
// outside, no floating point in between. Written apart from the server's own arithmetic on
// purpose: what checks it must not share its mistakes.

/// More than any record can have: with the largest factor, 10^9, a window of a day stays below it.
inline constexpr std::int64_t kMaxRecordMicros = 100'000'000'000'000;

/// "12.345678": no sign, no superfluous zero in front, exactly six places. Empty when it is
/// anything else or more than 18 digits.
std::optional<std::int64_t> ParseMicros(std::string_view text);

/// REQUIRES: micros >= 0.
std::string MicrosText(std::int64_t micros);

}  // namespace tenure::sink
