#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/background.hpp"
#include "app/capabilities.hpp"
#include "app/me_route.hpp"
#include "app/ops_routes.hpp"
#include "app/settings_route.hpp"
#include "app/store_watch.hpp"
#include "app/trace_exporter.hpp"
#include "auth/authenticator.hpp"
#include "config/settings.hpp"
#include "db/idempotency.hpp"
#include "db/store.hpp"
#include "http/certificate.hpp"
#include "http/rate_limits.hpp"
#include "http/router.hpp"
#include "http/server.hpp"
#include "overview/overview.hpp"
#include "telemetry/metrics.hpp"
#include "telemetry/trace.hpp"
#include "wake/registry.hpp"

namespace tenure::app {

/// Which limit the settings give to the routes of a class (http::Route::rate_class). Every route is
/// in one, except the probes /livez and /readyz, which a limit must never make look dead.
///
/// Limits that count something else than requests of a person (a seat's heartbeats, a machine's
/// acquisitions) are the capability's own: an http::RateLimiter with a key that it chooses.
std::vector<http::RateClass> RateClassesOf(
    const config::RateLimitSettings& settings,
    const server::CapabilityList& capabilities = AllCapabilities());

/// What can be wrong with the way in, found before the store is touched: addresses, certificate,
/// keys. Throws base::UserError. `while_another_runs`: addresses may be in use.
/// What of the settings only a capability can tell: all that is wrong. Throws config::SettingsError.
void CheckWithCapabilities(const config::Settings& settings);
void CheckDoors(const config::Settings& settings, bool while_another_runs);

/// One server process, put together: store, lanes, capabilities, background jobs, listener. Which
/// capabilities there are it takes from a list.
///
/// Life: construct (opens the store; throws base::UserError or base::Fault), Start, Stop; from one
/// thread.
class Service {
 public:
  /// `process` names this one ("host:pid:random"). `capabilities` must have leases and tasks: the
  /// server's own tasks are made of them.
  Service(const config::Settings& settings, const std::string& process,
          const server::CapabilityList& capabilities = AllCapabilities());

  void Start();
  /// Stops accepting, finishes what is under way (bounded), then ends the jobs and the lanes.
  /// Everything that was answered is in the store already.
  void Stop();

  /// SIGHUP: from now on these keys. REQUIRES: `authenticates()`.
  void UseKeys(const config::AuthSettings& settings) { auth_->UseKeys(settings); }
  /// SIGHUP: from now on this certificate. REQUIRES: `encrypts()`.
  void UseCertificate(const config::TlsSettings& settings);
  /// SIGHUP: from now on these limits.
  void UseRateLimits(const config::RateLimitSettings& settings);
  /// What /api/v1/settings tells from now on; until then all values seem to be defaults.
  void ShowSettings(const config::Loaded& loaded) { shown_.Show(loaded); }
  /// SIGHUP: what capabilities keep of files is read again.
  void ReadAgain();
  /// Whether it speaks TLS.
  bool encrypts() const { return certificate_ != nullptr; }
  /// Whether requests must carry a token; false: protected mode.
  bool authenticates() const { return auth_ != nullptr; }

  std::string Url() const;
  /// Of the second listener; empty when there is none.
  std::string OpsUrl() const;
  /// Of the listener for webhooks; empty when there is none.
  std::string WebhooksUrl() const;
  std::string StorePlace() const { return ops_.store_place; }
  const http::Router& router() const { return router_; }

 private:
  /// What the overview is made of; it asks only while the service runs.
  overview::Parts OverviewParts();

  // In order of dependence: what stands below uses what stands above.
  const config::Settings settings_;
  const std::string process_;
  const server::CapabilityList list_;
  telemetry::Registry metrics_;
  telemetry::Tracer tracer_;
  std::unique_ptr<TraceExporter> exporter_;  // null: traces are off
  db::Store store_;
  const std::string installation_;
  db::ForgetAnswersHandler forget_;
  wake::Registry wake_;
  server::Capabilities capabilities_;
  ServerTasks server_tasks_;
  std::unique_ptr<db::Feed> feed_;  // null: nobody else commits, or nobody can tell
  Background background_;
  StoreWatch watch_;
  OpsParts ops_;
  overview::Overview overview_;
  const std::unique_ptr<auth::Authentication> auth_;            // null: protected mode
  const std::unique_ptr<http::CertificateKeeper> certificate_;  // null: plain HTTP
  const MeParts me_;
  SettingsShown shown_;
  const http::Router router_;
  http::Server server_;
  const http::Router ops_router_;
  std::unique_ptr<http::Server> ops_server_;  // null: there is only the main one
  const http::Router webhook_router_;
  std::unique_ptr<http::Server> webhook_server_;  // the same
};

}  // namespace tenure::app
