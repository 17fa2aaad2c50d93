#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tenure::seats {

// Licence keys. The store has their hashes only; the key itself is in one answer, and in requests.

inline constexpr std::size_t kMinKeyBytes = 8;
inline constexpr std::size_t kMaxKeyBytes = 200;
inline constexpr std::size_t kMaxPrefixBytes = 20;

/// "ACME-2026-7KQ2-…": 100 random bits in symbols that people do not confuse.
std::string MakeKey(std::string_view prefix, std::int64_t wall_ms);
bool IsKeyPrefix(std::string_view text);
/// Whether it may be a key that was made elsewhere: 8 to 200 printable ASCII bytes.
bool IsKeyText(std::string_view text);

/// 32 bytes.
std::string HashOfKey(std::string_view key);
/// What is shown of it: its last four symbols.
std::string HintOfKey(std::string_view key);

}  // namespace tenure::seats
