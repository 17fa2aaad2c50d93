#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace tenure::base {

/// 128 bits, compared byte by byte: the order of the bytes is the order of the text, of
/// PostgreSQL's uuid and of SQLite's blobs, so "ascending" means the same everywhere.
struct Uuid {
  std::array<std::uint8_t, 16> bytes{};

  /// Accepts 8-4-4-4-12 hexadecimal digits in either case, any version; nothing else.
  static std::optional<Uuid> Parse(std::string_view text);

  /// A new version 7 id: `ms` since the epoch, then 74 random bits. Ids made for one instant have
  /// no order among themselves; ids of different instants sort by time. Thread-safe.
  static Uuid V7(std::int64_t ms);

  /// The instant of a version 7 id.
  std::int64_t TimestampMs() const;

  /// 36 characters, lower case.
  std::string ToString() const;
  void AppendTo(std::string& out) const;

  friend auto operator<=>(const Uuid&, const Uuid&) = default;
};

/// Fills `out` from the kernel's random source. Thread-safe; asks the kernel once per few hundred
/// bytes.
void RandomBytes(std::uint8_t* out, std::size_t size);

/// `size` random bytes as lower-case hexadecimal.
std::string RandomHex(std::size_t size);

}  // namespace tenure::base

template <>
struct std::hash<tenure::base::Uuid> {
  std::size_t operator()(const tenure::base::Uuid& id) const noexcept {
    std::uint64_t high = 0;
    std::uint64_t low = 0;
    std::memcpy(&high, id.bytes.data(), 8);
    std::memcpy(&low, id.bytes.data() + 8, 8);
    return static_cast<std::size_t>((high ^ (low * 0x9E3779B97F4A7C15ULL)) * 0xBF58476D1CE4E5B9ULL);
  }
};
