#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/allowed_host.hpp"

/// Where tenants may have us send something: rules against reaching what only we can reach.
namespace tenure::push {

using base::AllowedHost;

inline constexpr std::size_t kMaxUrlBytes = 2'048;

/// An address as a socket has it: of IPv4 the first four bytes.
struct HostAddress {
  bool is_v4 = true;
  std::array<std::uint8_t, 16> bytes{};

  /// Four decimal numbers, or RFC 4291 without a zone.
  static std::optional<HostAddress> Parse(const std::string& text);
  std::string ToString() const;

  friend bool operator==(const HostAddress&, const HostAddress&) = default;
};

/// Why nothing may be sent there; nothing: it is an address of the public internet. What IPv6
/// addresses hide (NAT64, 6to4) is judged as what it hides.
std::optional<std::string_view> AddressProblem(const HostAddress& address);

/// What a url names.
struct Target {
  std::string host{};  ///< in lower case; IPv6 without brackets
  std::uint16_t port = 443;
  std::optional<HostAddress> address{};  ///< of a host that is written as one
};
/// The target, or what is wrong: a phrase that does not quote the url.
std::variant<Target, std::string> ParseTarget(std::string_view url);

/// What a host may be sent to.
enum class Allowance { kRefused, kPublic, kAnywhere };
Allowance AllowanceOf(const std::vector<AllowedHost>& allowed, std::string_view host);

/// Why a subscription must not have this url; nothing: it may. A name is judged again whenever it is
/// looked up.
std::optional<std::string> TargetProblem(const std::vector<AllowedHost>& allowed,
                                         std::string_view url);

/// What of a look-up may be connected to: all of it, or nothing, and why. One address that is not
/// allowed spoils the others: who can put it there can also have it come first.
std::optional<std::string> AddressesProblem(const std::vector<HostAddress>& found,
                                            const std::vector<HostAddress>& own,
                                            Allowance allowance);

}  // namespace tenure::push
