#pragma once

#include <cstdint>

#include "telemetry/metrics.hpp"

namespace tenure::auth {

/// The metrics of authentication, as verbs.
class Probe {
 public:
  explicit Probe(telemetry::Registry& metrics);

  void Remembered() { remembered_.Add(); }
  void Verified() { verified_.Add(); }
  void Refused() { refused_.Add(); }
  void Missing() { missing_.Add(); }

  void Fetched() { fetched_.Add(); }
  void FetchFailed() { fetch_failed_.Add(); }
  void KeysCounted(std::size_t keys) { keys_.Set(static_cast<std::int64_t>(keys)); }

 private:
  telemetry::Counter& remembered_;
  telemetry::Counter& verified_;
  telemetry::Counter& refused_;
  telemetry::Counter& missing_;
  telemetry::Counter& fetched_;
  telemetry::Counter& fetch_failed_;
  telemetry::Gauge& keys_;
};

}  // namespace tenure::auth
