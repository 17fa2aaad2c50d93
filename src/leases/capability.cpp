#include "leases/capability.hpp"

#include <algorithm>

#include "base/log.hpp"
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
  running.jobs = {{"gauges.leases", server::kCountIntervalMs, [&leases](const auto&) {
                     leases.probe().ActiveCounted(server::Await<CountReply>([&](auto done) {
                                                    leases.CountActive(std::move(done));
                                                  }).active);
                   }}};
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
