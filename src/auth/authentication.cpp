#include "auth/authentication.hpp"

namespace tenure::auth {
namespace {

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

Authentication::Authentication(const config::AuthSettings& settings, const base::Clock& clock,
                               telemetry::Registry& metrics)
    : probe_(metrics),
      keys_(LocalOf(settings), settings.jwks_url, clock, probe_),
      authenticator_(RulesOf(settings), keys_, clock, probe_) {}

void Authentication::UseKeys(const config::AuthSettings& settings) { keys_.Use(LocalOf(settings)); }

}  // namespace tenure::auth
