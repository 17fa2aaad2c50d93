#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/rate.hpp"
#include "http/exchange.hpp"
#include "http/rate_limits.hpp"
#include "telemetry/metrics.hpp"

namespace tenure::seats {

/// One limit of this capability, for what a request says rather than for who asks.
class RateGuard {
 public:
  RateGuard(std::string_view name, const base::Rate& rate, const base::Clock& clock,
            telemetry::Registry& metrics);

  /// Counts it; the answer's headers tell where that leaves the asker. Throws 429 beyond the limit.
  void Count(http::Exchange& exchange, std::string_view key);
  /// Counts without a word.
  void Note(std::string_view key);
  /// Throws 429 when nothing is left; counts nothing.
  void Check(http::Exchange& exchange, std::string_view key);

 private:
  void Tell(http::Exchange& exchange, const http::RateLimiter::Decision& decision);

  std::optional<http::RateLimiter> limiter_;  // nothing: there is no limit
  telemetry::Counter& refused_;
};

struct RateSettings {
  base::Rate acquire{};
  base::Rate heartbeat{};
  base::Rate bulk{};
  base::Rate misses{};
};

/// Who may ask how often, per process: a machine for seats, a seat for heartbeats (never a person: one
/// account has thousands of seats), a person for heartbeats of many, and a person that guesses keys,
/// whatever machine ids it names.
struct RateGuards {
  RateGuards(const RateSettings& settings, const base::Clock& clock, telemetry::Registry& metrics);

  RateGuard acquire;
  RateGuard heartbeat;
  RateGuard bulk;
  RateGuard misses;
};

}  // namespace tenure::seats
