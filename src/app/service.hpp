#pragma once

#include <memory>
#include <string>

#include "app/background.hpp"
#include "app/ops_routes.hpp"
#include "app/server_tasks.hpp"
#include "app/trace_exporter.hpp"
#include "audit/audit.hpp"
#include "audit/recorder.hpp"
#include "auth/authentication.hpp"
#include "config/settings.hpp"
#include "db/once.hpp"
#include "db/store.hpp"
#include "http/certificate.hpp"
#include "http/outgoing.hpp"
#include "http/router.hpp"
#include "http/server.hpp"
#include "inbox/inbox.hpp"
#include "leases/guard.hpp"
#include "leases/leases.hpp"
#include "messages/messages.hpp"
#include "sessions/sessions.hpp"
#include "tasks/tasks.hpp"
#include "telemetry/metrics.hpp"
#include "telemetry/trace.hpp"
#include "usage/sender.hpp"
#include "usage/usage.hpp"
#include "wake/registry.hpp"

namespace tenure::app {

/// One server process, put together: store, lanes, capabilities, background jobs, listener. This is
/// the one place that knows all parts.
///
/// Life: construct (opens the store; throws base::UserError or base::Fault), Start, Stop; from one
/// thread.
class Service {
 public:
  /// `instance` names this process ("host:pid:random").
  Service(const config::Settings& settings, const std::string& instance);

  void Start();
  /// Stops accepting, finishes what is under way (bounded), then ends the jobs and the lanes.
  /// Everything that was answered is in the store already.
  void Stop();

  /// SIGHUP: from now on these keys. REQUIRES: `authenticates()`.
  void UseKeys(const config::AuthSettings& settings) { auth_->UseKeys(settings); }
  /// SIGHUP: from now on this certificate. REQUIRES: `encrypts()`.
  void UseCertificate(const config::TlsSettings& settings);
  /// Whether it speaks TLS.
  bool encrypts() const { return certificate_ != nullptr; }
  /// Whether requests must carry a token; false: protected mode.
  bool authenticates() const { return auth_ != nullptr; }

  std::string Url() const;
  /// Of the second listener; empty when there is none.
  std::string OpsUrl() const;
  std::string StorePlace() const { return ops_.store_place; }
  const http::Router& router() const { return router_; }

 private:
  // In order of dependence: what stands below uses what stands above.
  const config::Settings settings_;
  telemetry::Registry metrics_;
  telemetry::Tracer tracer_;
  std::unique_ptr<TraceExporter> exporter_;  // null: traces are off
  leases::FenceGuard guard_;
  audit::Recorder recorder_;
  db::Store store_;
  db::ForgetHandler forget_;
  audit::Audit audit_;
  wake::Registry wake_;
  leases::Leases leases_;
  tasks::Tasks tasks_;
  ServerTasks server_tasks_;
  sessions::Sessions sessions_;
  messages::Messages messages_;
  inbox::Inbox inbox_;
  usage::Usage usage_;
  http::Outgoing outgoing_;
  std::unique_ptr<usage::Sender> sender_;  // null: nobody is told, or others do it
  std::unique_ptr<db::Feed> feed_;         // null: nobody else commits, or nobody can tell
  Background background_;
  OpsParts ops_;
  const std::unique_ptr<auth::Authentication> auth_;            // null: protected mode
  const std::unique_ptr<http::CertificateKeeper> certificate_;  // null: plain HTTP
  const http::Router router_;
  http::Server server_;
  const http::Router ops_router_;
  std::unique_ptr<http::Server> ops_server_;  // null: there is only the main one
};

}  // namespace tenure::app
