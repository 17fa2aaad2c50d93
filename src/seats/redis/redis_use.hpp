#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "base/mutex.hpp"
#include "seats/redis/authority.hpp"
#include "seats/redis/seat_records.hpp"

namespace tenure::seats {

/// What a process knows of the Redis that it may use.
struct UseNow {
  SeatRecords::Under under{};
  std::int64_t offset_ms = 0;   ///< the Redis's time less the store's
  std::int64_t longest_ms = 0;  ///< no promise is longer
  std::int64_t until_ms = 0;    ///< on this process's own clock

  bool IsOf(const UseNow& other) const {
    return under.epoch == other.under.epoch && under.identity == other.under.identity;
  }
};

/// For all threads of a process: which Redis it may use now, and whether that answers. Authority to use
/// it and reaching it are two things: one that did not answer in time is left alone until it was met
/// again, but who has met it needs no store to go on.
class RedisUse {
 public:
  explicit RedisUse(const base::Clock& clock) : clock_(clock) {}

  void Take(const Use& use, std::int64_t offset_ms) {
    const base::Lock lock(mutex_);
    authority_.Take(use);
    offset_ms_ = offset_ms;
    is_away_ = false;
  }
  /// Another Redis answers there, or it is not known which one is to.
  void Drop() {
    const base::Lock lock(mutex_);
    authority_.Drop();
  }
  /// True: it was not away before.
  bool Lost() {
    const base::Lock lock(mutex_);
    const bool was_away = is_away_;
    is_away_ = true;
    return !was_away;
  }
  /// It answers, and is this one. True: it was away.
  bool Met(const std::string& identity) {
    const base::Lock lock(mutex_);
    const Use* const use = authority_.At(clock_.BootMs());
    if (!is_away_ || !use || use->identity != identity) return false;
    is_away_ = false;
    return true;
  }
  bool is_away() const {
    const base::Lock lock(mutex_);
    return is_away_;
  }
  /// Nothing: heartbeats go to the store.
  std::optional<UseNow> Now() const {
    const base::Lock lock(mutex_);
    const Use* const use = authority_.At(clock_.BootMs());
    if (!use || is_away_) return std::nullopt;
    return UseNow{{use->identity, use->epoch}, offset_ms_, use->longest_ms, use->until_ms};
  }
  /// Whether what was begun under `use` counts still: looked at after a Redis's answer.
  bool Counts(const UseNow& use) const {
    const base::Lock lock(mutex_);
    const Use* const now = authority_.At(clock_.BootMs());
    return now && now->epoch == use.under.epoch && now->identity == use.under.identity;
  }

 private:
  const base::Clock& clock_;
  mutable base::Mutex mutex_;
  Authority authority_ TENURE_GUARDED_BY(mutex_);
  std::int64_t offset_ms_ TENURE_GUARDED_BY(mutex_) = 0;
  bool is_away_ TENURE_GUARDED_BY(mutex_) = false;
};

}  // namespace tenure::seats
