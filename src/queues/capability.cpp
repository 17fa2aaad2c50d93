#include "queues/capability.hpp"

#include <algorithm>
#include <functional>

#include "messages/messages.hpp"
#include "queues/attention.hpp"
#include "queues/explain.hpp"
#include "queues/http/routes.hpp"
#include "queues/queues.hpp"
#include "queues_sql/queries.hpp"

namespace tenure::queues {
namespace {

using server::TaskRun;

constexpr std::int64_t kCountedEveryMs = 5'000;

/// History ends, sessions that nobody uses go, and queues whose bots are gone.
void RunRetention(Queues& queues, std::int64_t session_retention_ms, const TaskRun& run) {
  TidyRequest part{{}, session_retention_ms};
  std::int64_t messages = 0, sessions = 0;
  for (bool more = true; more;) {
    if (run.stop.stop_requested())
      throw base::Fault(base::FaultKind::kStopping, "was told to stop before it was complete");
    const auto reply = server::Await<TidyReply>(
        [&](auto done) { queues.Tidy(part, run.caller, std::move(done)); });
    messages += reply.messages;
    sessions += reply.sessions;
    part.after = reply.last;
    more = reply.has_more;
  }
  if (messages > 0 || sessions > 0)
    base::LogInfo("queues.tidied", "forgot history and sessions that nobody uses",
                  {{"messages", messages}, {"sessions", sessions}});
  server::SweepAll(run, queues.ForgetSome, {},
                   {"queues.forgotten", "forgot dedup keys and replayed letters", "rows"});
  server::SweepAll(run, queues.DropSome, {},
                   {"queues.dropped", "dropped queues whose bots are gone", "queues"});
}

/// What users' transactions sent enters its sessions also when nobody asks for it.
void DrainAll(Queues& queues) {
  for (const DrainRequest& queue : server::Await(queues.FindQueuesToDrain).queues)
    server::Await(queues.Drain, queue);
}

void FindNames(Queues& queues, const server::Search& search, base::Caller caller,
               server::Finder::Done done) {
  if (search.text.size() > kMaxNameBytes) return done(server::FoundList());
  QueuesRequest request;
  request.tenant = search.tenant;
  (search.MayBegin() ? request.begins : request.name) = search.text;
  request.limit = server::kMostFound;
  queues.List(std::move(request), std::move(caller),
              server::Finding(std::move(done), [](const db::Page<QueueView>& page) {
                server::FoundList found;
                for (const QueueView& each : page.rows)
                  found.push_back({"queue", each.queue.name, each.queue.name, Explain(each).state});
                return found;
              }));
}

void FindSessionById(Queues& queues, const server::Search& search, base::Caller caller,
                     server::Finder::Done done) {
  if (!search.id) return done(server::FoundList());
  SessionsRequest session;
  session.tenant = search.tenant;
  session.id = search.id;
  session.limit = 1;
  base::Executor* const home = caller.home;
  auto then = [&queues, session, home,
               done = std::move(done)](db::Result<OwnerReply> owner) mutable {
    if (!owner.ok()) return done(owner.fault());
    if (owner.value().queue.empty()) return done(server::FoundList());
    session.queue = owner.value().queue;
    queues.ListSessions(
        std::move(session), home,
        server::Finding(std::move(done), [](const db::Page<SessionView>& page) {
          server::FoundList found;
          for (const SessionView& each : page.rows)
            found.push_back({"queue-session", each.session.id.ToString(),
                             each.queue.name + ": " + each.session.name, Explain(each).state});
          return found;
        }));
  };
  queues.FindOwner({search.tenant, *search.id}, std::move(caller), std::move(then));
}

server::Running Run(const server::Parts& parts, const server::Others& others) {
  const config::Settings& settings = parts.settings;
  const auto object =
      std::make_shared<Queues>(parts.store, parts.wake, others.Of<messages::Messages>(),
                               parts.clock, &parts.metrics, &parts.tracer);
  Queues& queues = *object;
  server::Running running;
  running.object = object;
  running.type = typeid(Queues);
  running.add_routes = [routes = RouteParts{queues, settings.messages.payload_max_bytes}](
                           http::Router& router) { AddRoutes(router, routes); };
  const std::int64_t retention_ms = settings.queues.session_retention_ms;
  running.tasks = {
      {"queues.retention", std::min(retention_ms, server::kRetentionIntervalMs),
       [&queues, retention_ms](const TaskRun& run) { RunRetention(queues, retention_ms, run); }}};
  const auto latest = std::make_shared<explain::Latest>();
  running.jobs = {{"gauges.queues", kCountedEveryMs, [&queues, latest](const auto&) {
                     const FiguresReply figures = server::Await(queues.Count);
                     queues.probe()->Counted(figures);
                     latest->Set(GlanceOf(figures));
                   }}};
  running.glance = [latest] { return latest->Get(); };
  running.finders = {{"queues:read", std::bind_front(FindNames, std::ref(queues))},
                     {"queues:read", std::bind_front(FindSessionById, std::ref(queues))}};
  running.write_health = [&queues](base::JsonWriter& json) {
    const Probe::Health health = queues.probe()->health();
    json.Key("queues")
        .BeginObject()
        .Field("messages", health.messages)
        .Field("ready_sessions", health.ready)
        .Field("held_sessions", health.held)
        .Field("parked_sessions", health.parked)
        .Field("oldest_ready_seconds", health.oldest_seconds)
        .EndObject();
  };
  if (parts.store.engine().name() == "postgres")
    running.jobs.push_back({"queues.drain", settings.messages.poll_max_ms,
                            [&queues](const auto&) { DrainAll(queues); }});
  return running;
}

}  // namespace

server::Capability Capability() {
  return {.name = "queues",
          .needs = {"messages"},
          .queries = sql::All(),
          .rate = &config::RateLimitSettings::queues,
          .commands = Commands,
          .run = Run};
}

}  // namespace tenure::queues
