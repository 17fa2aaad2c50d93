#include "push/target.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>

#include <fmt/format.h>

namespace tenure::push {
namespace {

struct Range {
  std::string_view first;
  int prefix_bits;
  std::string_view what;
};

// IANA's registries of special-purpose addresses. Of IPv6 only 2000::/3 is given out at all.
constexpr Range kV4Refused[] = {
    {"0.0.0.0", 8, "this host"},
    {"10.0.0.0", 8, "a private network"},
    {"100.64.0.0", 10, "a shared network (CGNAT)"},
    {"127.0.0.0", 8, "loopback"},
    {"169.254.0.0", 16, "link-local"},
    {"172.16.0.0", 12, "a private network"},
    {"192.0.0.0", 24, "reserved"},
    {"192.0.2.0", 24, "for documentation"},
    {"192.31.196.0", 24, "reserved"},
    {"192.52.193.0", 24, "reserved"},
    {"192.88.99.0", 24, "a relay of 6to4"},
    {"192.168.0.0", 16, "a private network"},
    {"192.175.48.0", 24, "reserved"},
    {"198.18.0.0", 15, "for benchmarks"},
    {"198.51.100.0", 24, "for documentation"},
    {"203.0.113.0", 24, "for documentation"},
    {"224.0.0.0", 4, "multicast"},
    {"240.0.0.0", 4, "reserved"},
};
constexpr Range kV6Refused[] = {
    {"::", 128, "this host"},
    {"::1", 128, "loopback"},
    {"::ffff:0:0", 96, "an IPv4 address as IPv6"},
    {"64:ff9b:1::", 48, "a private network (NAT64)"},
    {"fc00::", 7, "a private network (ULA)"},
    {"fe80::", 10, "link-local"},
    {"fec0::", 10, "a private network (site-local)"},
    {"ff00::", 8, "multicast"},
    {"2001::", 23, "reserved (Teredo, benchmarks, ORCHID)"},
    {"2001:db8::", 32, "for documentation"},
    {"3fff::", 20, "for documentation"},
};
constexpr std::string_view kNat64 = "64:ff9b::";
constexpr int kNat64Bits = 96;
constexpr std::string_view k6To4 = "2002::";
constexpr int k6To4Bits = 16;
constexpr std::string_view kGivenOut = "2000::";
constexpr int kGivenOutBits = 3;

bool IsIn(const HostAddress& address, std::string_view first, int prefix_bits) {
  const auto start = HostAddress::Parse(std::string(first));
  if (!start || start->is_v4 != address.is_v4) return false;
  for (int bit = 0; bit < prefix_bits; bit += 8) {
    const int bits = std::min(prefix_bits - bit, 8);
    const auto mask = static_cast<std::uint8_t>(0xff << (8 - bits));
    const auto at = static_cast<std::size_t>(bit / 8);
    if ((address.bytes[at] & mask) != (start->bytes[at] & mask)) return false;
  }
  return true;
}

/// The four bytes of an IPv6 address from `at` on.
HostAddress Hidden(const HostAddress& address, std::size_t at) {
  HostAddress hidden;
  std::copy_n(address.bytes.begin() + static_cast<std::ptrdiff_t>(at), 4, hidden.bytes.begin());
  return hidden;
}

std::optional<std::uint16_t> ParsePort(std::string_view text) {
  std::uint16_t port = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, port);
  if (error != std::errc{} || stopped != end || port == 0) return std::nullopt;
  return port;
}

bool Fits(std::string_view pattern, std::string_view host) {
  if (pattern == "*") return true;
  if (pattern.starts_with("*."))
    return host.size() > pattern.size() - 1 && host.ends_with(pattern.substr(1));
  return pattern == host;
}

}  // namespace

std::optional<HostAddress> HostAddress::Parse(const std::string& text) {
  HostAddress address;
  if (inet_pton(AF_INET, text.c_str(), address.bytes.data()) == 1) return address;
  address.is_v4 = false;
  if (inet_pton(AF_INET6, text.c_str(), address.bytes.data()) == 1) return address;
  return std::nullopt;
}

std::string HostAddress::ToString() const {
  char text[INET6_ADDRSTRLEN] = {};
  inet_ntop(is_v4 ? AF_INET : AF_INET6, bytes.data(), text, sizeof text);
  return text;
}

