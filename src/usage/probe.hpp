#pragma once

#include <cstdint>

#include "telemetry/metrics.hpp"

namespace tenure::usage {

/// The metrics of usage, as verbs.
class Probe {
 public:
  explicit Probe(telemetry::Registry& metrics);

  void Sealed(std::int64_t late_ms) { lateness_.ObserveMs(late_ms); }
  void Acknowledged() { acknowledged_.Add(); }
  void Halved() { halved_.Add(); }
  void Refused() { refused_.Add(); }
  void Failed() { failed_.Add(); }
  void UnsentCounted(std::int64_t records, std::int64_t refused_records) {
    unsent_.Set(records);
    refused_records_.Set(refused_records);
  }

 private:
  telemetry::Counter& acknowledged_;
  telemetry::Counter& halved_;
  telemetry::Counter& refused_;
  telemetry::Counter& failed_;
  telemetry::Histogram& lateness_;
  telemetry::Gauge& unsent_;
  telemetry::Gauge& refused_records_;
};

}  // namespace tenure::usage
