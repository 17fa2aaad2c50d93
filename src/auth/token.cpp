#include "auth/token.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/base64.hpp"
#include "base/tenant.hpp"
#include "base/utf8.hpp"
#include "http/json_value.hpp"

namespace tenure::auth {
namespace {

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

using http::JsonValue;

constexpr std::size_t kMaxNameBytes = base::kMaxTenantBytes;  // of a tenant, of a person
constexpr double kMaxSeconds = 253'402'300'800;               // the year 10000

/// A time in seconds since 1970, as milliseconds; empty when it is not there.
std::optional<std::int64_t> TimeMs(const JsonValue& claims, std::string_view name) {
  const JsonValue* const value = claims.Find(name);
  if (!value) return std::nullopt;
  const auto seconds = value->Number();
  if (!seconds || *seconds < 0 || *seconds > kMaxSeconds)
    throw TokenError(fmt::format("Its '{}' is not a time.", name));
  return static_cast<std::int64_t>(*seconds * 1'000);
}

/// A claim that is one text or an array of texts.
std::vector<std::string_view> Texts(const JsonValue& claim, std::string_view name) {
  if (const auto text = claim.Text()) return {*text};
  const auto* const elements = claim.Elements();
  if (!elements) throw TokenError(fmt::format("Its '{}' is neither a text nor several.", name));
  std::vector<std::string_view> texts;
  for (const JsonValue& element : *elements) {
    const auto text = element.Text();
    if (!text) throw TokenError(fmt::format("Its '{}' has something that is no text.", name));
    texts.push_back(*text);
  }
  return texts;
}

std::int64_t CheckTimes(const JsonValue& claims, std::int64_t leeway_ms, std::int64_t now_ms) {
  const auto expires_ms = TimeMs(claims, "exp");
  if (!expires_ms) throw TokenError("It has no 'exp': a token must end some time.");
  if (now_ms >= *expires_ms + leeway_ms) throw TokenError("It has expired.");
  const auto begins_ms = TimeMs(claims, "nbf");
  if (begins_ms && now_ms + leeway_ms < *begins_ms) throw NotYetValid("It is not valid yet.");
  return *expires_ms + leeway_ms;
}

void CheckParties(const JsonValue& claims, const ClaimRules& rules) {
  if (claims.TextOf("iss") != std::string_view(rules.issuer))
    throw TokenError("It is from another issuer ('iss').");
  const JsonValue* const audience = claims.Find("aud");
  if (!audience) throw TokenError("It does not say whom it is for ('aud').");
  const auto named = Texts(*audience, "aud");
  if (std::find(named.begin(), named.end(), rules.audience) == named.end())
    throw TokenError("It is for another audience ('aud').");
}

std::string NameOf(const JsonValue& claims, std::string_view claim) {
  const auto text = claims.TextOf(claim);
  if (!text || text->empty() || text->size() > kMaxNameBytes)
    throw TokenError(fmt::format("Its '{}' is not a text of 1 to {} bytes.", claim, kMaxNameBytes));
  if (base::HasControls(*text))
    throw TokenError(fmt::format("Its '{}' has a control character.", claim));
  return std::string(*text);
}

/// One spelling for one tenant; the nil UUID is nobody's.
std::string TenantNamed(const JsonValue& claims, std::string_view claim) {
  auto tenant = base::CanonicalTenant(NameOf(claims, claim));
  if (!tenant) throw TokenError(fmt::format("Its '{}' is the nil UUID, which is nobody's.", claim));
  return *std::move(tenant);
}

std::string TenantOf(const JsonValue& claims, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (claims.Find(name)) return TenantNamed(claims, name);
  throw TokenError(fmt::format("It names no tenant ('{}').", fmt::join(names, "' or '")));
}

std::vector<std::string> ScopesOf(const JsonValue& claims) {
  const std::string_view name = claims.Find("scope") ? "scope" : "scp";
  const JsonValue* const claim = claims.Find(name);
  std::vector<std::string> scopes;
  if (!claim) return scopes;
  for (std::string_view text : Texts(*claim, name)) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find(' '), text.size());
      if (end > 0) scopes.emplace_back(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }
  return scopes;
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

SignatureCheck Verify(const Jws& token, const KeySet& keys) {
  const auto candidates = keys.Candidates(token.algorithm, token.kid);
  if (candidates.empty()) return SignatureCheck::kNoKey;
  if (candidates.size() > 1) return SignatureCheck::kAmbiguous;
  const bool good = candidates.front()->Verifies(token.signed_part, token.signature);
  return good ? SignatureCheck::kGood : SignatureCheck::kBad;
}

Claims ReadClaims(std::string_view payload, const ClaimRules& rules, std::int64_t now_ms) {
  const auto json = JsonValue::Parse(payload);
  if (!json || !json->IsObject())
    throw TokenError("Its claims are not a JSON object in which each name stands once.");
  CheckParties(*json, rules);
  Claims claims;
  claims.expires_ms = CheckTimes(*json, rules.leeway_ms, now_ms);
  claims.principal.tenant = TenantOf(*json, rules.tenant_claims);
  claims.principal.person = NameOf(*json, "sub");
  claims.principal.scopes = ScopesOf(*json);
  return claims;
}

}  // namespace tenure::auth
