#pragma once

#include <string_view>

#include "auth/key_keeper.hpp"
#include "auth/probe.hpp"
#include "auth/refused_tokens.hpp"
#include "auth/token.hpp"
#include "auth/token_cache.hpp"
#include "base/clock.hpp"
#include "config/settings.hpp"
#include "http/message.hpp"
#include "http/server.hpp"
#include "telemetry/metrics.hpp"

namespace tenure::auth {

/// Who asks: reads the bearer token of a request (RFC 6750) and answers with tenant, person and
/// scopes, or throws ProblemError. Whether that person may do what is asked is the dispatcher's
/// question.
///
///   no token, or more than one    401 `unauthenticated`, WWW-Authenticate: Bearer
///   a token that is not taken     401 `invalid-token`, with error="invalid_token"
///   the issuer's keys are not known (yet, or any more), so nobody can tell
///                                 503 `keys-unavailable`, Retry-After
///
/// What is wrong with a token is told only to who could have it signed by the issuer: before the
/// signature is verified the answer says no more than that it is not.
///
/// Threads: any; it never blocks and does no I/O.
class Authenticator {
 public:
  /// `keys` and `probe` outlive it.
  Authenticator(ClaimRules rules, KeyKeeper& keys, const base::Clock& clock, Probe& probe)
      : rules_(std::move(rules)),
        keys_(keys),
        clock_(clock),
        probe_(probe),
        cache_(clock),
        refused_(clock) {}

  http::PrincipalPtr Authenticate(const http::Request& request);

 private:
  http::PrincipalPtr Verified(std::string_view token);
  Claims Verify(const Jws& token, const KeySet& keys);

  const ClaimRules rules_;
  KeyKeeper& keys_;
  const base::Clock& clock_;
  Probe& probe_;
  TokenCache cache_;
  RefusedTokens refused_;
};

/// Authentication as a server has it, put together from its settings.
///
/// Life: construct (throws base::UserError when a key cannot be used), Start, Stop; from one
/// thread. It outlives the server that it is the hook of.
class Authentication {
 public:
  /// REQUIRES: `settings.enabled()`.
  Authentication(const config::AuthSettings& settings, const base::Clock& clock,
                 telemetry::Registry& metrics);

  void Start() { keys_.Start(); }
  void Stop() { keys_.Stop(); }

  /// From now on the files and the secret of these settings.
  void UseKeys(const config::AuthSettings& settings);

  http::Authenticator hook() {
    return [this](const http::Request& request) { return authenticator_.Authenticate(request); };
  }

 private:
  Probe probe_;
  KeyKeeper keys_;
  Authenticator authenticator_;
};

}  // namespace tenure::auth
