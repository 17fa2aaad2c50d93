#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tenure::http {

/// Compares as HTTP does: A-Z and a-z are alike, every other byte is itself. No locale.
bool EqualsNoCase(std::string_view a, std::string_view b);
bool StartsWithNoCase(std::string_view text, std::string_view prefix);

/// Without spaces and tabs at both ends.
std::string_view Trim(std::string_view text);

enum class PlusSign {
  kLiteral,  ///< in a path
  kSpace,    ///< in a query
};

/// Undoes %XX. Empty when an escape is not two hexadecimal digits; the bytes that come out may be
/// anything.
std::optional<std::string> PercentDecode(std::string_view text, PlusSign plus);

/// What a client sent, fit to be shown in an answer: as base::Printable, at most `max_bytes` of it
/// (then "...").
std::string Printable(std::string_view text, std::size_t max_bytes);

}  // namespace tenure::http
