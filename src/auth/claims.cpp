#include "auth/claims.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "auth/jws.hpp"
#include "http/json_value.hpp"

namespace tenure::auth {
namespace {

using http::JsonValue;

constexpr std::size_t kMaxNameBytes = 200;       // of a tenant, of a person
constexpr double kMaxSeconds = 253'402'300'800;  // the year 10000

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
  if (begins_ms && now_ms + leeway_ms < *begins_ms) throw TokenError("It is not valid yet.");
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
  return std::string(*text);
}

std::string TenantOf(const JsonValue& claims, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (claims.Find(name)) return NameOf(claims, name);
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
