#include "sessions/capability.hpp"

#include <algorithm>

#include "audit/audit.hpp"
#include "base/clock.hpp"
#include "server/capability.hpp"
#include "sessions/sessions.hpp"
#include "sessions_sql/queries.hpp"

namespace tenure::sessions {
namespace {

using server::TaskRun;

void RunExpiry(Sessions& sessions, const TaskRun& run) {
  const std::int64_t begun = base::MeasureMicros();
  const std::int64_t rows =
      server::SweepAll(run, sessions.ExpireSome, {},
                       {"sessions.expired", "marked overdue sessions as expired", "sessions"});
  sessions.probe().Expired(static_cast<std::size_t>(rows), base::MeasureMicros() - begun);
}

void RunRetention(Sessions& sessions, const TaskRun& run) {
  const std::int64_t rows = server::RunToTheEnd<db::Swept>(
      run, [&](auto done) { sessions.RemoveSome(run.caller, std::move(done)); });
  sessions.probe().Removed(static_cast<std::size_t>(rows));
  if (rows > 0)
    base::LogInfo("sessions.removed", "removed ended sessions after their retention",
                  {{"sessions", rows}});
}

server::Running Run(const server::Parts& parts, const server::Others& others) {
  const config::SessionSettings& settings = parts.settings.sessions;
  const auto object = std::make_shared<Sessions>(
      parts.store, Options{settings.duration_ms, settings.retention_ms}, parts.metrics);
  Sessions& sessions = *object;
  server::Running running;
  running.object = object;
  running.type = typeid(Sessions);
  running.add_routes = [&sessions, &audit = others.Of<audit::Audit>()](http::Router& router) {
    AddRoutes(router, sessions, audit.refusals());
  };
  running.tasks = {
      {"sessions.expiry", settings.expiry_interval_ms,
       [&sessions](const TaskRun& run) { RunExpiry(sessions, run); }},
      {"sessions.retention", std::min(settings.retention_ms, server::kRetentionIntervalMs),
       [&sessions](const TaskRun& run) { RunRetention(sessions, run); }}};
  running.jobs = {{"gauges.sessions",
                   std::min(settings.expiry_interval_ms, server::kCountIntervalMs),
                   [&sessions](const auto&) {
                     sessions.probe().ActiveCounted(server::Await(sessions.CountActive));
                   }}};
  return running;
}

}  // namespace

server::Capability Capability() {
  return {.name = "sessions",
          .needs = {"audit"},
          .queries = sql::All(),
          .rate = &config::RateLimitSettings::sessions,
          .commands = Commands,
          .run = Run};
}

}  // namespace tenure::sessions
