#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.hpp"
#include "queues/effects.hpp"
#include "queues/tidy.hpp"
#include "telemetry/metrics.hpp"
#include "telemetry/trace.hpp"

namespace tenure::queues {

/// The metrics of ordered queues, as verbs. They name bots, which are tenants' things: only the
/// operators' listener shows them (telemetry::Audience). Bots beyond 200 share a name.
class Probe {
 public:
  /// `tracer` null: no spans.
  explicit Probe(telemetry::Registry& metrics, telemetry::Tracer* tracer = nullptr);

  /// Whether spans are recorded of what is done.
  bool RecordsTraces() const { return tracer_ && tracer_->enabled(); }

  void Done(const Effects& effects);
  /// What all queues have, as it was counted last.
  void Counted(const FiguresReply& figures);

  struct Health {
    std::int64_t ready = 0;
    std::int64_t held = 0;
    std::int64_t parked = 0;
    std::int64_t messages = 0;
    std::int64_t oldest_seconds = 0;
  };
  Health health() const;

 private:
  using Gauges = std::vector<std::pair<telemetry::Labels, std::int64_t>>;

  /// The name, or `other`.
  std::string NameOf(const std::string& queue) TENURE_REQUIRES(mutex_);
  void EndTurn(const EndedTurn& turn) TENURE_REQUIRES(mutex_);
  void Move(const std::string& name, const Moved& moved);
  void ShowRates(std::int64_t minute) TENURE_REQUIRES(mutex_);

  /// Of the turns of a minute: how many, and how many a time-out ended.
  struct Minute {
    std::int64_t at = 0;
    std::int64_t turns = 0;
    std::array<std::int64_t, 3> timeouts{};
  };

  void RecordTurn(const EndedTurn& turn) const;
  void RecordHandling(const HandledMessage& message) const;

  telemetry::Registry& metrics_;
  telemetry::Tracer* const tracer_;
  telemetry::Histogram& handout_;
  mutable base::Mutex mutex_;
  std::set<std::string> names_ TENURE_GUARDED_BY(mutex_);
  std::map<std::string, std::deque<Minute>> minutes_ TENURE_GUARDED_BY(mutex_);  // by name
  Health health_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure::queues
