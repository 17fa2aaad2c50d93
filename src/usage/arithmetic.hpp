#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sessions/session.hpp"

/// Usage: active time, metered exactly (U1). Times are milliseconds of the store's clock,
/// usage is in millionths of a unit ("micros"): one unit is 30 days of a kind with the factor 1.
namespace tenure::usage {

/// The formula's own constant; it has nothing to do with how long sessions last.
inline constexpr std::int64_t kUnitMs = 2'592'000'000;
inline constexpr std::int64_t kMaxFactor = 1'000'000'000'000'000;  ///< 10^9, in millionths
inline constexpr int kKinds = 3;

/// [start, end), as sessions and windows are.
struct Interval {
  std::int64_t start_ms = 0;
  std::int64_t end_ms = 0;
};

/// From this instant on a kind costs this much.
struct Factor {
  int kind = 1;
  std::int64_t from_ms = 0;
  std::int64_t millionths = 0;
  std::int64_t set_ms = 0;

  friend bool operator==(const Factor&, const Factor&) = default;
};

/// What every kind costs at every instant.
class Factors {
 public:
  Factors() = default;
  /// REQUIRES: in ascending order of kind, then of `from_ms`, each once.
  explicit Factors(const std::vector<Factor>& factors);

  bool empty() const { return by_kind_[0].empty(); }

  /// C(t): what a session that has been active in `active` has used up to `t_ms`. Floored once,
  /// over all factors together.
  std::int64_t MicrosUntil(int kind, const Interval& active, std::int64_t t_ms) const;

  /// What it used in a window: C(end) - C(start). So the windows of a session add up to C of the
  /// end of the last one, however many there are and wherever a factor changed: nothing is rounded
  /// away twice.
  std::int64_t MicrosIn(int kind, const Interval& active, const Interval& window) const {
    return MicrosUntil(kind, active, window.end_ms) - MicrosUntil(kind, active, window.start_ms);
  }

 private:
  std::array<std::vector<Factor>, kKinds> by_kind_;
};

/// Where the next window ends that begins at `start_ms`: at the next whole multiple of the interval
/// since the epoch. So windows are aligned, and a new interval begins at a boundary of the old one.
std::int64_t NextBoundary(std::int64_t start_ms, std::int64_t interval_ms);

}  // namespace tenure::usage
