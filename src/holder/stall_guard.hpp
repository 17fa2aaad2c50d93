#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "tenure/leases/types.hpp"

namespace tenure::holder {

/// Judges whether this process did not run for a while, by how late somebody woke up who meant to
/// wake up often. Pure. Nothing rests on it (`Held` is a comparison): it reports, and renews early.
class StallGuard {
 public:
  using Milliseconds = leases::Milliseconds;

  /// How often to wake up while a lease of this ttl is held, the shortest of all.
  static Milliseconds TickFor(Milliseconds ttl) {
    return std::clamp(ttl / 60, Milliseconds(10), Milliseconds(500));
  }

  /// A wake-up that was planned for `planned_ms` and came at `now_ms` later than this is a stall:
  /// half the margin is gone, and more than an ordinary delay.
  static std::optional<Milliseconds> Judge(std::int64_t planned_ms, std::int64_t now_ms,
                                           Milliseconds ttl, Milliseconds margin) {
    const Milliseconds late(now_ms - planned_ms);
    if (late <= std::max(margin / 2, 2 * TickFor(ttl))) return std::nullopt;
    return late;
  }
};

}  // namespace tenure::holder
