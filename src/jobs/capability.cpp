#include "jobs/capability.hpp"

#include <algorithm>
#include <atomic>
#include <functional>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/time_text.hpp"
#include "explain/explanation.hpp"
#include "explain/naming.hpp"
#include "jobs/file_jobs.hpp"
#include "jobs/jobs.hpp"
#include "jobs_sql/queries.hpp"
#include "server/capability.hpp"

namespace tenure::jobs {
namespace {

using server::TaskRun;

/// How often a process looks whether its tzdata was replaced.
constexpr std::int64_t kRenewIntervalMs = 3'600'000;

ChangeLimits LimitsOf(const config::JobSettings& settings) {
  return {.rules = {.missed_after_ms = settings.missed_after_ms},
          .most_jobs = settings.max,
          .retention_ms = settings.retention_ms};
}

ForgetRequest ForgetOf(const config::JobSettings& settings) {
  return {settings.retention_ms, std::min(settings.retention_ms, settings.skipped_retention_ms)};
}

/// As ops/alerts.yaml has it.
constexpr std::int64_t kLateMs = 30'000;

struct Process {
  Process(const server::Parts& parts, messages::Messages& messages)
      : jobs(parts.store, messages, parts.wake, LimitsOf(parts.settings.jobs), parts.metrics,
             calendar::Zones::SystemFolder(), &parts.tracer),
        scheduler(jobs, parts.settings.messages.poll_max_ms) {}

