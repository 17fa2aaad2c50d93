#include "leases/capability.hpp"

#include <algorithm>
#include <functional>

#include "base/log.hpp"
#include "leases/explain.hpp"
#include "leases/fence_check.hpp"
#include "leases/leases.hpp"
#include "leases/routes.hpp"
#include "leases_sql/queries.hpp"
#include "server/capability.hpp"

namespace tenure::leases {
namespace {

using server::TaskRun;

struct Process {
  explicit Process(const server::Parts& parts)
      : fence_check(&parts.store.evidence()),
        leases(parts.store, parts.wake, parts.process, parts.clock, parts.metrics) {}

  LeaseFenceCheck fence_check;
  Leases leases;
};

void Tidy(Leases& leases, const config::LeaseSettings& settings, const TaskRun& run) {
  TidyRequest request{settings.history_ms, settings.retention_ms, {}};
  const std::int64_t rows = server::RunToTheEnd<TidyReply>(run, [&](auto done) {
    leases.TidySome(request, run.caller,
                    [&request, done = std::move(done)](db::Result<TidyReply> result) mutable {
                      if (result.ok()) request.after = result.value().after;
                      done(std::move(result));
                    });
  });
  if (rows > 0)
    base::LogInfo("leases.tidied", "forgot past grants and unused names", {{"rows", rows}});
}

void FindNames(Leases& leases, const server::Search& search, base::Caller caller,
               server::Finder::Done done) {
  if (!search.MayBegin() || !IsLeaseName(search.text)) return done(server::FoundList());
  PageRequest request;
  request.tenant = search.tenant;
  request.prefix = search.text;
  request.limit = server::kMostFound;
  leases.List(std::move(request), std::move(caller),
              server::Finding(std::move(done), [](const PageReply& page) {
                server::FoundList found;
                for (const LeaseView& lease : page.rows)
                  found.push_back({"lease", lease.name, lease.holder, Explain(lease).state});
                return found;
              }));
}

server::Running Run(const server::Parts& parts, const server::Others&) {
  const config::LeaseSettings& settings = parts.settings.leases;
  const auto process = std::make_shared<Process>(parts);
  Leases& leases = process->leases;
  parts.store.SetFenceCheck(process->fence_check);
  server::Running running;
  running.object = {process, &leases};
  running.type = typeid(Leases);
  running.add_routes = [&leases](http::Router& router) { AddRoutes(router, leases); };
  running.tasks = {{"leases.retention", std::min(settings.history_ms, server::kRetentionIntervalMs),
                    [&leases, &settings](const TaskRun& run) { Tidy(leases, settings, run); }}};
  const auto latest = std::make_shared<explain::Latest>();
  running.jobs = {{"gauges.leases", server::kCountIntervalMs, [&leases, latest](const auto&) {
                     const auto counted = server::Await<CountReply>(
                         [&](auto done) { leases.CountActive(std::move(done)); });
                     leases.probe().ActiveCounted(counted.active);
                     latest->Set({.figures = {{"held", counted.active}}});
                   }}};
  running.glance = [latest] { return latest->Get(); };
  running.finders = {{"leases:read", std::bind_front(FindNames, std::ref(leases))}};
  running.stop_waiting = [&leases] { leases.StopWaiting(); };
  return running;
}

}  // namespace

server::Capability Capability() {
  return {.name = "leases",
          .queries = sql::All(),
          .rate = &config::RateLimitSettings::leases,
          .commands = Commands,
          .run = Run};
}

}  // namespace tenure::leases
