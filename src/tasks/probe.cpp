#include "tasks/probe.hpp"

#include <algorithm>
#include <array>

namespace tenure::tasks {
namespace {

/// From a tenth of a second to five minutes.
constexpr std::array<std::int64_t, 6> kLatenessBounds{100'000,    1'000'000,  5'000'000,
                                                      30'000'000, 60'000'000, 300'000'000};

}  // namespace

std::string Probe::LabelOf(const TaskKey& task) {
  return task.tenant == kOwnTenant ? task.name : "other";
}

void Probe::Began(const TaskKey& key, const leases::TaskRun& run, bool first_run) {
  const std::string task = LabelOf(key);
  auto& lateness = metrics_.GetHistogram(
      "tenure_task_lateness_seconds", "From a run's nominal time to its beginning.",
      kLatenessBounds, telemetry::kMicrosPerSecond, {{"task", task}});
  if (!first_run)
    lateness.Observe(std::max<std::int64_t>(0, run.lock.now_ms - run.nominal_ms) * 1'000);
  metrics_
      .GetCounter("task_stale_locks_reclaimed_total",
                  "Runs that were taken over from a process that did not finish them.",
                  {{"task", task}})
      .Add(run.reclaimed ? 1 : 0);
}

void Probe::Finished(const TaskKey& key, bool failed) {
  metrics_
      .GetCounter("tenure_task_runs_total", "Runs of reliable tasks that ended, by result.",
                  {{"task", LabelOf(key)}, {"result", failed ? "failed" : "complete"}})
      .Add();
}

void Probe::LockAge(const std::string& task, std::int64_t age_ms) {
  metrics_
      .GetGauge("task_lock_age_seconds", "How long a task's lock has been held; 0: it is free.",
                {{"task", task}})
      .Set(age_ms / 1'000);
}

}  // namespace tenure::tasks
