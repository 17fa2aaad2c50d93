#include "seats/promise.hpp"

#include <algorithm>

namespace tenure::seats {

std::int64_t LagMs(const RedisRules& rules) {
  return rules.authority_ms + rules.authority_ms / 50 + 1 + rules.margin_ms;
}

std::int64_t FreezeMs(const RedisRules& rules, std::int64_t longest_ms) {
  return LagMs(rules) + longest_ms;
}

bool IsOver(const Promise& promise, const RedisEpoch& epoch, std::int64_t now_ms, bool is_dead) {
  if (promise.expires_ms > now_ms) return false;
  if (promise.horizon_ms <= now_ms) return true;
  if (now_ms < epoch.frozen_ms || promise.epoch > epoch.epoch) return false;
  return promise.epoch < epoch.epoch || !epoch.identity || is_dead;
}

std::int64_t OverAt(const Promise& promise, const RedisEpoch& epoch) {
  const bool needs_testimony =
      promise.epoch > epoch.epoch || (promise.epoch == epoch.epoch && epoch.identity);
  const std::int64_t horizon_ms = std::max(promise.expires_ms, promise.horizon_ms);
  return needs_testimony ? horizon_ms
                         : std::min(horizon_ms, std::max(promise.expires_ms, epoch.frozen_ms));
}

bool Counts(const RedisLook& look, const RedisEpoch& epoch, std::int64_t now_ms,
            std::int64_t tolerance_ms) {
  return epoch.identity && look.epoch == epoch.epoch && now_ms >= epoch.frozen_ms &&
         look.redis_ms - look.read_ms <= epoch.offset_ms + tolerance_ms;
}

bool CountsFor(const Promise& read, const Promise& now) {
  return read.fence == now.fence && read.expires_ms == now.expires_ms;
}

}  // namespace tenure::seats
