#include "app/service.hpp"

#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "app/jobs.hpp"
#include "app/rate_classes.hpp"
#include "app/store_setup.hpp"
#include "audit/routes.hpp"
#include "base/clock.hpp"
#include "config/kinds.hpp"
#include "db/maintenance.hpp"
#include "inbox/routes.hpp"
#include "leases/routes.hpp"
#include "messages/routes.hpp"
#include "sessions/routes.hpp"
#include "tasks/routes.hpp"
#include "usage/routes.hpp"

namespace tenure::app {
namespace {

std::unique_ptr<db::Engine> PreparedEngine(const config::Settings& settings,
                                           telemetry::Registry& metrics) {
  auto engine = OpenEngine(settings, base::SystemClock(), metrics);
  PrepareStore(settings, *engine);
  return engine;
}

OpsParts DescribeStore(db::Store& store, const Background& background, tasks::Tasks& tasks,
                       messages::Messages& messages, const telemetry::Registry& metrics) {
  return {store,
          background,
          tasks,
          messages,
          metrics,
          store.engine().place(),
          db::ReadIdentity(store.engine()).installation};
}

http::Router AllRoutes(sessions::Sessions& sessions, leases::Leases& leases, tasks::Tasks& tasks,
                       const messages::RouteParts& messages, inbox::Inbox& inbox,
                       usage::Usage& usage, audit::Audit& audit, const OpsParts& ops) {
  http::Router router;
  sessions::AddRoutes(router, sessions, audit.refusals());
  leases::AddRoutes(router, leases);
  tasks::AddRoutes(router, tasks);
  messages::AddRoutes(router, messages);
  inbox::AddRoutes(router, inbox);
  usage::AddRoutes(router, usage, messages.messages);
  audit::AddRoutes(router, audit);
  AddOpsRoutes(router, ops);
  return router;
}

std::unique_ptr<auth::Authentication> NewAuthentication(const config::AuthSettings& settings,
                                                        telemetry::Registry& metrics) {
  if (!settings.enabled()) return nullptr;
  return std::make_unique<auth::Authentication>(settings, base::SystemClock(), metrics);
}

http::CertificateFiles FilesOf(const config::TlsSettings& settings) {
  return {.certificate = settings.certificate, .key = settings.key};
}

std::unique_ptr<http::CertificateKeeper> NewCertificate(const config::TlsSettings& settings,
                                                        telemetry::Registry& metrics) {
  if (!settings.enabled()) return nullptr;
  return std::make_unique<http::CertificateKeeper>(FilesOf(settings), base::SystemClock(), metrics);
}

usage::Options UsageOptionsOf(const config::UsageSettings& settings) {
  return {.interval_ms = settings.interval_ms,
          .factors = {settings.factor_1, settings.factor_2, settings.factor_3},
          .chunk_size = settings.chunk,
          .retention_ms = settings.retention_ms,
          .send = !settings.endpoint.empty()};
}

/// How chunks reach the receiver: each request is a trace of its own, which the receiver may go on.
usage::Sender::PostFunction PostTo(const config::UsageSettings& settings, http::Outgoing& outgoing,
                                   telemetry::Tracer& tracer) {
  return [&settings, &outgoing, &tracer](usage::Post post,
                                         base::UniqueFunction<usage::PostReply> done) {
    telemetry::Span span = tracer.Start("Usage.Send", std::nullopt, telemetry::SpanKind::kClient);
    span.Set("usage.key", post.idempotency_key);
    http::OutgoingRequest request;
    request.url = settings.endpoint;
    if (const auto context = span.context())
      request.headers.emplace_back("traceparent", FormatTraceParent(*context));
    request.headers.emplace_back("Idempotency-Key", std::move(post.idempotency_key));
    if (!settings.auth.empty())
      request.headers.emplace_back(settings.auth_header, settings.auth.Reveal());
    request.body = std::move(post.body);
    outgoing.Send(std::move(request), [done = std::move(done),
                                       span = std::move(span)](http::OutgoingReply reply) mutable {
      span.Set("http.response.status_code", reply.status);
      if (!reply.acknowledged()) span.Fail();
      span.End();
      done({reply.status, std::move(reply.body), reply.retry_after_ms, std::move(reply.error)});
    });
  };
}

bool TracesOn(const config::Settings& settings) {
  return !settings.telemetry.traces_endpoint.empty();
}

std::unique_ptr<TraceExporter> NewExporter(const config::Settings& settings,
                                           const std::string& instance, telemetry::Tracer& tracer) {
  if (!TracesOn(settings)) return nullptr;
  return std::make_unique<TraceExporter>(
      TraceExporter::Options{settings.telemetry.traces_endpoint, instance}, tracer);
}

/// Bounds of what a client may do to either listener.
http::ServerOptions ListenerOptions(const config::HttpSettings& settings,
                                    const config::Address& address) {
  http::ServerOptions options;
  options.host = address.host;
  options.port = address.port;
  options.max_header_bytes = settings.max_header_bytes;
  options.header_timeout_ms = settings.header_timeout_ms;
  options.body_timeout_ms = settings.body_timeout_ms;
  options.idle_timeout_ms = settings.idle_timeout_ms;
  options.write_timeout_ms = settings.write_timeout_ms;
  return options;
}

http::TrustedProxies ProxiesOf(const config::HttpSettings& settings) {
  const bool standard = settings.forwarded_header == config::ForwardedHeader::kForwarded;
  return {settings.trusted_proxies,
          standard ? http::ForwardedBy::kForwarded : http::ForwardedBy::kXForwardedFor};
}

http::ServerOptions ServerOptionsOf(const config::Settings& settings,
                                    const http::CertificateKeeper* certificate) {
  http::ServerOptions options = ListenerOptions(settings.http, settings.listen);
  options.certificate = certificate;
  // Half of the cores: lanes, and PostgreSQL or SQLite's work, want theirs.
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  options.threads = settings.http.threads > 0 ? settings.http.threads : std::max(1, cores / 2);
  options.max_body_bytes = settings.http.max_body_bytes;
  options.max_connections = settings.http.max_connections;
  options.proxies = ProxiesOf(settings.http);
  options.rate_classes = RateClassesOf(settings.rate_limits);
  return options;
}

/// A loop and connections of its own: however busy the main listener is, this one answers.
http::ServerOptions OpsServerOptionsOf(const config::Settings& settings) {
  http::ServerOptions options = ListenerOptions(settings.http, settings.ops.listen);
  options.flag = "--ops-listen";
  options.visitors = http::Visitors::kAnybody;
  options.threads = 1;
  options.max_body_bytes = 1'024;
  options.max_connections = 64;
  return options;
}

std::string UrlOf(std::string_view scheme, const config::Address& address, std::uint16_t port) {
  return fmt::format("{}://{}", scheme, config::AddressText({address.host, port}));
}

}  // namespace

Service::Service(const config::Settings& settings, const std::string& instance)
    : settings_(settings),
      tracer_(TracesOn(settings_) ? telemetry::Tracer::kCapacity : 0, base::SystemClock(),
              metrics_),
      exporter_(NewExporter(settings_, instance, tracer_)),
      recorder_(metrics_),
      store_(PreparedEngine(settings_, metrics_), StoreOptionsOf(settings_), base::SystemClock(),
             metrics_),
      audit_(store_, base::SystemClock(), metrics_),
      wake_(base::SystemClock()),
      leases_(store_, wake_, instance, base::SystemClock(), metrics_),
      tasks_(store_, wake_, instance, base::SystemClock(), metrics_),
      server_tasks_(leases_, tasks_, wake_, instance),
      sessions_(store_, {settings_.sessions.duration_ms, settings_.sessions.retention_ms},
                metrics_),
      messages_(store_, wake_, instance, base::SystemClock(), metrics_,
                {settings_.messages.poll_max_ms}),
      inbox_(store_, {.max_attempts = settings_.inbox.max_attempts}, metrics_),
      usage_(store_, sessions_, messages_, wake_, UsageOptionsOf(settings_.usage), metrics_),
      outgoing_({}),
      ops_(DescribeStore(store_, background_, tasks_, messages_, metrics_)),
      auth_(NewAuthentication(settings_.auth, metrics_)),
      certificate_(NewCertificate(settings_.tls, metrics_)),
      router_(AllRoutes(sessions_, leases_, tasks_,
                        {messages_, tracer_, settings_.messages.payload_max_bytes}, inbox_, usage_,
                        audit_, ops_)),
      server_(ServerOptionsOf(settings_, certificate_.get()), router_, metrics_,
              base::SystemClock(), auth_ ? auth_->hook() : nullptr, &tracer_),
      ops_router_(OpsListenerRoutes(ops_)) {
  store_.SetGuard(guard_);
  store_.SetRecorder(recorder_);
  if (!settings_.ops.listen.host.empty())
    ops_server_ = std::make_unique<http::Server>(OpsServerOptionsOf(settings_), ops_router_,
                                                 metrics_, base::SystemClock());
  feed_ = store_.engine().NewFeed(
      {.on_payload = [this](std::string_view payload) { wake_.SignalAll(payload); },
       .on_gap = [this] { wake_.SignalEverybody(); }});
  AddGauges(background_, sessions_, leases_, inbox_, settings_.sessions.expiry_interval_ms);
  AddTaskGauges(background_, tasks_);
  AddMessageGauges(background_, messages_);
  AddUsageGauges(background_, usage_);
  AddRefusalSums(background_, audit_);
  if (!settings_.workers) return;
  AddSessionTasks(server_tasks_, sessions_, settings_.sessions);
  AddAnswerTask(server_tasks_, store_, forget_);
  AddLeaseTask(server_tasks_, leases_, settings_.leases);
  AddMessageTask(server_tasks_, messages_);
  AddInboxTask(server_tasks_, inbox_, settings_.inbox);
  AddUsageTasks(server_tasks_, usage_);
  AddAuditTask(server_tasks_, audit_, settings_.audit);
  if (usage_.options().send)
    sender_ = std::make_unique<usage::Sender>(usage_, messages_, wake_, ops_.installation,
                                              PostTo(settings_.usage, outgoing_, tracer_));
}

void Service::Start() {
  store_.Open();
  store_.Start();
  wake_.Start();
  if (feed_) {
    feed_->Start();
    feed_->SetInterested(true);
  }
  if (exporter_) exporter_->Start();
  if (auth_) auth_->Start();
  if (certificate_) certificate_->Start();
  server_.Start();  // may refuse: what works in the background begins after it
  if (ops_server_) ops_server_->Start();  // the same
  if (settings_.workers) messages_.StartClockwork();
  background_.Start();
  server_tasks_.Start();
  if (sender_) {
    outgoing_.Start();
    sender_->Start();
  }
}

void Service::Stop() {
  if (ops_server_) ops_server_->Stop(0);  // whoever asks whether to send requests here: no more
  // Those who wait for a lease or for messages are answered first: nothing else would end their
  // requests soon.
  if (sender_) {
    sender_->Stop();
    outgoing_.Stop();
  }
  leases_.StopWaiting();
  messages_.Stop();
  server_.Stop(settings_.http.stop_grace_ms);
  if (auth_) auth_->Stop();
  if (certificate_) certificate_->Stop();
  background_.Stop();
  audit_.refusals().Stop();
  if (feed_) feed_->Stop();
  wake_.Stop();
  server_tasks_.Stop();
  store_.Stop();
  if (exporter_) exporter_->Stop();  // nothing ends a span any more
}

void Service::UseCertificate(const config::TlsSettings& settings) {
  certificate_->Use(FilesOf(settings));
}

std::string Service::Url() const {
  return UrlOf(encrypts() ? "https" : "http", settings_.listen, server_.port());
}

std::string Service::OpsUrl() const {
  return ops_server_ ? UrlOf("http", settings_.ops.listen, ops_server_->port()) : "";
}

}  // namespace tenure::app
