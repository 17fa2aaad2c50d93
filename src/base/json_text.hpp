#pragma once

#include <string_view>

namespace tenure::base {

/// Deeper than anything that gets in (docs/reference/settings.md), and shallow enough for readers.
inline constexpr int kMaxStoredJsonDepth = 64;

/// Whether `text` is one well-formed JSON value (RFC 8259) in UTF-8, and nothing else: of any size,
/// with numbers of any size, nested at most kMaxStoredJsonDepth levels. For texts that come from a
/// store, whose values are not needed: it neither copies nor allocates.
bool IsJson(std::string_view text);

/// A stored text that must be a JSON object, for an answer whose readers expect one: itself, or an
/// empty object where it is none.
std::string_view ObjectOrEmpty(std::string_view text);

}  // namespace tenure::base
