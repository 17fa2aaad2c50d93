#include "base/ip.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/error.hpp"

namespace tenure::base {
namespace {

/// ::ffff:0:0/96.
constexpr std::array<std::uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr int kMappedBits = 96;

bool IsMapped(const std::array<std::uint8_t, 16>& bytes) {
  return std::equal(kMapped.begin(), kMapped.end(), bytes.begin());
}

/// A decimal number without signs, spaces and zeros in front.
std::optional<int> ParseBits(std::string_view text) {
  int bits = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bits);
  const bool all = error == std::errc{} && end == text.data() + text.size();
  if (!all || text.front() == '-' || (text.size() > 1 && text.front() == '0')) return std::nullopt;
  return bits;
}

}  // namespace

IpAddress IpAddress::V4(const std::array<std::uint8_t, 4>& bytes) {
  IpAddress address;
  std::copy(bytes.begin(), bytes.end(), address.bytes_.begin());
  return address;
}

IpAddress IpAddress::V6(const std::array<std::uint8_t, 16>& bytes) {
  if (IsMapped(bytes)) return V4({bytes[12], bytes[13], bytes[14], bytes[15]});
  IpAddress address;
  address.v4_ = false;
  address.bytes_ = bytes;
  return address;
}

std::optional<IpAddress> IpAddress::Parse(std::string_view text) {
  if (text.size() >= INET6_ADDRSTRLEN) return std::nullopt;
  const std::string ended(text);
  if (ended.find('\0') != std::string::npos) return std::nullopt;
  if (std::array<std::uint8_t, 4> v4{}; inet_pton(AF_INET, ended.c_str(), v4.data()) == 1)
    return V4(v4);
  if (std::array<std::uint8_t, 16> v6{}; inet_pton(AF_INET6, ended.c_str(), v6.data()) == 1)
    return V6(v6);
  return std::nullopt;
}

std::string IpAddress::ToString() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(v4_ ? AF_INET : AF_INET6, bytes_.data(), text.data(), text.size());
  return text.data();
}

IpAddress IpAddress::Prefix(int prefix_bits) const {
  TENURE_CHECK(prefix_bits >= 0 && prefix_bits <= bits(), "a prefix is a part of its address");
  IpAddress prefix = *this;
  for (int bit = prefix_bits; bit < bits(); ++bit)
    prefix.bytes_[static_cast<std::size_t>(bit / 8)] &=
        static_cast<std::uint8_t>(~(0x80 >> bit % 8));
  return prefix;
}

std::optional<IpBlock> IpBlock::Parse(std::string_view text) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  const auto first = IpAddress::Parse(text.substr(0, slash));
  if (!first) return std::nullopt;
  if (slash == text.size()) return IpBlock(*first, first->bits());
  auto bits = ParseBits(text.substr(slash + 1));
  // Of an IPv4 block that is written as IPv6, the prefix counts from the beginning of IPv6.
  const bool mapped =
      first->bits() == IpAddress::kV4Bits && text.find(':') != std::string_view::npos;
  if (bits && mapped) *bits -= kMappedBits;
  if (!bits || *bits < 0 || *bits > first->bits() || first->Prefix(*bits) != *first)
    return std::nullopt;
  return IpBlock(*first, *bits);
}

std::string IpBlock::ToString() const {
  if (prefix_bits_ == first_.bits()) return first_.ToString();
  return fmt::format("{}/{}", first_.ToString(), prefix_bits_);
}

bool IpBlock::Contains(const IpAddress& address) const {
  return address.bits() == first_.bits() && address.Prefix(prefix_bits_) == first_;
}

}  // namespace tenure::base
