#include "jobs/capability.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "jobs/jobs.hpp"
#include "jobs_sql/queries.hpp"
#include "server/capability.hpp"

namespace tenure::jobs {
namespace {

using server::TaskRun;

constexpr std::int64_t kRecomputeIntervalMs = 86'400'000;

struct Process {
  Process(const server::Parts& parts, messages::Messages& messages)
      : jobs(parts.store, messages, parts.wake, ChangeLimits(), parts.metrics),
        scheduler(jobs, parts.settings.messages.poll_max_ms) {}

  Jobs jobs;
  Scheduler scheduler;
};

/// Two intervals after the time for which a watched job succeeded last, or after it was made.
std::int64_t ExpectedMs(const WatchedJob& job, const calendar::Zones& zones) {
  const Definition& definition = job.row.definition;
  if (!definition.enabled || job.row.paused_ms > 0) return 0;
  const auto times = Times::Of(definition, job.row.created_ms, zones);
  if (!times) return 0;
  const std::int64_t from_ms = std::max(job.success_for_ms + 1, job.row.since_ms);
  const auto next = times->List(from_ms, messages::kLastDueMs, 2);
  return next.size() < 2 ? 0 : next.back().time_ms;
}

void Count(Jobs& jobs) {
  const Figures figures = server::Await(jobs.Count);
  jobs.probe().Counted(figures.jobs, figures.overdue_ms, figures.failing);
  const auto zones = jobs.zones().Get();
  std::vector<Watched> watched;
  for (const WatchedJob& job : server::Await(jobs.Watch).jobs)
    watched.push_back({job.row.key, job.success_ms, ExpectedMs(job, *zones)});
  jobs.probe().WatchedAre(watched);
}

/// By newer tzdata a job's next time may be another one.
void Recompute(Jobs& jobs, const TaskRun& run) {
  jobs.zones().Renew();
  base::Caller caller = run.caller;
  caller.actor = std::make_shared<const base::Actor>(
      base::Actor{.act = "job.recompute", .tenant = "default", .person = "tenure"});
  std::int64_t changed = 0;
  NamesRequest page;
  while (true) {
    if (run.stop.stop_requested())
      throw base::Fault(base::FaultKind::kStopping, "was told to stop before it was complete");
    const NamesReply names = server::Await(jobs.FindFuture, page);
    for (const JobKey& key : names.keys) {
      base::Caller as = caller;
      auto actor = *caller.actor;
      actor.tenant = key.tenant;
      as.actor = std::make_shared<const base::Actor>(std::move(actor));
      const auto outcome = server::Await<JobOutcome>(
          [&](auto done) { jobs.Change(RecomputeCommand{key}, as, std::move(done)); });
      if (outcome.kind == JobOutcome::Kind::kDone) {
        ++changed;
        base::LogInfo("jobs.recomputed", "newer tzdata moves a job's next run",
                      {{"tenant", key.tenant}, {"job", key.name}});
      }
    }
    if (std::ssize(names.keys) < page.limit) break;
    page.after = names.keys.back();
  }
  if (changed > 0)
    base::LogInfo("jobs.recompute", "jobs were computed anew",
                  {{"tzdata", jobs.zones().Get()->version()}, {"jobs", changed}});
}

server::Running Run(const server::Parts& parts, const server::Others& others) {
  const auto process = std::make_shared<Process>(parts, others.Of<messages::Messages>());
  Jobs& jobs = process->jobs;
  server::Running running;
  running.object = std::shared_ptr<void>(process, &jobs);
  running.type = typeid(Jobs);
  running.add_routes = [routes = RouteParts{jobs, parts.settings.messages.payload_max_bytes}](
                           http::Router& router) { AddRoutes(router, routes); };
  running.tasks = {
      {"jobs.retention", server::kRetentionIntervalMs,
       [&jobs](const TaskRun& run) {
         jobs.probe().Forgotten(server::SweepAll(
             run, jobs.ForgetSome, {},
             {"jobs.forgotten", "removed runs of jobs after their retention", "runs"}));
       }},
      {"jobs.recompute", kRecomputeIntervalMs,
       [&jobs](const TaskRun& run) { Recompute(jobs, run); }}};
  running.jobs = {{"gauges.jobs", server::kCountIntervalMs, [&jobs](const auto&) { Count(jobs); }}};
  running.write_health = [&jobs](base::JsonWriter& json) {
    json.Key("jobs").BeginObject();
    json.Field("tzdata", std::string_view(jobs.zones().Get()->version())).EndObject();
  };
  if (parts.settings.workers) running.start = [process] { process->scheduler.Start(); };
  running.stop_waiting = [process] { process->scheduler.Stop(); };
  return running;
}

}  // namespace

server::Capability Capability() {
  return {.name = "jobs",
          .needs = {"messages"},
          .queries = sql::All(),
          .rate = &config::RateLimitSettings::messages,
          .commands = Commands,
          .run = Run};
}

}  // namespace tenure::jobs
