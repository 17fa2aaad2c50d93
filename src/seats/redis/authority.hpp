#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "seats/promise.hpp"

namespace tenure::seats {

/// What a process found out when it asked the store and then the Redis.
struct Confirmation {
  RedisEpoch epoch{};
  std::int64_t incarnation = 0;  ///< of the store
  std::int64_t longest_ms = 0;   ///< the longest ttl and grace that any licence ever had
  std::int64_t store_ms = 0;     ///< the store's time
  std::int64_t asked_ms = 0;     ///< on this process's own clock: before the store was asked
  std::int64_t heard_ms = 0;     ///< and when all answers were there
  struct Redis {
    std::string identity{};
    std::int64_t now_ms = 0;
  };
  std::optional<Redis> redis{};  ///< nothing: it was not reached
};

/// It may use the Redis under this epoch until then, by its own clock.
struct Use {
  std::int64_t epoch = 0;
  std::string identity{};
  std::int64_t until_ms = 0;
  /// No promise under it is longer, also when a licence has a longer ttl by now: the freeze of a bump
  /// that this process has not heard of knows only what stood in the store before it.
  std::int64_t longest_ms = 0;
};
/// Another Redis, or another clock of it, or none: the epoch is to be raised, once.
struct Bump {
  enum class Reason { kIdentity, kClock, kRestored, kUnreachable, kOperator };
  std::int64_t from = 0;
  std::optional<std::string> identity{};
  std::int64_t offset_ms = 0;
  Reason reason = Reason::kIdentity;
};
std::string_view ToText(Bump::Reason reason);
/// Neither: heartbeats go to the store.
struct StayAway {};

/// What follows from it. A bump waits for the end of the freeze before it: so a Redis that comes and goes, or
/// two processes with different addresses, cannot freeze for ever.
std::variant<Use, Bump, StayAway> Conclude(const RedisRules& rules, const Confirmation& seen);

/// Whether a process may take a Redis's answer for a promise. It is looked at after the answer: then also a
/// process that slept in between, or a command that was late, gives no promise.
///
/// Threads: one at a time.
class Authority {
 public:
  void Take(const Use& use) { use_ = use; }
  void Drop() { use_.reset(); }
  const Use* At(std::int64_t now_ms) const {
    return use_ && now_ms <= use_->until_ms ? &*use_ : nullptr;
  }

 private:
  std::optional<Use> use_;
};

}  // namespace tenure::seats
