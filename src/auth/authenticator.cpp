#include "auth/authenticator.hpp"

#include <fmt/format.h>

#include "auth/token.hpp"
#include "http/text.hpp"

namespace tenure::auth {
namespace {

constexpr std::string_view kScheme = "Bearer ";
constexpr int kRetryAfterSeconds = 5;

[[noreturn]] void AskForToken(std::string_view detail) {
  throw http::ProblemError({.status = 401,
                            .type = "unauthenticated",
                            .title = "A token is needed",
                            .detail = std::string(detail),
                            .headers = {{"WWW-Authenticate", R"(Bearer realm="tenure")"}}});
}

[[noreturn]] void RefuseToken(std::string_view why) {
  throw http::ProblemError(
      {.status = 401,
       .type = "invalid-token",
       .title = "The token is not valid here",
       .detail = fmt::format("The token is not valid here. {}", why),
       .headers = {{"WWW-Authenticate", R"(Bearer realm="tenure", error="invalid_token")"}}});
}

[[noreturn]] void CannotTell() {
  throw http::ProblemError({.status = 503,
                            .type = "keys-unavailable",
                            .title = "The issuer's keys are not known",
                            .detail = "The server cannot reach the issuer of tokens, so it cannot "
                                      "verify this one. Nothing happened.",
                            .retry_after_s = kRetryAfterSeconds});
}

/// The token of the one Authorization header; empty when there is none, or it is of another scheme.
std::string_view TokenOf(const http::Request& request) {
  std::string_view found;
  bool seen = false;
  for (const auto& [name, value] : request.headers) {
    if (!http::EqualsNoCase(name, "Authorization")) continue;
    if (seen) return {};
    seen = true;
    if (http::StartsWithNoCase(value, kScheme)) found = http::Trim(value.substr(kScheme.size()));
  }
  return found;
}

KeyKeeper::Local LocalOf(const config::AuthSettings& settings) {
  return {.files = settings.keys, .secret = settings.secret};
}

ClaimRules RulesOf(const config::AuthSettings& settings) {
  return {.issuer = settings.issuer,
          .audience = settings.audience,
          .tenant_claims = settings.claims.tenant,
          .leeway_ms = settings.leeway_ms};
}

}  // namespace

http::PrincipalPtr Authenticator::Authenticate(const http::Request& request) {
  const std::string_view token = TokenOf(request);
  if (token.empty()) {
    probe_.Missing();
    AskForToken("A token is needed: send one header Authorization: Bearer TOKEN.");
  }
  try {
    return Verified(token);
  } catch (const TokenError& error) {
    probe_.Refused();
    RefuseToken(error.what());
  }
}

/// The keys are taken once: their generation is that of the keys which the token is verified with,
/// so a change in between makes the cache's entry one that is not found.
http::PrincipalPtr Authenticator::Verified(std::string_view token) {
  if (token.size() > kMaxTokenBytes) throw TokenError("It is longer than 8 KiB.");
  const auto keys = keys_.keys();
  const Digest digest = Sha256(token);
  if (auto known = cache_.Find(digest, keys->generation)) {
    probe_.Remembered();
    return known;
  }
  if (const auto why = refused_.Find(digest, keys->generation)) throw TokenError(*why);
  const Jws jws = ParseJws(token);
  Claims claims;
  try {
    claims = Verify(jws, *keys);
  } catch (const NotYetValid&) {
    throw;
  } catch (const TokenError& error) {
    refused_.Insert(digest, keys->generation, error.what());
    throw;
  }
  probe_.Verified();
  claims.principal.expires_wall_ms = claims.expires_ms;
  http::PrincipalPtr principal = http::Known(std::move(claims.principal));
  cache_.Insert(digest, {.principal = principal,
                         .expires_wall_ms = claims.expires_ms,
                         .generation = keys->generation});
  return principal;
}

Claims Authenticator::Verify(const Jws& token, const KeySet& keys) {
  switch (auth::Verify(token, keys)) {
    case SignatureCheck::kGood:
      return ReadClaims(token.payload, rules_, clock_.WallMs());
    case SignatureCheck::kAmbiguous:
      throw TokenError(
          "It must say which key it was signed with ('kid'): this server has several of its "
          "algorithm.");
    case SignatureCheck::kNoKey:
      keys_.Miss();
      if (keys_.IsBlind()) CannotTell();
      break;
    case SignatureCheck::kBad:
      break;
  }
  throw TokenError("Its signature is of no key that this server knows.");
}

Authentication::Authentication(const config::AuthSettings& settings, const base::Clock& clock,
                               telemetry::Registry& metrics)
    : probe_(metrics),
      keys_(LocalOf(settings), settings.jwks_url, clock, probe_),
      authenticator_(RulesOf(settings), keys_, clock, probe_) {}

void Authentication::UseKeys(const config::AuthSettings& settings) { keys_.Use(LocalOf(settings)); }

}  // namespace tenure::auth
