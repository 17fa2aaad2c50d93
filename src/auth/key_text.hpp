#pragma once

#include <string_view>
#include <vector>

#include "auth/key.hpp"

namespace tenure::auth {

inline constexpr std::size_t kMaxKeys = 64;  ///< of one file or one address
inline constexpr std::size_t kMaxKeyTextBytes = 256 * 1024;

/// The keys of a file that an operator wrote: public keys in PEM ("BEGIN PUBLIC KEY"), one JWK, or
/// a JWKS. Everything in it must be a key that is taken, or base::UserError says what is not: a key
/// that is passed over in silence is found out about at night. Private keys are refused, since
/// nobody who only verifies should hold one; a JWK of type `oct` is a secret and is taken.
std::vector<Key> ParseKeyFile(std::string_view text);

/// The keys of a set that an issuer publishes. Of keys for other uses, types and algorithms the
/// issuer may have reasons to publish some, so they are passed over; so is `oct`: what everybody
/// can read is no secret. Throws base::UserError when the text is no set, is too large, or has no
/// key that can be used.
std::vector<Key> ParsePublishedKeys(std::string_view text);

}  // namespace tenure::auth