std::optional<std::string_view> AddressProblem(const HostAddress& address) {
  if (address.is_v4) {
    for (const Range& range : kV4Refused)
      if (IsIn(address, range.first, range.prefix_bits)) return range.what;
    return std::nullopt;
  }
  for (const Range& range : kV6Refused)
    if (IsIn(address, range.first, range.prefix_bits)) return range.what;
  if (IsIn(address, kNat64, kNat64Bits)) return AddressProblem(Hidden(address, 12));
  if (IsIn(address, k6To4, k6To4Bits)) return AddressProblem(Hidden(address, 2));
  if (!IsIn(address, kGivenOut, kGivenOutBits)) return "reserved";
  return std::nullopt;
}

std::variant<Target, std::string> ParseTarget(std::string_view url) {
  using namespace std::string_literals;
  using base::IsHostName;
  using base::LooksLikeNumber;
  constexpr std::string_view kScheme = "https://";
  if (url.size() > kMaxUrlBytes) return fmt::format("is longer than {} bytes", kMaxUrlBytes);
  if (!url.starts_with(kScheme)) return "must begin with https://"s;
  const auto is_plain = [](char c) { return c > ' ' && c < '\x7f' && c != '#' && c != '\\'; };
  if (!std::ranges::all_of(url, is_plain))
    return "has a space, a '#', a '\\' or another character that must be encoded"s;
  url.remove_prefix(kScheme.size());
  const std::string_view authority = url.substr(0, url.find_first_of("/?"));
  if (authority.find('@') != std::string_view::npos) return "must not have a user or a password"s;
  Target target;
  std::string_view rest;
  if (authority.starts_with('[')) {
    const std::size_t bracket = authority.find(']');
    if (bracket == std::string_view::npos) return "has no valid host"s;
    target.host = base::LowerAscii(authority.substr(1, bracket - 1));
    target.address = HostAddress::Parse(target.host);
    if (!target.address || target.address->is_v4) return "has no valid IPv6 address as its host"s;
    rest = authority.substr(bracket + 1);
  } else {
    const std::size_t colon = std::min(authority.find(':'), authority.size());
    target.host = base::LowerAscii(authority.substr(0, colon));
    rest = authority.substr(colon);
    if (!IsHostName(target.host)) return "has no valid host"s;
    if (LooksLikeNumber(target.host)) {
      target.address = HostAddress::Parse(target.host);
      if (!target.address || !target.address->is_v4)
        return "has an address in an odd spelling as its host; write it as four decimal numbers"s;
    }
  }
  if (rest.empty()) return target;
  const auto port = rest.front() == ':' ? ParsePort(rest.substr(1)) : std::nullopt;
  if (!port) return "has no valid port"s;
  target.port = *port;
  return target;
}

Allowance AllowanceOf(const std::vector<AllowedHost>& allowed, std::string_view host) {
  Allowance allowance = Allowance::kRefused;
  const auto address = HostAddress::Parse(std::string(host));
  for (const AllowedHost& entry : allowed) {
    // An address has many spellings in IPv6.
    const bool same = address && HostAddress::Parse(entry.pattern) == address;
    if (!same && !Fits(entry.pattern, host)) continue;
    if (entry.is_private) return Allowance::kAnywhere;
    allowance = Allowance::kPublic;
  }
  return allowance;
}

std::optional<std::string> TargetProblem(const std::vector<AllowedHost>& allowed,
                                         std::string_view url) {
  const auto parsed = ParseTarget(url);
  if (const auto* problem = std::get_if<std::string>(&parsed)) return *problem;
  const Target& target = std::get<Target>(parsed);
  const Allowance allowance = AllowanceOf(allowed, target.host);
  if (allowance == Allowance::kRefused) return "names a host that push.allow does not name";
  if (!target.address) return std::nullopt;
  return AddressesProblem({*target.address}, {}, allowance);
}

std::optional<std::string> AddressesProblem(const std::vector<HostAddress>& found,
                                            const std::vector<HostAddress>& own,
                                            Allowance allowance) {
  if (allowance == Allowance::kRefused) return "push.allow does not name the host";
  if (found.empty()) return "the host has no address";
  if (allowance == Allowance::kAnywhere) return std::nullopt;
  for (const HostAddress& address : found) {
    if (const auto problem = AddressProblem(address))
      return fmt::format("its host is an address that is not public: {}", *problem);
    if (std::ranges::find(own, address) != own.end())
      return "its host is an address that is not public: this host";
  }
  return std::nullopt;
}

}  // namespace tenure::push
