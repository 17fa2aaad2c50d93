#pragma once

#include <cstdint>

#include "messages/message.hpp"
#include "telemetry/metrics.hpp"

namespace tenure::messages {

struct CountsReply;
struct ReapReply;

/// What was counted last.
struct Figures {
  std::int64_t ready = 0;
  std::int64_t delayed = 0;
  std::int64_t dead = 0;
  std::int64_t unhandled = 0;
  std::int64_t oldest_seconds = 0;
  std::int64_t waiting_claims = 0;  ///< of this process, now
};

/// The metrics of messages, as verbs. With `show_topics` operators also see how full which topic is:
/// names of tenants and topics, so only on the operators' listener (telemetry::Audience).
class Probe {
 public:
  explicit Probe(telemetry::Registry& metrics, bool show_topics = false);

  void Enqueued(const EnqueueRequest& request, const EnqueueReply& reply);
  void Claimed(const ClaimRequest& request, const ClaimReply& reply);
  void Settled(const SettleRequest& request, const SettleReply& reply);
  /// A message was finished: so long after its claim, and after it was enqueued.
  void Handled(std::int64_t handling_ms, std::int64_t total_ms);
  void Promoted(std::int64_t count, std::int64_t late_ms);
  void Reaped(const ReapReply& reply);
  void Waiting(std::int64_t count) { waiting_claims_.Set(count); }
  void Counted(const CountsReply& counts);
  Figures figures() const;

 private:
  void ShowTopics(const CountsReply& counts);

  telemetry::Counter& enqueued_;
  telemetry::Counter& duplicates_;
  telemetry::Counter& claimed_;
  telemetry::Counter& done_;
  telemetry::Counter& retried_;
  telemetry::Counter& failed_;
  telemetry::Counter& returned_;
  telemetry::Counter& stale_;
  telemetry::Counter& gone_;
  telemetry::Counter& crashed_;
  telemetry::Counter& crashed_dead_;
  telemetry::Counter& promoted_;
  telemetry::Histogram& wait_;
  telemetry::Histogram& handling_;
  telemetry::Histogram& total_;
  telemetry::Histogram& lateness_;
  telemetry::Gauge& waiting_claims_;
  telemetry::Gauge& ready_;
  telemetry::Gauge& oldest_;
  telemetry::Gauge& unhandled_;
  telemetry::Gauge& delayed_;
  telemetry::Gauge& dead_;

  telemetry::Registry& metrics_;
  const bool show_topics_;
};

}  // namespace tenure::messages
