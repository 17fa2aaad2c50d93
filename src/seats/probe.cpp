#include "seats/probe.hpp"

namespace tenure::seats {
namespace {

constexpr const char* kFailures = "license_acquire_failures_total";
constexpr const char* kFailuresHelp = "Requests for a seat that were refused, by reason.";
constexpr const char* kRefusals[] = {"full",     "revoked",   "frozen",       "expired",
                                     "inactive", "not_found", "machine_held", "rate_limited"};
constexpr const char* kHeartbeats = "license_heartbeats_total";
constexpr const char* kHeartbeatsHelp = "Heartbeats of seats, by outcome.";
constexpr const char* kBeatOutcomes[] = {"renewed", "revived",   "lost",
                                         "unknown", "forgotten", "unheard"};
constexpr const char* kResumes = "license_resumes_total";
constexpr const char* kResumesHelp =
    "Seats that the same machine took up again, by whether its former process may still be "
    "running.";
constexpr const char* kOffers = "license_offers_total";
constexpr const char* kOffersHelp = "Seats that were offered to the line, by what became of it.";

std::vector<telemetry::Counter*> CountersOf(telemetry::Registry& metrics, const char* name,
                                            const char* help, const char* label,
                                            std::span<const char* const> values) {
  std::vector<telemetry::Counter*> counters;
  for (const char* value : values)
    counters.push_back(&metrics.GetCounter(name, help, {{label, value}}));
  return counters;
}

telemetry::Counter& EntryCounter(telemetry::Registry& metrics, const std::string& kind) {
  return metrics.GetCounter("license_log_entries_total", "Entries of the licences' logs, by kind.",
                            {{"kind", kind}});
}

}  // namespace

Probe::Probe(telemetry::Registry& metrics)
    : metrics_(metrics),
      requests_(metrics.GetCounter("license_acquire_requests_total", "Requests for a seat.")),
      failures_(CountersOf(metrics, kFailures, kFailuresHelp, "reason", kRefusals)),
      heartbeat_latency_(metrics.GetHistogram(
          "session_heartbeat_latency_seconds", "From a heartbeat's arrival to the store's answer.",
          telemetry::LatencyBounds(), telemetry::kMicrosPerSecond)),
      heartbeats_(CountersOf(metrics, kHeartbeats, kHeartbeatsHelp, "outcome", kBeatOutcomes)),
      resumes_live_(metrics.GetCounter(kResumes, kResumesHelp, {{"live", "true"}})),
      resumes_vouched_(metrics.GetCounter(kResumes, kResumesHelp, {{"live", "false"}})),
      waiting_(
          metrics.GetGauge("license_waiting", "Requests of this process that wait for a seat.")),
      wait_(metrics.GetHistogram("license_wait_seconds", "How long a request waited for its seat.",
                                 telemetry::LatencyBounds(), telemetry::kMicrosPerSecond)),
      offers_taken_(metrics.GetCounter(kOffers, kOffersHelp, {{"outcome", "taken"}})),
      offers_missed_(metrics.GetCounter(kOffers, kOffersHelp, {{"outcome", "missed"}})) {
  for (int kind = 0; kind <= static_cast<int>(LogKind::kLogCheckpoint); ++kind) {
    const std::string text(ToText(static_cast<LogKind>(kind)));
    entries_[text] = &EntryCounter(metrics, text);
  }
}

void Probe::Acquired(const AcquireOutcome& outcome) {
  if (const auto* grant = std::get_if<Grant>(&outcome)) {
    if (grant->resumed) (grant->former_vouched ? resumes_vouched_ : resumes_live_).Add();
    if (grant->picked_up) offers_taken_.Add();
  }
}

void Probe::Beaten(const HeartbeatOutcome& outcome) {
  std::size_t which = outcome.index() + 1;
  if (const auto* beat = std::get_if<Beat>(&outcome)) which = beat->revived ? 1 : 0;
  heartbeats_[which]->Add();
}

void Probe::Logged(const std::vector<std::string>& kinds) {
  for (const std::string& kind : kinds) {
    const auto found = entries_.find(kind);
    if (found != entries_.end()) found->second->Add();
  }
}

void Probe::Levels(std::span<const Level> levels) {
  std::vector<std::pair<telemetry::Labels, std::int64_t>> used, total;
  for (const Level& level : levels) {
    const telemetry::Labels labels{{"license_id", level.license}};
    used.emplace_back(labels, level.used);
    total.emplace_back(labels, level.total);
  }
  metrics_.ReplaceGauges("license_seats_used", "Seats of a licence that are in use.", used);
  metrics_.ReplaceGauges("license_seats_total", "Seats of a licence.", total);
}

void Probe::Swept(std::int64_t now_ms, std::int64_t oldest_look_ms) {
  last_sweep_.store(now_ms);
  oldest_look_.store(oldest_look_ms);
}

}  // namespace tenure::seats
