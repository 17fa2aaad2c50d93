// auth: a bearer token and the text of the keys that it is verified with. The input's first line is
// the token, the rest is the keys; and all of it is also read as the claims of a token whose
// signature was good, since no fuzzer signs.
//
// What must hold:
//  1. A token has one spelling: what is taken apart and put together again is the same text.
//  2. Nothing verifies that was not signed: with a secret that the fuzzer cannot know, no token is
//     ever good.
//  3. Only keys of the token's own algorithm are tried on it, and published keys are never secrets:
//     no public key can be used as one.
//  4. Claims that are accepted name a tenant and a person, have not ended, and have no scope that a
//     route could not have.
//  5. Why something is refused can be printed.

#include "auth/token.hpp"

#include <algorithm>

#include "auth/key_text.hpp"
#include "base/base64.hpp"
#include "base/utf8.hpp"
#include "base/uuid.hpp"
#include "target.hpp"

namespace tenure::fuzz {
namespace {

using auth::KeySet;
using auth::SignatureCheck;
using base::EncodeBase64Url;

constexpr std::int64_t kNowMs = 1'700'000'000'000;

template <class Error>
void CheckWords(const Error& error) {
  const std::string_view text = error.what();
  TENURE_CHECK(!text.empty() && base::IsStorableText(text), "a refusal cannot be printed");
}

const KeySet& UnknownSecret() {
  static const KeySet keys{.keys = {auth::Key::OfSecret({}, base::RandomHex(32))}, .generation = 1};
  return keys;
}

template <class Read>
KeySet ReadKeys(Read read, std::string_view text) {
  try {
    KeySet keys{.keys = read(text), .generation = 1};
    TENURE_CHECK(!keys.keys.empty() && keys.keys.size() <= auth::kMaxKeys,
                 "no key, or too many, are let through");
    return keys;
  } catch (const base::UserError& error) {
    CheckWords(error);
    return {};
  }
}

void CheckToken(std::string_view token, const KeySet& published, const KeySet& of_file) {
  try {
    const auth::Jws jws = auth::ParseJws(token);
    TENURE_CHECK(EncodeBase64Url(jws.header) + "." + EncodeBase64Url(jws.payload) + "." +
                         EncodeBase64Url(jws.signature) ==
                     token,
                 "a token has a second spelling");
    TENURE_CHECK(auth::Verify(jws, UnknownSecret()) != auth::SignatureCheck::kGood,
                 "a token is good that nobody signed");
    for (const KeySet* keys : {&published, &of_file}) {
      auth::Verify(jws, *keys);
      for (const auth::Key* key : keys->Candidates(jws.algorithm, jws.kid))
        TENURE_CHECK(key->algorithm() == jws.algorithm, "a key is used for another algorithm");
    }
  } catch (const auth::TokenError& error) {
    CheckWords(error);
  }
}

void CheckClaims(std::string_view payload) {
  const auth::ClaimRules rules{.issuer = "i", .audience = "a"};
  try {
    const auth::Claims claims = auth::ReadClaims(payload, rules, kNowMs);
    const http::Principal& who = claims.principal;
    TENURE_CHECK(who.tenant && !who.tenant->empty() && !who.person.empty(), "nobody is let in");
    TENURE_CHECK(base::IsStorableText(*who.tenant) && base::IsStorableText(who.person),
                 "a name that cannot be stored is let in");
    TENURE_CHECK(claims.expires_ms > kNowMs, "a token that has ended is let in");
    TENURE_CHECK(std::ranges::all_of(who.scopes,
                                     [](const std::string& scope) {
                                       return !scope.empty() &&
                                              scope.find(' ') == std::string::npos;
                                     }),
                 "a scope is none");
  } catch (const auth::TokenError& error) {
    CheckWords(error);
  }
}

}  // namespace
}  // namespace tenure::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tenure;
  const std::string_view input = fuzz::AsText(data, size);
  const std::size_t line = std::min(input.find('\n'), input.size());
  const std::string_view key_text = input.substr(std::min(line + 1, input.size()));
  const auth::KeySet published = fuzz::ReadKeys(auth::ParsePublishedKeys, key_text);
  for (const auth::Key& key : published.keys)
    TENURE_CHECK(key.algorithm() != auth::Algorithm::kHs256, "a published key is a secret");
  const auth::KeySet of_file = fuzz::ReadKeys(auth::ParseKeyFile, key_text);
  fuzz::CheckToken(input.substr(0, line), published, of_file);
  fuzz::CheckClaims(input);
  return 0;
}
