#include "webhooks/probe.hpp"

#include <array>

#include "webhooks/rules/table.hpp"

namespace tenure::webhooks {
namespace {

/// As a label: what strangers send may have any name.
std::string EventLabel(std::string_view event) {
  return std::string(rules::IsDocumented(event) ? event : "other");
}

}  // namespace

std::string_view ToText(Outcome outcome) {
  constexpr std::array<std::string_view, 11> kWords = {
      "stored",      "duplicate", "ping",       "forbidden",  "too_often", "bad_signature",
      "unsupported", "invalid",   "no_secrets", "queue_full", "failed"};
  return kWords.at(static_cast<std::size_t>(outcome));
}

Probe::Probe(telemetry::Registry& metrics)
    : metrics_(metrics),
      intake_(metrics.GetHistogram("webhook_intake_seconds",
                                   "From a webhook's body to its answer, if it was stored.",
                                   telemetry::LatencyBounds(), telemetry::kMicrosPerSecond)),
      forgotten_(metrics.GetCounter("tenure_webhook_events_forgotten_total",
                                    "Events that were removed after their retention.")) {}

void Probe::Answered(std::string_view source, std::string_view event, Outcome outcome,
                     std::int64_t took_us) {
  metrics_
      .GetCounter("webhook_deliveries_total", "Webhooks, by what became of them.",
                  {{"source", std::string(source)},
                   {"event", EventLabel(event)},
                   {"outcome", std::string(ToText(outcome))}})
      .Add();
  if (outcome == Outcome::kStored) intake_.Observe(took_us);
}

void Probe::FellBack(std::string_view event) {
  metrics_
      .GetCounter(
          "queue_routing_fallbacks_total",
          "Messages of events that the rule of their bot did not apply to, and which went by "
          "their entity, repository or owner.",
          {{"event", EventLabel(event)}})
      .Add();
}

void Probe::SecretsRead(const std::string& source, std::int64_t count) {
  metrics_
      .GetGauge("webhook_secrets", "Secrets of a source that this process could read.",
                {{"source", source}})
      .Set(count);
}

}  // namespace tenure::webhooks
