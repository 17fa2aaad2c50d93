#include "sessions/capability.hpp"

#include <algorithm>
#include <functional>

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

/// By its id, or the latest of a user.
void FindSessionsOf(Sessions& sessions, const server::Search& search, base::Caller caller,
                    server::Finder::Done done) {
  const auto tenant = base::Uuid::Parse(search.tenant);
  if (!search.id || (!tenant && !search.every_tenant)) return done(server::FoundList());
  const auto found = [tenant, every = search.every_tenant](const Session& session,
                                                           std::int64_t now_ms) {
    server::FoundList list;
    if (every || session.tenant == tenant)
      list.push_back({"session", session.id.ToString(), "user " + session.key.user.ToString(),
                      session.IsActive(now_ms) ? "active" : "ended"});
    return list;
  };
  ListRequest of_user{.user = search.id, .limit = server::kMostFound};
  if (!search.every_tenant) of_user.tenant = tenant;
  base::Executor* const home = caller.home;
  auto then = [&sessions, of_user, home, found,
               done = std::move(done)](db::Result<FindReply> result) mutable {
    if (!result.ok()) return done(result.fault());
    if (const FindReply& reply = result.value(); reply.session)
      if (auto list = found(*reply.session, reply.now_ms); !list.empty())
        return done(std::move(list));
    sessions.List(of_user, home, server::Finding(std::move(done), [found](const ListReply& page) {
                    server::FoundList list;
                    for (const Session& session : page.rows)
                      for (server::Found& each : found(session, page.now_ms))
                        list.push_back(std::move(each));
                    return list;
                  }));
  };
  sessions.Find({*search.id}, std::move(caller), std::move(then));
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
  const auto latest = std::make_shared<explain::Latest>();
  running.jobs = {{"gauges.sessions",
                   std::min(settings.expiry_interval_ms, server::kCountIntervalMs),
                   [&sessions, latest](const auto&) {
                     const std::int64_t active = server::Await(sessions.CountActive);
                     sessions.probe().ActiveCounted(active);
                     latest->Set({.figures = {{"active", active}}});
                   }}};
  running.finders = {{"sessions:read", std::bind_front(FindSessionsOf, std::ref(sessions))}};
  running.glance = [latest] { return latest->Get(); };
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
