#include "sessions/probe.hpp"

namespace tenure::sessions {

Probe::Probe(telemetry::Registry& metrics)
    : created_(metrics.GetCounter("sessions_created_total", "Sessions that were created.")),
      upgraded_(metrics.GetCounter("sessions_upgraded_total",
                                   "Sessions that replaced one of a lower kind.")),
      existing_(metrics.GetCounter("tenure_sessions_existing_total",
                                   "PUT requests that found their session active.")),
      foreign_(metrics.GetCounter(
          "tenure_sessions_foreign_total",
          "PUT requests refused because another tenant has the active session.")),
      contention_(metrics.GetCounter(
          "sessions_contention_total",
          "PUT requests that found a session under the lock which a look before had not seen.")),
      deleted_(metrics.GetCounter("tenure_sessions_deleted_total", "Sessions ended by DELETE.")),
      expired_(metrics.GetCounter("tenure_sessions_expired_total", "Sessions marked as expired.")),
      removed_(metrics.GetCounter("tenure_sessions_removed_total",
                                  "Ended sessions removed after their retention.")),
      active_(metrics.GetGauge("sessions_active", "Active sessions, counted every minute.")),
      expiry_duration_(metrics.GetHistogram(
          "sessions_expiry_duration_seconds", "Time of one run that marks overdue sessions.",
          telemetry::LatencyBounds(), telemetry::kMicrosPerSecond)) {}

}  // namespace tenure::sessions
