#include "http/traffic.hpp"

#include <algorithm>
#include <numeric>

#include "telemetry/metrics.hpp"

namespace tenure::http {

Traffic Traffic::Since(const Traffic& earlier) const {
  Traffic since = *this;
  since.answered -= earlier.answered;
  since.failed -= earlier.failed;
  for (std::size_t i = 0; i < std::min(by_latency.size(), earlier.by_latency.size()); ++i)
    since.by_latency[i] -= earlier.by_latency[i];
  return since;
}

std::optional<std::int64_t> Traffic::QuantileUs(int of_hundred) const {
  const std::uint64_t all = std::accumulate(by_latency.begin(), by_latency.end(), std::uint64_t{0});
  if (all == 0) return std::nullopt;
  const auto bounds = telemetry::LatencyBounds();
  std::uint64_t faster = 0;
  for (std::size_t i = 0; i < by_latency.size(); ++i) {
    faster += by_latency[i];
    if (faster * 100 >= all * static_cast<std::uint64_t>(of_hundred))
      return bounds[std::min(i, bounds.size() - 1)];
  }
  return bounds.back();
}

}  // namespace tenure::http
