#pragma once

#include <cstddef>
#include <string_view>

namespace tenure::base {

/// Deeper than anything that gets in (docs/reference/settings.md), and shallow enough for readers.
inline constexpr std::size_t kMaxStoredJsonDepth = 64;

/// Whether `text` is one well-formed JSON value (RFC 8259) in UTF-8, and nothing else: of any size,
/// with numbers of any size, nested at most `max_depth` levels. For texts whose values are not
/// needed: it copies nothing, and allocates nothing for the first 64 levels.
bool IsJson(std::string_view text, std::size_t max_depth = kMaxStoredJsonDepth);

/// A stored text that must be a JSON object, for an answer whose readers expect one: itself, or an
/// empty object where it is none.
std::string_view ObjectOrEmpty(std::string_view text);

}  // namespace tenure::base
