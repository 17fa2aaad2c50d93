#include "jobs/probe.hpp"

#include <utility>

namespace tenure::jobs {

Probe::Probe(telemetry::Registry& metrics)
    : metrics_(metrics),
      lateness_(metrics.GetHistogram(
          "jobs_lateness_seconds",
          "From when a run was to be written (its nominal time and the job's delay) to the commit "
          "that wrote it.",
          telemetry::LatencyBounds(), telemetry::kMicrosPerSecond)),
      done_(metrics.GetCounter("jobs_runs_total", "Runs that are over.", {{"status", "done"}})),
      dead_(metrics.GetCounter("jobs_runs_total", "Runs that are over.", {{"status", "dead"}})),
      jobs_(metrics.GetGauge("tenure_jobs", "Jobs, counted every minute, to 100,000.")),
      overdue_(metrics.GetGauge("tenure_jobs_overdue_seconds",
                                "For how long the most overdue job has been due.")),
      failing_(metrics.GetGauge("tenure_jobs_failing", "Jobs whose last three runs are dead.")),
      forgotten_(metrics.GetCounter("tenure_jobs_runs_forgotten_total",
                                    "Runs that were removed after their retention.")) {
  for (const RunKind kind : {RunKind::kSchedule, RunKind::kTrigger, RunKind::kBackfill})
    fired_[static_cast<std::size_t>(kind)] = &metrics.GetCounter(
        "jobs_fired_total", "Runs that were written.", {{"kind", std::string(ToText(kind))}});
  for (const SkipReason reason : {SkipReason::kOverlap, SkipReason::kMissed})
    skipped_[static_cast<std::size_t>(reason)] =
        &metrics.GetCounter("jobs_skipped_total", "Times that were left out.",
                            {{"reason", std::string(ToText(reason))}});
}

void Probe::Made(const NewRun& run) {
  if (run.state == RunState::kSkipped)
    skipped_[static_cast<std::size_t>(run.reason)]->Add(static_cast<std::uint64_t>(run.number));
  else
    fired_[static_cast<std::size_t>(run.kind)]->Add();
}

void Probe::Late(std::int64_t ms) { lateness_.ObserveMs(ms); }

void Probe::Ended(std::span<const messages::EndedMessage> ended) {
  for (const messages::EndedMessage& each : ended) (each.dead ? dead_ : done_).Add();
}

void Probe::Counted(std::int64_t jobs, std::int64_t overdue_ms, std::int64_t failing) {
  jobs_.Set(jobs);
  overdue_.Set(overdue_ms / 1'000);
  failing_.Set(failing);
}

void Probe::WatchedAre(const std::vector<Watched>& watched) {
  std::vector<std::pair<telemetry::Labels, std::int64_t>> successes, expected;
  for (const Watched& each : watched) {
    const telemetry::Labels labels{{"tenant", each.key.tenant}, {"job", each.key.name}};
    if (each.success_ms > 0) successes.emplace_back(labels, each.success_ms / 1'000);
    if (each.expected_ms > 0) expected.emplace_back(labels, each.expected_ms / 1'000);
  }
  metrics_.ReplaceGauges("jobs_last_success_timestamp_seconds",
                         "When a run of a watched job was done last.", successes);
  metrics_.ReplaceGauges("tenure_jobs_success_expected_timestamp_seconds",
                         "By when a watched job should have succeeded again: two intervals after "
                         "its last success.",
                         expected);
}

}  // namespace tenure::jobs
