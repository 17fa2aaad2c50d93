#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>

#include "base/mutex.hpp"
#include "push/answer.hpp"
#include "push/reads.hpp"
#include "telemetry/metrics.hpp"

namespace tenure::push {

/// The metrics of push, as verbs.
class Probe {
 public:
  explicit Probe(telemetry::Registry& metrics);

  void Began() { in_flight_.Add(1); }
  void Ended(const Judgement& judgement, std::int64_t took_ms);
  void Delivering(std::int64_t subscriptions) { delivering_.Set(subscriptions); }
  void Counted(const Figures& figures);
  /// So many are still sealed by a key that is not the first.
  void Sealed(std::int64_t subscriptions);
  Figures figures() const;
  std::int64_t in_flight() const { return in_flight_.value(); }
  std::int64_t sealed() const { return sealed_; }
  std::int64_t delivering() const { return delivering_.value(); }

 private:
  telemetry::Registry& metrics_;
  telemetry::Counter& delivered_;
  std::map<std::string, telemetry::Counter*, std::less<>> failed_;
  telemetry::Gauge& in_flight_;
  telemetry::Gauge& delivering_;
  telemetry::Gauge& open_;
  telemetry::Gauge& disabled_;
  std::atomic<std::int64_t> sealed_{0};
  telemetry::Histogram& latency_;
  mutable base::Mutex mutex_;
  Figures figures_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure::push
