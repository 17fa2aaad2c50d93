#include "usage/probe.hpp"

namespace tenure::usage {
namespace {

constexpr const char* kEmissions = "usage_emissions_total";
constexpr const char* kEmissionsHelp =
    "Chunks of usage records that were sent, by what came of it.";

}  // namespace

Probe::Probe(telemetry::Registry& metrics)
    : acknowledged_(metrics.GetCounter(kEmissions, kEmissionsHelp, {{"outcome", "acknowledged"}})),
      halved_(metrics.GetCounter(kEmissions, kEmissionsHelp, {{"outcome", "halved"}})),
      refused_(metrics.GetCounter(kEmissions, kEmissionsHelp, {{"outcome", "refused"}})),
      failed_(metrics.GetCounter(kEmissions, kEmissionsHelp, {{"outcome", "failed"}})),
      lateness_(metrics.GetHistogram("usage_window_lateness_seconds",
                                     "Time from a usage window's end until it was closed.",
                                     telemetry::LatencyBounds(), telemetry::kMicrosPerSecond)),
      unsent_(metrics.GetGauge("usage_unsent_records",
                               "Usage records that the receiver has not acknowledged.")),
      refused_records_(
          metrics.GetGauge("tenure_usage_refused_records",
                           "Usage records that the receiver refuses; each is a dead letter.")) {}

}  // namespace tenure::usage