  Jobs jobs;
  Scheduler scheduler;
  std::atomic<bool> is_applied = false;  ///< the jobs of the configuration file
  bool is_computed = false;              ///< next times, by this process's tzdata
};

/// The jobs that the configuration file lists. They were checked at the start.
std::vector<std::string> ApplyFile(Jobs& jobs, const config::Settings& settings) {
  if (!settings.file_jobs) return {};
  config::Problems problems;
  const auto listed = ReadListed(*settings.file_jobs, settings.messages.payload_max_bytes,
                                 *jobs.zones().Get(), problems);
  if (!problems.empty()) throw config::SettingsError(std::move(problems));
  return ApplyListed(jobs, listed);
}

/// At a start; where the store is away it is done later.
void ApplyAtStart(Process& process, const config::Settings& settings) {
  if (process.is_applied) return;
  try {
    for (const std::string& sentence : ApplyFile(process.jobs, settings))
      base::LogInfo("jobs.applied", sentence);
    process.is_applied = true;
  } catch (const base::UserError& error) {
    process.is_applied = true;  // it would not be otherwise a minute later
    base::LogError("jobs.not_applied", "the jobs of the configuration file were not applied",
                   {{"detail", error.what()}});
  } catch (const base::Fault& fault) {
    base::LogWarn("jobs.apply_failed", "the jobs of the configuration file are applied later",
                  {{"detail", fault.what()}});
  }
}

void Check(const config::Settings& settings, config::Problems& problems) {
  if (settings.file_jobs)
    ReadListed(*settings.file_jobs, settings.messages.payload_max_bytes, calendar::Zones(),
               problems);
}

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

explain::Glance GlanceOf(const Figures& figures, const std::vector<Watched>& watched,
                         std::int64_t now_ms) {
  explain::Glance glance{.figures = {{"jobs", figures.jobs},
                                     {"failing", figures.failing},
                                     {"overdue_seconds", figures.overdue_ms / 1'000}}};
  if (figures.overdue_ms > kLateMs)
    glance.concerns.push_back(
        {.name = "TenureJobsLate",
         .sentence = fmt::format("A job is {} late: no process with workers fires it.",
                                 base::SpanText(figures.overdue_ms)),
         .since_ms = now_ms - figures.overdue_ms,
         .link = "/jobs",
         .command = "tenure job list"});
  if (figures.failing > 0)
    glance.concerns.push_back(
        {.name = "TenureJobFailing",
         .sentence = fmt::format("The last three runs of {} are dead.",
                                 explain::Counted(figures.failing, "one job", "jobs")),
         .link = "/jobs",
         .command = "tenure job list"});
  explain::Naming naming;
  for (const Watched& job : watched)
    if (job.expected_ms > 0 && job.expected_ms < now_ms && naming.Takes(job.key.tenant))
      glance.concerns.push_back(
          {.name = "TenureJobMissedSuccess",
           .tenant = job.key.tenant,
           .sentence = fmt::format("{} should have succeeded by {}.", job.key.name,
                                   base::UtcText(job.expected_ms)),
           .since_ms = job.expected_ms,
           .link = "/jobs/" + job.key.name,
           .command = "tenure why job " + job.key.name,
           .others = "jobs that did not succeed for two intervals"});
  return glance;
}

void Count(Jobs& jobs, explain::Latest& latest) {
  const Figures figures = server::Await(jobs.Count);
  jobs.probe().Counted(figures.jobs, figures.overdue_ms, figures.failing);
  const auto zones = jobs.zones().Get();
  std::vector<Watched> watched;
  for (const WatchedJob& job : server::Await(jobs.Watch).jobs)
    watched.push_back({job.row.key, job.success_ms, ExpectedMs(job, *zones)});
  jobs.probe().WatchedAre(watched);
  latest.Set(GlanceOf(figures, watched, jobs.clock().WallMs()));
}

/// Jobs whose next time is another one by the tzdata that this process has. Any number of processes
/// may do so: the second one finds nothing to change.
void Recompute(Jobs& jobs, const std::atomic<bool>& stopping) {
  const auto zones = jobs.zones().Get();
  std::int64_t changed = 0;
  NamesRequest page;
  while (!stopping) {
    const FutureReply future = server::Await(jobs.FindFuture, page);
    for (const JobRow& job : future.jobs) {
      // A look without a lock; most are as they were.
      Ledger look(job, {}, Times::Of(job.definition, job.created_ms, *zones), {},
                  jobs.clock().WallMs());
      if (!look.Recompute()) continue;
      base::Caller caller;
      caller.actor = std::make_shared<const base::Actor>(
          base::Actor{.act = "job.recompute", .tenant = job.key.tenant, .person = "tenure"});
      const auto outcome = server::Await<JobOutcome>(
          [&](auto done) { jobs.Change(RecomputeCommand{job.key}, caller, std::move(done)); });
      if (outcome.kind != JobOutcome::Kind::kDone) continue;
      ++changed;
      base::LogInfo("jobs.recomputed", "newer tzdata moves a job's next run",
                    {{"tenant", job.key.tenant}, {"job", job.key.name}});
    }
    if (std::ssize(future.jobs) < page.limit) break;
    page.after = future.jobs.back().key;
  }
  if (changed > 0)
    base::LogInfo("jobs.recompute", "jobs were computed anew",
                  {{"tzdata", zones->version()}, {"jobs", changed}});
}

/// At a start, and when tzdata was replaced: each process has its own.
void RenewZones(Process& process, bool may_change, const std::atomic<bool>& stopping) {
  const bool is_renewed = process.jobs.zones().Renew();
  if (!may_change || (process.is_computed && !is_renewed)) return;
  process.is_computed = false;
  Recompute(process.jobs, stopping);
  process.is_computed = true;
}

void FindNames(Jobs& jobs, const server::Search& search, base::Caller caller,
               server::Finder::Done done) {
  if (!search.MayBegin() || !IsJobName(search.text)) return done(server::FoundList());
  JobsRequest request;
  request.tenant = search.tenant;
  request.after = server::JustBefore(search.text);
  request.limit = server::kMostFound;
  jobs.List(std::move(request), std::move(caller),
            server::Finding(std::move(done), [text = search.text](const db::Page<JobView>& page) {
              server::FoundList found;
              for (const JobView& job : page.rows)
                if (job.row.key.name.starts_with(text))
                  found.push_back({"job", job.row.key.name, job.row.definition.topic,
                                   !job.row.definition.enabled ? "disabled"
                                   : job.row.paused_ms > 0     ? "paused"
                                                               : "scheduled"});
              return found;
            }));
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
       [&jobs, forget = ForgetOf(parts.settings.jobs)](const TaskRun& run) {
         jobs.probe().Forgotten(server::SweepAll(
             run, jobs.ForgetSome, forget,
             {"jobs.forgotten", "removed runs of jobs after their retention", "runs"}));
       }}};
  const auto latest = std::make_shared<explain::Latest>();
  running.finders = {{"jobs:read", std::bind_front(FindNames, std::ref(jobs))}};
  running.glance = [latest] { return latest->Get(); };
  running.jobs = {
      {"gauges.jobs", server::kCountIntervalMs,
       [&jobs, latest](const auto&) { Count(jobs, *latest); }},
      {"jobs.apply", server::kOftenMs,
       [process, &settings = parts.settings](const auto&) { ApplyAtStart(*process, settings); }},
      {"jobs.zones", kRenewIntervalMs,
       [process, may_change = parts.settings.workers](const auto& stopping) {
         RenewZones(*process, may_change, stopping);
       }}};
  running.apply = [&jobs, &settings = parts.settings] { return ApplyFile(jobs, settings); };
  running.write_health = [&jobs](base::JsonWriter& json) {
    json.Key("jobs").BeginObject();
    json.Field("tzdata", std::string_view(jobs.zones().Get()->version())).EndObject();
  };
  running.start = [process, &settings = parts.settings] {
    ApplyAtStart(*process, settings);
    if (settings.workers) process->scheduler.Start();
  };
  running.stop_waiting = [process] { process->scheduler.Stop(); };
  return running;
}

}  // namespace

server::Capability Capability() {
  return {.name = "jobs",
          .needs = {"messages"},
          .queries = sql::All(),
          .rate = &config::RateLimitSettings::jobs,
          .commands = Commands,
          .run = Run,
          .check = Check,
          .applies = true};
}

}  // namespace tenure::jobs
