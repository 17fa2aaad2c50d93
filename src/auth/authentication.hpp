#pragma once

#include "auth/authenticator.hpp"
#include "auth/key_keeper.hpp"
#include "auth/probe.hpp"
#include "base/clock.hpp"
#include "config/settings.hpp"
#include "http/server.hpp"
#include "telemetry/metrics.hpp"

namespace tenure::auth {

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
