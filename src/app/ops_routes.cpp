#include "app/ops_routes.hpp"

#include "app/openapi.hpp"
#include "base/json_writer.hpp"

namespace tenure::app {
namespace {

using http::ExchangePtr;

http::Response Respond(int status, std::string body,
                       std::string_view content_type = "application/json") {
  http::Response response;
  response.status = status;
  response.body = std::move(body);
  response.content_type = content_type;
  return response;
}

/// The process runs and its loop turns. Tells nothing else: it needs no token.
void Live(const ExchangePtr& exchange) { exchange->Reply(Respond(200, R"({"status":"ok"})")); }

/// Where the store does less than principle 3 promises: without a synchronous standby a failover
/// may forget what was answered.
void WriteWarnings(base::JsonWriter& json, const OpsParts& parts) {
  if (parts.store.engine().SurvivesFailover()) return;
  json.Key("warnings").BeginArray().Value("no-synchronous-standby").EndArray();
}

/// Whether to send requests here: every lane has its connection.
void Ready(const OpsParts& parts, const ExchangePtr& exchange) {
  const bool up = parts.store.IsUp();
  std::string body;
  base::JsonWriter json(body);
  json.BeginObject().Field("status", up ? "ok" : "unavailable");
  WriteWarnings(json, parts);
  json.EndObject();
  exchange->Reply(Respond(up ? 200 : 503, std::move(body)));
}

void WriteTime(base::JsonWriter& json, std::string_view field, std::int64_t ms) {
  json.Key(field);
  if (ms > 0)
    json.Time(ms);
  else
    json.Null();
}

/// As it was counted last; nothing is asked of the store.
void WriteMessages(base::JsonWriter& json, messages::Messages& messages) {
  const messages::Figures figures = messages.probe().figures();
  json.Key("messages").BeginObject();
  json.Field("ready", figures.ready)
      .Field("delayed", figures.delayed)
      .Field("dead", figures.dead)
      .Field("unhandled", figures.unhandled)
      .Field("oldest_seconds", figures.oldest_seconds)
      .Field("waiting_claims", figures.waiting_claims)
      .Field("clockwork", messages.HasClockwork() ? "on" : "off");
  json.EndObject();
}

/// `listed` is null when the store cannot tell.
std::string HealthJson(const OpsParts& parts, const tasks::ListReply* listed) {
  std::string body;
  base::JsonWriter json(body);
  const bool up = listed && parts.store.IsUp();
  json.BeginObject().Field("status", up ? "ok" : "unavailable").Field("version", TENURE_VERSION);
  json.Key("store").BeginObject();
  json.Field("status", up ? "ok" : "unavailable")
      .Field("engine", parts.store.engine().name())
      .Field("place", std::string_view(parts.store_place))
      .Field("installation", std::string_view(parts.installation))
      .Field("incarnation", parts.store.engine().incarnation());
  WriteWarnings(json, parts);
  json.EndObject();
  json.Key("jobs").BeginArray();
  for (const JobReport& report : parts.background.Reports()) {
    json.BeginObject().Field("name", std::string_view(report.name));
    json.Field("status", report.last_error.empty() ? "ok" : "failed").Field("runs", report.runs);
    WriteTime(json, "last_run_at", report.last_run_wall_ms);
    json.EndObject();
  }
  json.EndArray().Key("tasks").BeginArray();
  if (listed) {
    for (const tasks::TaskView& task : listed->tasks) {
      json.BeginObject().Field("name", std::string_view(task.name));
      json.Field("status", task.row.failures == 0 ? "ok" : "failed").Field("runs", task.row.runs);
      WriteTime(json, "last_run_at", task.row.last_started_ms);
      WriteTime(json, "next_run_at", tasks::DueMs(task.row));
      json.EndObject();
    }
  }
  json.EndArray();
  WriteMessages(json, parts.messages);
  json.EndObject();
  return body;
}

void Get(http::Router& router, std::string pattern, std::string operation, std::string scope,
         http::Handler handler) {
  router.Add({http::Method::kGet, std::move(pattern), std::move(operation), std::move(scope),
              std::move(handler)});
}

void Health(const OpsParts& parts, const ExchangePtr& exchange) {
  parts.tasks.List(
      tasks::kOwnTenant, &exchange->executor(),
      [&parts, exchange](const db::Result<tasks::ListReply>& listed) {
        const bool up = listed.ok() && parts.store.IsUp();
        exchange->Reply(
            Respond(up ? 200 : 503, HealthJson(parts, listed.ok() ? &listed.value() : nullptr)));
      });
}

/// What probes and Prometheus ask for. `scope` is that of what tells more than whether it runs.
void AddWatching(http::Router& router, const OpsParts& parts, const std::string& scope) {
  Get(router, "/livez", "getLiveness", http::kPublic, Live);
  Get(router, "/readyz", "getReadiness", http::kPublic,
      [&parts](const ExchangePtr& exchange) { Ready(parts, exchange); });
  Get(router, "/health", "getHealth", scope,
      [&parts](const ExchangePtr& exchange) { Health(parts, exchange); });
  Get(router, "/metrics", "getMetrics", scope, [&parts](const ExchangePtr& exchange) {
    exchange->Reply(Respond(200, parts.metrics.Text(), "text/plain; version=0.0.4; charset=utf-8"));
  });
}

}  // namespace

void AddOpsRoutes(http::Router& router, const OpsParts& parts) {
  AddWatching(router, parts, "ops:read");
  Get(router, "/openapi.json", "getOpenApi", http::kPublic, [](const ExchangePtr& exchange) {
    exchange->Reply(Respond(200, std::string(OpenApiDocument())));
  });
}

http::Router OpsListenerRoutes(const OpsParts& parts) {
  http::Router router;
  AddWatching(router, parts, http::kPublic);
  return router;
}

}  // namespace tenure::app
