#include "auth/jws.hpp"

#include <algorithm>
#include <array>

#include "base/base64.hpp"
#include "http/json_value.hpp"

namespace tenure::auth {
namespace {

constexpr std::size_t kMaxKidBytes = 200;

[[noreturn]] void NoToken() { throw TokenError("It is not a signed token (JWS)."); }

std::array<std::string_view, 3> Split(std::string_view token) {
  const std::size_t first = token.find('.');
  const std::size_t last = token.rfind('.');
  if (first == std::string_view::npos || first == last || token.find('.', first + 1) != last)
    NoToken();
  return {token.substr(0, first), token.substr(first + 1, last - first - 1),
          token.substr(last + 1)};
}

std::string Decode(std::string_view part) {
  auto bytes = base::DecodeBase64Url(part);
  if (!bytes) NoToken();
  return *std::move(bytes);
}

void ReadHeader(Jws& jws) {
  const auto header = http::JsonValue::Parse(jws.header);
  if (!header || !header->IsObject()) NoToken();
  if (header->Find("crit"))
    throw TokenError("It asks for an extension (crit); this server has none.");
  const auto name = header->TextOf("alg");
  const auto algorithm = name ? ParseAlgorithm(*name) : std::nullopt;
  if (!algorithm) throw TokenError("Its algorithm is none of HS256, RS256, ES256 and EdDSA.");
  jws.algorithm = *algorithm;
  const http::JsonValue* const kid = header->Find("kid");
  if (!kid) return;
  const auto text = kid->Text();
  if (!text || text->size() > kMaxKidBytes) NoToken();
  jws.kid = std::string(*text);
}

}  // namespace

Jws ParseJws(std::string_view token) {
  if (token.size() > kMaxTokenBytes) throw TokenError("It is longer than 8 KiB.");
  const auto [header, payload, signature] = Split(token);
  Jws jws;
  jws.signed_part = token.substr(0, token.size() - signature.size() - 1);
  jws.header = Decode(header);
  jws.payload = Decode(payload);
  jws.signature = Decode(signature);
  if (jws.signature.empty()) throw TokenError("It has no signature.");
  ReadHeader(jws);
  return jws;
}

Verdict Verify(const Jws& token, const KeySet& keys) {
  const auto candidates = keys.Candidates(token.algorithm, token.kid);
  if (candidates.empty() || candidates.size() > kMaxTried) return Verdict::kNoKey;
  const bool good = std::any_of(candidates.begin(), candidates.end(), [&](const Key* key) {
    return key->Verifies(token.signed_part, token.signature);
  });
  return good ? Verdict::kGood : Verdict::kBad;
}

}  // namespace tenure::auth
