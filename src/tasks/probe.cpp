#include "tasks/probe.hpp"

#include <algorithm>

namespace tenure::tasks {

void Probe::Began(const std::string& task, const leases::TaskRun& run, bool first_run) {
  auto& lateness = metrics_.GetHistogram(
      "task_lateness_seconds", "From a run's nominal time to its beginning.",
      telemetry::LatencyBounds(), telemetry::kMicrosPerSecond, {{"task", task}});
  if (!first_run)
    lateness.Observe(std::max<std::int64_t>(0, run.lock.now_ms - run.nominal_ms) * 1'000);
  metrics_
      .GetCounter("task_stale_locks_reclaimed_total",
                  "Runs that were taken over from a process that did not finish them.",
                  {{"task", task}})
      .Add(run.reclaimed ? 1 : 0);
}

void Probe::Finished(const std::string& task, bool failed) {
  metrics_
      .GetCounter("task_runs_total", "Runs of reliable tasks that ended, by result.",
                  {{"task", task}, {"result", failed ? "failed" : "complete"}})
      .Add();
}

void Probe::LockAge(const std::string& task, std::int64_t age_ms) {
  metrics_
      .GetGauge("task_lock_age_seconds", "How long a task's lock has been held; 0: it is free.",
                {{"task", task}})
      .Set(age_ms / 1'000);
}

}  // namespace tenure::tasks
