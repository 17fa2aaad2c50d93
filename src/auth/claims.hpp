#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.hpp"

namespace tenure::auth {

/// What a token must say to be one for this server.
struct ClaimRules {
  std::string issuer{};    ///< `iss`, to the letter
  std::string audience{};  ///< `aud`, or one of them
  /// Where the tenant stands; the first claim that is there counts.
  std::vector<std::string> tenant_claims{"tid", "org_id"};
  std::int64_t leeway_ms = 30'000;  ///< how far the issuer's clock may be off
};

struct Claims {
  http::Principal principal{};
  std::int64_t expires_ms = 0;  ///< by the wall clock, the leeway included
};

/// Reads the payload of a token whose signature is verified, at `now_ms` of the wall clock. Refused
/// by TokenError: another issuer or audience, no `exp` or one that is past, `nbf` in the future, no
/// tenant, no `sub`, a claim of the wrong type, a name that stands twice.
///
/// The tenant is never empty: that one is Tenure's own.
Claims ReadClaims(std::string_view payload, const ClaimRules& rules, std::int64_t now_ms);

}  // namespace tenure::auth
