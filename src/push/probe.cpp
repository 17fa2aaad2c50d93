#include "push/probe.hpp"

namespace tenure::push {

Probe::Probe(telemetry::Registry& metrics)
    : metrics_(metrics),
      delivered_(
          metrics.GetCounter("push_delivered_total", "Messages that an endpoint acknowledged")),
      in_flight_(metrics.GetGauge("push_in_flight", "Requests to endpoints under way")),
      delivering_(metrics.GetGauge("tenure_push_subscriptions_held",
                                   "Subscriptions that this process delivers")),
      open_(metrics.GetGauge("tenure_push_circuits_open",
                             "Subscriptions whose circuit is open, of the whole store")),
      disabled_(metrics.GetGauge("tenure_push_subscriptions_disabled",
                                 "Subscriptions that are disabled, of the whole store")),
      latency_(metrics.GetHistogram("push_latency_seconds",
                                    "From the beginning of a request to its answer",
                                    telemetry::LatencyBounds(), telemetry::kMicrosPerSecond)) {
  for (const char* reason : {"no_answer", "no_connection", "gone", "held", "redirect", "forbidden",
                             "unavailable", "refused"})
    failed_[reason] =
        &metrics.GetCounter("push_failed_total", "Requests to endpoints that were not acknowledged",
                            {{"reason", reason}});
}

void Probe::Ended(const Judgement& judgement, std::int64_t took_ms) {
  in_flight_.Add(-1);
  if (judgement.kind == AnswerKind::kDropped) return;
  latency_.ObserveMs(took_ms);
  if (judgement.kind == AnswerKind::kAcknowledged) return delivered_.Add();
  if (const auto found = failed_.find(judgement.reason); found != failed_.end())
    found->second->Add();
}

/// Only where there are keys: it is no line of a server that does not push.
void Probe::Sealed(std::int64_t subscriptions) {
  sealed_ = subscriptions;
  metrics_
      .GetGauge(
          "tenure_push_subscriptions_of_old_keys",
          "Subscriptions sealed by another key than the first of secrets.key_file, which this "
          "process cannot seal anew")
      .Set(subscriptions);
}

void Probe::Counted(const Figures& figures) {
  open_.Set(figures.open);
  disabled_.Set(figures.disabled);
  std::vector<std::pair<telemetry::Labels, std::int64_t>> open;
  for (const SubscriptionKey& key : figures.open_ones)
    open.push_back({{{"tenant", key.tenant}, {"subscription", key.name}}, 1});
  metrics_.ReplaceGauges("push_circuit_open", "Subscriptions whose circuit is open", open);
  const base::Lock lock(mutex_);
  figures_ = figures;
}

Figures Probe::figures() const {
  const base::Lock lock(mutex_);
  return figures_;
}

}  // namespace tenure::push
