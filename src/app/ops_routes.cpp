#include "app/ops_routes.hpp"

#include "base/json_writer.hpp"
#include "http/route_group.hpp"

namespace tenure::app {
namespace {

using http::ExchangePtr;

/// The process runs and its loop turns. Tells nothing else: it needs no token.
void Live(const OpsParts&, const ExchangePtr& exchange) {
  exchange->ReplyJson(R"({"status":"ok"})");
}

/// What an operator should know though requests are served:
///  - no-synchronous-standby: a failover may forget what was answered;
///  - frozen: the store was restored or promoted, and some names are not granted yet;
///  - clock-step: the store's clock has jumped within the last hour;
///  - forgotten-commits: a client named a fence that the store never gave, within the last hour.
void WriteWarnings(base::JsonWriter& json, const OpsParts& parts, const StoreWatch::View& seen) {
  const bool may_forget = !parts.store.engine().SurvivesFailover();
  if (!may_forget && seen.frozen_until_ms == 0 && !seen.step && !seen.forgotten) return;
  json.Key("warnings").BeginArray();
  if (may_forget) json.Value("no-synchronous-standby");
  if (seen.frozen_until_ms > 0) json.Value("frozen");
  if (seen.step) json.Value("clock-step");
  if (seen.forgotten) json.Value("forgotten-commits");
  json.EndArray();
}

bool IsReady(const OpsParts& parts, const StoreWatch::View& seen) {
  return parts.store.IsUp() && seen.is_writable;
}

/// Whether to send requests here: every lane has its connection, and writes are committed.
void Ready(const OpsParts& parts, const ExchangePtr& exchange) {
  const StoreWatch::View seen = parts.watch.Seen();
  const bool up = IsReady(parts, seen);
  std::string body;
  base::JsonWriter json(body);
  json.BeginObject().Field("status", up ? "ok" : "unavailable");
  WriteWarnings(json, parts, seen);
  json.EndObject();
  exchange->ReplyJson(std::move(body), up ? 200 : 503);
}

void WriteStore(base::JsonWriter& json, const OpsParts& parts, const StoreWatch::View& seen) {
  json.BeginObject()
      .Field("status", IsReady(parts, seen) ? "ok" : "unavailable")
      .Field("engine", parts.store.engine().name())
      .Field("place", std::string_view(parts.store_place))
      .Field("installation", std::string_view(parts.installation))
      .Field("incarnation", parts.store.engine().incarnation());
  WriteWarnings(json, parts, seen);
  if (seen.frozen_until_ms > 0) json.Key("frozen_until").Time(seen.frozen_until_ms);
  if (seen.step) {
    json.Key("clock_step").BeginObject().Key("from").Time(seen.step->from_ms);
    json.Key("to").Time(seen.step->to_ms).EndObject();
  }
  if (seen.forgotten) {
    json.Key("forgotten_commits").BeginObject();
    // Its kind only: its name may be another tenant's. The log has it.
    const std::string_view what = seen.forgotten->what;
    json.Field("of", what.substr(0, what.find(' ')));
    json.Field("fence", seen.forgotten->fence).Field("highest", seen.forgotten->highest);
    json.Field("hint",
               "A client named this fence, and the store never gave it. If the database was "
               "restored, run `tenure admin new-incarnation`.");
    json.EndObject();
  }
  json.EndObject();
}

/// From memory: it is answered at once, also while the store hangs.
void Health(const OpsParts& parts, const ExchangePtr& exchange) {
  const StoreWatch::View seen = parts.watch.Seen();
  const bool up = IsReady(parts, seen);
  std::string body;
  base::JsonWriter json(body);
  json.BeginObject().Field("status", up ? "ok" : "unavailable").Field("version", TENURE_VERSION);
  json.Key("store");
  WriteStore(json, parts, seen);
  json.Key("background").BeginArray();
  for (const JobReport& report : parts.background.Reports()) {
    json.BeginObject().Field("name", std::string_view(report.name));
    json.Field("status", report.last_error.empty() ? "ok" : "failed").Field("runs", report.runs);
    json.Key("last_run_at").TimeOrNull(report.last_run_wall_ms).EndObject();
  }
  json.EndArray().Key("tasks").BeginArray();
  if (seen.tasks) {
    for (const tasks::TaskView& task : seen.tasks->tasks) {
      json.BeginObject().Field("name", std::string_view(task.name));
      json.Field("status", task.row.failures == 0 ? "ok" : "failed").Field("runs", task.row.runs);
      json.Key("last_run_at").TimeOrNull(task.row.last_started_ms);
      json.Key("next_run_at").TimeOrNull(tasks::DueMs(task.row)).EndObject();
    }
  }
  json.EndArray();
  for (const server::Running& each : parts.capabilities.running())
    if (each.write_health) each.write_health(json);
  json.EndObject();
  exchange->ReplyJson(std::move(body), up ? 200 : 503);
}

template <telemetry::Audience audience>
void Metrics(const OpsParts& parts, const ExchangePtr& exchange) {
  exchange->Reply(http::Response{.body = parts.metrics.Text(audience),
                                 .content_type = "text/plain; version=0.0.4; charset=utf-8"});
}

void OpenApi(const OpsParts&, const ExchangePtr& exchange) {
  exchange->ReplyJson(std::string(OpenApiDocument()));
}

/// What probes and Prometheus ask for, on the main listener or on the operators'. `scope` is that of what tells more than whether it runs. A
/// limit must never make a probe look dead, so the first two have none.
void AddWatching(http::Router& router, const OpsParts& parts, const std::string& scope,
                 telemetry::Audience audience) {
  using http::Method;
  using telemetry::Audience;
  const auto metrics = audience == Audience::kOperators ? Metrics<Audience::kOperators>
                                                        : Metrics<Audience::kAnybody>;
  http::RouteGroup<const OpsParts&>(router, parts, {})
      .Add({{Method::kGet, "/livez", "getLiveness", http::kPublic, Live},
            {Method::kGet, "/readyz", "getReadiness", http::kPublic, Ready}});
  http::RouteGroup<const OpsParts&>(router, parts, {.rate_class = "ops"})
      .Add({{Method::kGet, "/health", "getHealth", scope, Health},
            {Method::kGet, "/metrics", "getMetrics", scope, metrics}});
}

}  // namespace

void ShowReadiness(const OpsParts& parts, telemetry::Registry& metrics) {
  telemetry::Gauge& ready =
      metrics.GetGauge("tenure_ready", "Whether requests are served, as /readyz says: 1 or 0.");
  metrics.OnScrape([&parts, &ready] { ready.Set(IsReady(parts, parts.watch.Seen()) ? 1 : 0); });
}

void AddOpsRoutes(http::Router& router, const OpsParts& parts) {
  AddWatching(router, parts, "ops:read", telemetry::Audience::kAnybody);
  http::RouteGroup<const OpsParts&>(router, parts, {.rate_class = "ops"})
      .Add({{http::Method::kGet, "/openapi.json", "getOpenApi", http::kPublic, OpenApi}});
}

http::Router OpsListenerRoutes(const OpsParts& parts) {
  http::Router router;
  AddWatching(router, parts, http::kPublic, telemetry::Audience::kOperators);
  return router;
}

}  // namespace tenure::app
