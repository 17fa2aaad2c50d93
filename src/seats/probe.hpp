#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "seats/command.hpp"
#include "telemetry/metrics.hpp"

namespace tenure::seats {

/// Why an acquire was refused, as license_acquire_failures_total has it.
enum class Refusal {
  kFull,
  kRevoked,
  kFrozen,
  kExpired,
  kInactive,
  kNotFound,
  kMachineHeld,
  kRateLimited,
};

/// How full a licence is.
struct Level {
  std::string license{};  ///< its id; "other": those beyond the bound
  std::int64_t used = 0;
  std::int64_t total = 0;
};

/// The metrics of seats, as verbs. Those that the source document names have its names.
class Probe {
 public:
  explicit Probe(telemetry::Registry& metrics);

  void Asked() { requests_.Add(); }
  void Acquired(const AcquireOutcome& outcome);
  void Refused(Refusal refusal) { failures_[static_cast<std::size_t>(refusal)]->Add(); }
  void Beaten(const HeartbeatOutcome& outcome);
  void BeatTook(std::int64_t micros) { heartbeat_latency_.Observe(micros); }
  void WaitedFor(std::int64_t ms) { wait_.Observe(ms * 1'000); }
  void Waiting(std::int64_t count) { waiting_.Set(count); }
  void OffersMissed(std::int64_t count) { offers_missed_.Add(static_cast<std::uint64_t>(count)); }
  void Logged(const std::vector<std::string>& kinds);
  /// The levels of the largest licences; what was told before goes.
  void Levels(std::span<const Level> levels);
  void Swept(std::int64_t now_ms, std::int64_t oldest_look_ms);

  std::int64_t last_sweep_ms() const { return last_sweep_.load(); }
  std::int64_t oldest_look_ms() const { return oldest_look_.load(); }

 private:
  telemetry::Registry& metrics_;
  telemetry::Counter& requests_;
  std::vector<telemetry::Counter*> failures_;
  telemetry::Histogram& heartbeat_latency_;
  std::vector<telemetry::Counter*> heartbeats_;
  telemetry::Counter& resumes_live_;
  telemetry::Counter& resumes_vouched_;
  telemetry::Gauge& waiting_;
  telemetry::Histogram& wait_;
  telemetry::Counter& offers_taken_;
  telemetry::Counter& offers_missed_;
  std::map<std::string, telemetry::Counter*, std::less<>> entries_;
  std::atomic<std::int64_t> last_sweep_{0};
  std::atomic<std::int64_t> oldest_look_{0};
};

}  // namespace tenure::seats
