#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tenure::base {

/// Decimals with six places, kept as whole millionths: what usage and its factors are counted in.
/// No floating point on the way.

/// "0.000023", "12.500000"; always six places.
std::string MillionthsText(std::int64_t millionths);
void AppendMillionths(std::string& out, std::int64_t millionths);

/// Digits, then perhaps a point and up to six digits: "2", "1.5", "0.000001". No sign, no exponent,
/// no spaces. Empty for anything else, and beyond 10^12.
std::optional<std::int64_t> ParseMillionths(std::string_view text);

}  // namespace tenure::base
