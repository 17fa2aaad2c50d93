#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/mutex.hpp"
#include "jobs/job.hpp"
#include "messages/followers.hpp"
#include "telemetry/metrics.hpp"

namespace tenure::jobs {

/// A watched job: when it last succeeded, and until when it should have succeeded again.
struct Watched {
  JobKey key{};
  std::int64_t success_ms = 0;   ///< 0: never
  std::int64_t expected_ms = 0;  ///< the second time behind the one of that success; 0: none
};

/// The metrics of jobs, as verbs.
class Probe {
 public:
  explicit Probe(telemetry::Registry& metrics);

  void Made(const NewRun& run);
  void Late(std::int64_t ms);
  void Ended(std::span<const messages::EndedMessage> ended);
  void Counted(std::int64_t jobs, std::int64_t overdue_ms, std::int64_t failing);
  void WatchedAre(const std::vector<Watched>& watched);
  void Forgotten(std::int64_t rows) { forgotten_.Add(static_cast<std::uint64_t>(rows)); }

 private:
  telemetry::Registry& metrics_;
  std::array<telemetry::Counter*, 3> fired_{};    // by RunKind
  std::array<telemetry::Counter*, 3> skipped_{};  // by SkipReason
  telemetry::Histogram& lateness_;
  telemetry::Counter& done_;
  telemetry::Counter& dead_;
  telemetry::Gauge& jobs_;
  telemetry::Gauge& overdue_;
  telemetry::Gauge& failing_;
  telemetry::Counter& forgotten_;
};

}  // namespace tenure::jobs
