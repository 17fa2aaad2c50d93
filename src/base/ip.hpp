#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tenure::base {

/// An address of the Internet Protocol. An IPv4 address that is written as IPv6 ("::ffff:10.0.0.1",
/// which is how a socket that serves both sees IPv4) is that IPv4 address: one host, one value.
class IpAddress {
 public:
  static constexpr int kV4Bits = 32;
  static constexpr int kV6Bits = 128;

  IpAddress() = default;  ///< 0.0.0.0
  static IpAddress V4(const std::array<std::uint8_t, 4>& bytes);
  static IpAddress V6(const std::array<std::uint8_t, 16>& bytes);

  /// "192.0.2.1", "2001:db8::1": strict, four decimal numbers or RFC 4291; no zone, no brackets.
  static std::optional<IpAddress> Parse(std::string_view text);
  /// One spelling per address (RFC 5952).
  std::string ToString() const;

  int bits() const { return v4_ ? kV4Bits : kV6Bits; }
  /// The first `prefix_bits` of it, the rest 0. REQUIRES: 0 <= prefix_bits <= bits().
  IpAddress Prefix(int prefix_bits) const;

  friend bool operator==(const IpAddress&, const IpAddress&) = default;

 private:
  bool v4_ = true;
  std::array<std::uint8_t, 16> bytes_{};  // of IPv4 the first four
};

/// All addresses that begin with the same bits: "10.0.0.0/8", or one address. IPv4 and IPv6 are two
/// worlds: "::/0" has no IPv4 address in it.
class IpBlock {
 public:
  /// "10.0.0.0/8", "2001:db8::/32", "192.0.2.1". Bits behind the prefix must be 0: "10.1.2.3/8" is
  /// one thing to one reader and another to the next.
  static std::optional<IpBlock> Parse(std::string_view text);
  /// As Parse reads it; a block of one address without its prefix.
  std::string ToString() const;

  bool Contains(const IpAddress& address) const;

  friend bool operator==(const IpBlock&, const IpBlock&) = default;

 private:
  IpBlock(const IpAddress& first, int prefix_bits) : first_(first), prefix_bits_(prefix_bits) {}

  IpAddress first_;
  int prefix_bits_;
};

}  // namespace tenure::base
