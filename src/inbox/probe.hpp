#pragma once

#include <array>
#include <cstdint>

#include "inbox/message.hpp"
#include "telemetry/metrics.hpp"

namespace tenure::inbox {

/// The metrics of the inbox, as verbs.
class Probe {
 public:
  explicit Probe(telemetry::Registry& metrics);

  void Begun(const BeginOutcome& outcome);
  void Finished(const FinishOutcome& outcome);
  void Forgotten(std::int64_t rows) { forgotten_.Add(static_cast<std::uint64_t>(rows)); }
  void StuckCounted(std::int64_t rows) { stuck_.Set(rows); }

 private:
  std::array<telemetry::Counter*, 5> begun_{};  // by BeginOutcome::Kind
  telemetry::Counter& completed_;
  telemetry::Counter& failed_;
  telemetry::Counter& stale_;
  telemetry::Counter& unknown_;
  telemetry::Counter& busy_;
  telemetry::Counter& dead_;
  telemetry::Counter& forgotten_;
  telemetry::Gauge& stuck_;
};

}  // namespace tenure::inbox
