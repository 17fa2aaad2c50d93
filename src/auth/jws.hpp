#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "auth/key.hpp"

namespace tenure::auth {

/// Why a token is not taken: a sentence that its sender may read.
class TokenError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
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

/// Whether one of the keys signed it. At most kMaxTried are tried: without a key id a token could
/// otherwise make the server do as many verifications as it has keys.
inline constexpr std::size_t kMaxTried = 4;
enum class Verdict {
  kGood,
  kNoKey,  ///< no key of that name and algorithm is known
  kBad,
};
Verdict Verify(const Jws& token, const KeySet& keys);

}  // namespace tenure::auth
