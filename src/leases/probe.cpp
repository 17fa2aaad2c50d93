#include "leases/probe.hpp"

namespace tenure::leases {
namespace {

constexpr const char* kAcquisitions = "leasing_acquisitions_total";
constexpr const char* kAcquisitionsHelp = "Tries to acquire a lease, by result.";
constexpr const char* kLost = "leasing_leases_lost_total";
constexpr const char* kLostHelp = "Grants that ended without their holder's doing, by reason.";

}  // namespace

Probe::Probe(telemetry::Registry& metrics)
    : granted_(metrics.GetCounter(kAcquisitions, kAcquisitionsHelp, {{"result", "granted"}})),
      held_(metrics.GetCounter(kAcquisitions, kAcquisitionsHelp, {{"result", "held"}})),
      ended_(metrics.GetCounter(kAcquisitions, kAcquisitionsHelp, {{"result", "term_ended"}})),
      acquisition_duration_(metrics.GetHistogram(
          "leasing_acquisition_duration_seconds",
          "From asking the store to its grant; waiting for one's turn does not count.",
          telemetry::LatencyBounds(), telemetry::kMicrosPerSecond)),
      renewals_(metrics.GetCounter("leasing_renewals_total", "Renewals that were asked for.")),
      renewal_failures_(metrics.GetCounter("leasing_renewal_failures_total",
                                           "Renewals that were refused: the lease was lost.")),
      released_(
          metrics.GetCounter("tenure_leasing_releases_total", "Leases released by their holder.")),
      expired_(metrics.GetCounter(kLost, kLostHelp, {{"reason", "expired"}})),
      broken_(metrics.GetCounter(kLost, kLostHelp, {{"reason", "broken"}})),
      waiting_(metrics.GetGauge("tenure_leasing_waiting_requests",
                                "Requests of this process that wait for a lease.")),
      active_(metrics.GetGauge("leasing_active_leases", "Leases held, counted every minute.")) {}

void Probe::Acquired(const AcquireOutcome& outcome, std::int64_t duration_ms) {
  if (std::holds_alternative<Grant>(outcome)) {
    granted_.Add();
    acquisition_duration_.ObserveMs(duration_ms);
  } else if (std::holds_alternative<HeldByAnother>(outcome)) {
    held_.Add();
  } else {
    ended_.Add();
  }
}

void Probe::Renewed(const RenewOutcome& outcome) {
  renewals_.Add();
  if (std::holds_alternative<Loss>(outcome)) renewal_failures_.Add();
}

void Probe::Released(const ReleaseOutcome& outcome) {
  if (outcome.released) released_.Add();
}

void Probe::Lost(LossReason reason, std::int64_t count) {
  (reason == LossReason::kBroken ? broken_ : expired_).Add(static_cast<std::uint64_t>(count));
}

}  // namespace tenure::leases
