#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tenure::base {

/// Where tenants may have something sent to: an entry of `push.allow`.
struct AllowedHost {
  std::string pattern{};    ///< "*", "*.example.com" or a host, in lower case
  bool is_private = false;  ///< this very host, and it may be one that only we can reach

  /// "hooks.example.com", "*.example.com", "*", "private 10.1.2.3"; nothing when it is none of these.
  static std::optional<AllowedHost> Parse(std::string_view text);
  std::string ToString() const;

  friend bool operator==(const AllowedHost&, const AllowedHost&) = default;
};

/// Labels with dots between, in lower case: no brackets, no port, no dot at the end.
bool IsHostName(std::string_view host);

/// Whether resolvers take a host for a number: its last label is one, in any notation (the rule that
/// browsers have for it). No name of the internet ends so.
bool LooksLikeNumber(std::string_view host);

std::string LowerAscii(std::string_view text);

}  // namespace tenure::base
