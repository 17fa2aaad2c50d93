#include "app/service.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "app/attention.hpp"
#include "app/descriptors.hpp"
#include "app/search_route.hpp"
#include "app/store_setup.hpp"
#include "base/clock.hpp"
#include "config/kinds.hpp"
#include "db/maintenance.hpp"
#include "leases/leases.hpp"
#include "page/routes.hpp"
#include "push/places.hpp"
#include "server/capability.hpp"
#include "tasks/tasks.hpp"

namespace tenure::app {
namespace {

constexpr std::int64_t kOpsIdleMs = 10'000;
constexpr int kWebhookConnections = 64;  // descriptors.hpp: of those that are reserved

std::unique_ptr<db::Engine> PreparedEngine(const config::Settings& settings,
                                           telemetry::Registry& metrics) {
  auto engine = OpenEngine(settings, base::SystemClock(), metrics);
  PrepareStore(settings, *engine);
  return engine;
}

http::Router AllRoutes(const config::Settings& settings, const server::Capabilities& capabilities,
                       const OpsParts& ops, const MeParts& me, const SettingsShown& shown,
                       const overview::Overview& overview) {
  http::Router router;
  router.SetBase(settings.http.base_path);
  for (const server::Running& each : capabilities.running()) each.add_routes(router);
  AddOpsRoutes(router, ops);
  AddMeRoute(router, me);
  AddSettingsRoute(router, shown);
  AddSearchRoute(router, capabilities);
  overview::AddRoutes(router, overview);
  if (settings.dashboard) page::AddRoutes(router);
  return router;
}

/// Forgets answers that were kept for idempotency keys: they are no capability's.
server::Task AnswerTask(db::Store& store, db::ForgetAnswersHandler& forget) {
  return {"answers.retention", server::kRetentionIntervalMs, [&](const server::TaskRun& run) {
            server::RunToTheEnd<db::Swept>(
                run, [&](auto done) { store.Submit(forget, run.caller, {}, std::move(done)); });
          }};
}

/// Null unless it is wanted.
template <class T, class... Parts>
std::unique_ptr<T> MakeIf(bool wanted, Parts&&... parts) {
  return wanted ? std::make_unique<T>(std::forward<Parts>(parts)...) : nullptr;
}

http::CertificateFiles FilesOf(const config::TlsSettings& settings) {
  return {.certificate = settings.certificate, .key = settings.key};
}

bool TracesOn(const config::Settings& settings) {
  return !settings.telemetry.traces_endpoint.empty();
}

/// Bounds of what a client may do to either listener.
http::ServerOptions ListenerOptions(const config::HttpSettings& settings,
                                    const config::Address& address) {
  http::ServerOptions options;
  options.host = address.host;
  options.port = address.port;
  options.max_header_bytes = settings.max_header_bytes;
  options.body_memory_bytes = settings.body_memory_bytes;
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

/// Half of the cores: lanes, and PostgreSQL or SQLite's work, want theirs. Of two cores a second
/// loop took what a lane needs: 12 % of the requests. That strangers stop no loop is not its
/// matter: a connection's turn is short, whoever it belongs to.
int ThreadsByCores() {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / 2);
}

http::ServerOptions ServerOptionsOf(const config::Settings& settings,
                                    const server::CapabilityList& capabilities,
                                    const http::CertificateKeeper* certificate) {
  http::ServerOptions options = ListenerOptions(settings.http, settings.listen);
  options.certificate = certificate;
  options.threads = settings.http.threads > 0 ? settings.http.threads : ThreadsByCores();
  options.max_body_bytes = settings.http.max_body_bytes;
  options.max_connections = ConnectionsWithinLimit(
      settings.http.max_connections, settings.push.allow.empty() ? 0 : push::kLeastUnderWay);
  options.proxies = ProxiesOf(settings.http);
  options.rate_classes = RateClassesOf(settings.rate_limits, capabilities);
  return options;
}

/// A loop and connections of its own: however busy the main listener is, this one answers. And soon
/// a place is free: whoever asked holds one for seconds only, and gives it to the next one before.
http::ServerOptions OpsServerOptionsOf(const config::Settings& settings) {
  http::ServerOptions options = ListenerOptions(settings.http, settings.ops.listen);
  options.flag = "--ops-listen";
  // Without authentication nobody from elsewhere is served, here as there.
  options.visitors = settings.auth.enabled() ? http::Visitors::kAnybody : http::Visitors::kLocal;
  options.threads = 1;
  options.max_body_bytes = 1'024;
  options.max_connections = 64;
  options.idle_timeout_ms = std::min(options.idle_timeout_ms, kOpsIdleMs);
  return options;
}

/// Webhooks and nothing else, to anybody: what opens a route of theirs is a signature. A loop of its
/// own, so that what strangers send keeps nobody else waiting.
http::ServerOptions WebhookServerOptionsOf(const config::Settings& settings,
                                           const server::CapabilityList& capabilities,
                                           const http::CertificateKeeper* certificate) {
  http::ServerOptions options = ListenerOptions(settings.http, settings.webhooks.listen);
  options.flag = "--set webhooks.listen";
  options.visitors = http::Visitors::kAnybody;
  options.certificate = certificate;
  options.threads = 1;
  options.max_connections = kWebhookConnections;
  options.proxies = ProxiesOf(settings.http);
  options.rate_classes = RateClassesOf(settings.rate_limits, capabilities);
  return options;
}

http::Router SignedRoutes(const http::Router& all) {
  http::Router router;
  for (const http::Route& route : all.routes())
    if (route.scope == http::kSigned) router.Add(route);
  return router;
}

std::string UrlOf(std::string_view scheme, const config::Address& address, std::uint16_t port) {
  return fmt::format("{}://{}", scheme, config::AddressText({address.host, port}));
}

}  // namespace

std::vector<http::RateClass> RateClassesOf(const config::RateLimitSettings& settings,
                                           const server::CapabilityList& capabilities) {
  std::vector<http::RateClass> classes{{"ops", settings.ops}};
  for (const server::Capability& each : capabilities)
    if (each.rate) classes.push_back({std::string(each.name), settings.*each.rate});
  if (!settings.enabled)
    for (http::RateClass& each : classes) each.rate = {};
  return classes;
}

void CheckWithCapabilities(const config::Settings& settings) {
  config::Problems problems;
  for (const server::Capability& each : AllCapabilities())
    if (each.check) each.check(settings, problems);
  if (!problems.empty()) throw config::SettingsError(std::move(problems));
}

void CheckDoors(const config::Settings& settings, bool while_another_runs) {
  telemetry::Registry unused;
  if (settings.auth.enabled()) auth::Authentication(settings.auth, base::SystemClock(), unused);
  if (settings.tls.enabled())
    http::CertificateKeeper(FilesOf(settings.tls), base::SystemClock(), unused);
  http::CheckAddress(ListenerOptions(settings.http, settings.listen), settings.auth.enabled(),
                     while_another_runs);
  if (!settings.ops.listen.host.empty())
    http::CheckAddress(OpsServerOptionsOf(settings), settings.auth.enabled(), while_another_runs);
  if (!settings.webhooks.listen.host.empty())
    http::CheckAddress(WebhookServerOptionsOf(settings, {}, nullptr), false, while_another_runs);
}

Service::Service(const config::Settings& settings, const std::string& process,
                 const server::CapabilityList& capabilities)
    : settings_(settings),
      process_(process),
      list_(capabilities),
      tracer_(TracesOn(settings_) ? telemetry::Tracer::kCapacity : 0, base::SystemClock(),
              metrics_),
      exporter_(MakeIf<TraceExporter>(
          TracesOn(settings_),
          TraceExporter::Options{settings_.telemetry.traces_endpoint, process_}, tracer_)),
      store_(PreparedEngine(settings_, metrics_), StoreOptionsOf(settings_), base::SystemClock(),
             metrics_),
      installation_(db::ReadIdentity(store_.engine()).installation),
      wake_(base::SystemClock()),
      capabilities_(capabilities, {settings_, process_, installation_, store_, wake_,
                                   base::SystemClock(), metrics_, tracer_}),
      server_tasks_(capabilities_.Of<leases::Leases>(), capabilities_.Of<tasks::Tasks>(), wake_,
                    process_),
      watch_(store_, capabilities_.Of<tasks::Tasks>(), wake_, process_, base::SystemClock(),
             metrics_),
      ops_{store_,       background_, watch_, capabilities_, metrics_, store_.engine().place(),
           installation_},
      overview_(OverviewParts()),
      auth_(MakeIf<auth::Authentication>(settings_.auth.enabled(), settings_.auth,
                                         base::SystemClock(), metrics_)),
      certificate_(MakeIf<http::CertificateKeeper>(settings_.tls.enabled(), FilesOf(settings_.tls),
                                                   base::SystemClock(), metrics_)),
      me_{list_, process_, store_.engine(), router_, settings_.auth.enabled()},
      router_(AllRoutes(settings_, capabilities_, ops_, me_, shown_, overview_)),
      server_(ServerOptionsOf(settings_, capabilities, certificate_.get()), router_, metrics_,
              base::SystemClock(), auth_ ? auth_->hook() : nullptr, &tracer_),
      ops_router_(OpsListenerRoutes(ops_)),
      ops_server_(MakeIf<http::Server>(!settings_.ops.listen.host.empty(),
                                       OpsServerOptionsOf(settings_), ops_router_, metrics_,
                                       base::SystemClock())),
      webhook_router_(SignedRoutes(router_)),
      webhook_server_(
          MakeIf<http::Server>(!settings_.webhooks.listen.host.empty(),
                               WebhookServerOptionsOf(settings_, capabilities, certificate_.get()),
                               webhook_router_, metrics_, base::SystemClock(), nullptr, &tracer_)) {
  ShowReadiness(ops_, metrics_);
  ShowSettings({settings_, {}});
  feed_ = store_.engine().NewFeed(
      {.on_payload = [this](std::string_view payload) { wake_.SignalAll(payload); },
       .on_gap = [this] { wake_.SignalEverybody(); }});
  for (const server::Running& each : capabilities_.running()) {
    for (const server::Job& job : each.jobs) background_.Add(job);
    if (!settings_.workers) continue;
    for (const server::Task& task : each.tasks) server_tasks_.Add(task);
  }
  // Behind the jobs that count: what they count at the start is shown at once.
  background_.Add({"overview", server::kOftenMs, [this](const auto&) { overview_.Look(); }});
  if (settings_.workers) server_tasks_.Add(AnswerTask(store_, forget_));
}

overview::Parts Service::OverviewParts() {
  overview::Parts parts{.store = store_,
                        .clock = base::SystemClock(),
                        .process = process_,
                        .version = TENURE_VERSION,
                        .workers = settings_.workers};
  for (std::size_t i = 0; i < list_.size(); ++i)
    if (const auto& glance = capabilities_.running()[i].glance)
      parts.glances.emplace_back(list_[i].name, glance);
  parts.concerns = [this] {
    return ConcernsOf(ops_, certificate_ ? certificate_->end_s() : 0, base::SystemClock().WallMs());
  };
  parts.traffic = [this] { return server_.traffic(); };
  return parts;
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
  if (webhook_server_) webhook_server_->Start();
  watch_.Start();
  try {
    capabilities_.Start();
  } catch (...) {  // one of them refuses, as for a file that is not what is in force
    Stop();
    throw;
  }
  background_.Start();
  server_tasks_.Start();
}

void Service::Stop() {
  if (ops_server_) ops_server_->Stop(0);  // whoever asks whether to send requests here: no more
  // Those who wait for a lease or for messages are answered first: nothing else would end their
  // requests soon.
  capabilities_.StopWaiting();
  if (webhook_server_) webhook_server_->Stop(settings_.http.stop_grace_ms);
  server_.Stop(settings_.http.stop_grace_ms);
  if (auth_) auth_->Stop();
  if (certificate_) certificate_->Stop();
  background_.Stop();
  overview_.Leave();
  capabilities_.Stop();
  watch_.Stop();
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

std::string Service::WebhooksUrl() const {
  return webhook_server_ ? UrlOf(encrypts() ? "https" : "http", settings_.webhooks.listen,
                                 webhook_server_->port())
                         : "";
}

void Service::UseRateLimits(const config::RateLimitSettings& settings) {
  server_.UseRates(RateClassesOf(settings, list_));
  if (webhook_server_) webhook_server_->UseRates(RateClassesOf(settings, list_));
}

void Service::ReadAgain() {
  for (const server::Running& each : capabilities_.running())
    if (each.read_again) each.read_again();
}

}  // namespace tenure::app
