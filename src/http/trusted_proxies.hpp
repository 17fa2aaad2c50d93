#pragma once

#include <string_view>
#include <vector>

#include "base/ip.hpp"
#include "http/message.hpp"

namespace tenure::http {

/// The header by which proxies say whom they speak for.
enum class ForwardedBy {
  kXForwardedFor,  ///< X-Forwarded-For: 192.0.2.1, 10.0.0.7
  kForwarded,      ///< Forwarded: for=192.0.2.1;proto=https, for="[2001:db8::7]:4711" (RFC 7239)
};

/// Where a request came from, when proxies stand between the client and this server.
///
/// A proxy appends the address that it was asked from to what was there already, so only what
/// trusted hands wrote can be believed, and that stands on the right: the walk goes from the
/// socket's peer over the entries, from right to left, as long as the last address is of a trusted
/// proxy. The first that is not is the client; what stands left of it is the client's own claim.
///
/// Invariants:
///  (1) A peer that is not trusted is the client, whatever it says.
///  (2) What is no address (a name, "unknown", an identifier that hides one, nonsense) ends the
///      walk, and the last address before it counts: that of a proxy, which is never wrong.
///  (3) Only the header of `by` is looked at. A proxy writes one of the two and mostly passes the
///      other on as it came, so a server that believed both would believe the client.
///
/// Constant; any thread.
class TrustedProxies {
 public:
  TrustedProxies() = default;  ///< nobody is trusted
  TrustedProxies(std::vector<base::IpBlock> blocks, ForwardedBy by)
      : blocks_(std::move(blocks)), by_(by) {}

  bool Trusts(const base::IpAddress& address) const;

  /// REQUIRES: Trusts(peer).
  base::IpAddress ClientOf(const base::IpAddress& peer, const Request& request) const;

 private:
  /// Walks over the entries of one header's value; false: the walk is over.
  bool Walk(std::string_view value, base::IpAddress& client) const;

  std::vector<base::IpBlock> blocks_;
  ForwardedBy by_ = ForwardedBy::kXForwardedFor;
};

}  // namespace tenure::http
