#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "auth/key.hpp"
#include "http/message.hpp"

namespace tenure::auth {

/// Why a token is not taken: a sentence that its sender may read.
class TokenError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// It will be taken later, as it is.
class NotYetValid : public TokenError {
 public:
  using TokenError::TokenError;
};

inline constexpr std::size_t kMaxTokenBytes = 8 * 1024;

/// A token (JWS in its compact form, RFC 7515) taken apart. Nothing of it is to be believed until
/// its signature is verified.
struct Jws {
  std::string_view signed_part;  ///< of the token's own text
  std::string header;            ///< JSON
  Algorithm algorithm = Algorithm::kHs256;
  std::optional<std::string> kid;
  std::string payload;
  std::string signature;
};

/// Takes three parts in strict base64url, with one way to write each token: what differs in a
/// single character is another token, or none. The header is a JSON object in which no name stands
/// twice, with one of the four algorithms; a header with `crit` asks for something that we do not
/// do, so it is refused. Keys that a token brings along or points at (`jwk`, `jku`, `x5u`, `x5c`)
/// are not looked at. Throws TokenError.
Jws ParseJws(std::string_view token);

/// Whether its key signed it. One key is tried: a token that does not tell which of several is its
/// own could otherwise make the server do as many verifications as it has keys.
enum class SignatureCheck {
  kGood,
  kNoKey,      ///< no key of that name and algorithm is known
  kAmbiguous,  ///< several may be: it has to name its key (`kid`)
  kBad,
};
SignatureCheck Verify(const Jws& token, const KeySet& keys);

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
