#pragma once

#include <cstdint>

#include "telemetry/metrics.hpp"
#include "tenure/leases/types.hpp"

namespace tenure::leases {

/// The metrics of leases, as verbs. The names are those of the source document.
class Probe {
 public:
  explicit Probe(telemetry::Registry& metrics);

  void Acquired(const AcquireOutcome& outcome, std::int64_t duration_ms);
  void Renewed(const RenewOutcome& outcome);
  void Released(const ReleaseOutcome& outcome);
  /// A grant ended without its holder's doing.
  void Lost(LossReason reason, std::int64_t count);
  void Waiting(std::int64_t count) { waiting_.Set(count); }
  void ActiveCounted(std::int64_t count) { active_.Set(count); }

 private:
  telemetry::Counter& granted_;
  telemetry::Counter& held_;
  telemetry::Counter& ended_;
  telemetry::Histogram& acquisition_duration_;
  telemetry::Counter& renewals_;
  telemetry::Counter& renewal_failures_;
  telemetry::Counter& released_;
  telemetry::Counter& expired_;
  telemetry::Counter& broken_;
  telemetry::Gauge& waiting_;
  telemetry::Gauge& active_;
};

}  // namespace tenure::leases
