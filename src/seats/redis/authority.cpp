#include "seats/redis/authority.hpp"

#include <cstdlib>

namespace tenure::seats {

std::string_view ToText(Bump::Reason reason) {
  switch (reason) {
    case Bump::Reason::kIdentity:
      return "identity";
    case Bump::Reason::kClock:
      return "clock";
    case Bump::Reason::kRestored:
      return "restored";
    case Bump::Reason::kUnreachable:
      return "unreachable";
    case Bump::Reason::kOperator:
      return "operator";
  }
  return "";
}

std::variant<Use, Bump, StayAway> Conclude(const RedisRules& rules, const Confirmation& seen) {
  const bool may_bump = seen.store_ms >= seen.epoch.frozen_ms;
  if (!seen.redis) {
    const bool nobody_uses_it = seen.epoch.used_ms < seen.store_ms - 2 * rules.authority_ms;
    if (seen.epoch.identity && nobody_uses_it && may_bump)
      return Bump{seen.epoch.epoch, std::nullopt, 0, Bump::Reason::kUnreachable};
    return StayAway();
  }
  // The Redis was asked later than the store: the difference is too large by at most the time between.
  const std::int64_t offset_ms = seen.redis->now_ms - seen.store_ms;
  const bool is_known = seen.epoch.identity == seen.redis->identity;
  const bool moved = std::abs(offset_ms - seen.epoch.offset_ms) > rules.tolerance_ms;
  const bool restored = seen.epoch.incarnation != seen.incarnation;
  if (is_known && !moved && !restored)
    return Use{seen.epoch.epoch, seen.redis->identity, seen.asked_ms + rules.authority_ms,
               seen.longest_ms};
  const bool was_quick = seen.heard_ms - seen.asked_ms <= rules.tolerance_ms;
  if (!was_quick || !may_bump) return StayAway();
  return Bump{seen.epoch.epoch, seen.redis->identity, offset_ms,
              !is_known  ? Bump::Reason::kIdentity
              : restored ? Bump::Reason::kRestored
                         : Bump::Reason::kClock};
}

}  // namespace tenure::seats
