#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tenure::sink {

/// More than any record can have: with the largest factor, 10^9, a window of an hour stays far
/// below it.
inline constexpr std::int64_t kMaxRecordMicros = 100'000'000'000'000;

/// Usage in millionths, from the one spelling that it has on the way: "12.345678", no superfluous
/// zero in front, exactly six places. Empty when it is anything else.
std::optional<std::int64_t> ParseMicros(std::string_view text);

}  // namespace tenure::sink
