#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace tenure::http {

/// What a server answered since its start.
struct Traffic {
  std::uint64_t answered = 0;
  std::uint64_t failed = 0;  ///< with 5xx
  /// How long answers took that waited for nothing, by the bounds of telemetry::LatencyBounds().
  std::vector<std::uint64_t> by_latency{};

  Traffic Since(const Traffic& earlier) const;
  /// So many of a hundred were faster than this; nothing when there were none.
  std::optional<std::int64_t> QuantileUs(int of_hundred) const;
};

}  // namespace tenure::http
