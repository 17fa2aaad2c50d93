#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tenure::webhooks::rules {

/// Longer than any key; a longer text is shortened to its beginning and a hash.
inline constexpr std::size_t kMaxKeyBytes = 200;

/// Percent-encodes all but `A-Za-z0-9._~-`: what comes out has no character that separates the
/// parts of a key, and two texts never become one.
std::string EncodePart(std::string_view text);

/// `text` as a key: itself, or its first 150 bytes, `~` and 32 hex digits of its SHA-256 when it is
/// longer than kMaxKeyBytes. A short text that looks like a shortened one is shortened too, so no
/// two texts have the same key unless their hashes are the same.
std::string KeyOf(std::string text);

}  // namespace tenure::webhooks::rules
