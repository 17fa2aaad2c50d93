#pragma once

#include "telemetry/metrics.hpp"

namespace tenure::sessions {

/// The metrics of sessions, as verbs.
class Probe {
 public:
  explicit Probe(telemetry::Registry& metrics);

  void Created() { created_.Add(); }
  void Upgraded() { upgraded_.Add(); }
  void Existing() { existing_.Add(); }
  void RefusedForeign() { foreign_.Add(); }
  /// A look found nothing, and under the lock there was a session: somebody else was faster.
  void Contended() { contention_.Add(); }
  void Deleted() { deleted_.Add(); }
  void Expired(std::size_t count, std::int64_t micros) {
    expired_.Add(count);
    expiry_duration_.Observe(micros);
  }
  void Removed(std::size_t count) { removed_.Add(count); }
  void ActiveCounted(std::int64_t count) { active_.Set(count); }

 private:
  telemetry::Counter& created_;
  telemetry::Counter& upgraded_;
  telemetry::Counter& existing_;
  telemetry::Counter& foreign_;
  telemetry::Counter& contention_;
  telemetry::Counter& deleted_;
  telemetry::Counter& expired_;
  telemetry::Counter& removed_;
  telemetry::Gauge& active_;
  telemetry::Histogram& expiry_duration_;
};

}  // namespace tenure::sessions
