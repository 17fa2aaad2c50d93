#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "base/task.hpp"
#include "wake/registry.hpp"

namespace tenure::wake {

/// How long to wait before asking again for what somebody else had locked: 10, 20, 40 … 500 ms.
/// Nobody tells of the end of a lock, and asking at once costs a processor for as long as it lasts.
class Backoff {
 public:
  static constexpr std::int64_t kFirstMs = 10;
  static constexpr std::int64_t kMaxMs = 500;

  std::int64_t NextMs() { return std::exchange(next_ms_, std::min(next_ms_ * 2, kMaxMs)); }
  void Reset() { next_ms_ = kFirstMs; }

 private:
  std::int64_t next_ms_ = kFirstMs;
};

/// Repeats one piece of work: at the times that the work itself names, and when a key is signalled.
///
/// Invariants:
///  (1) One poll at a time: the next one begins after the last one has called `done`.
///  (2) No signal is lost: a signal that comes while a poll is under way makes another one follow.
///  (3) Without a signal no poll begins before its time. A poll whose time has come begins, however
///      many signals come.
///  (4) After a poll that met a lock the next one begins after 10, 20, 40 … 500 ms (Backoff).
///
/// Life: construct, PollWithin, Stop. It rests until the first PollWithin or signal, and whenever a
/// poll names no next time. A poll that is under way at Stop ends as it likes; nothing follows it.
/// REQUIRES: the work outlives the threads of the registry and of whoever calls `done`.
///
/// Threads: all functions from any, also from inside a poll. Polls begin on the registry's thread.
class Poller {
 public:
  enum class Cause { kTime, kSignal };

  /// What a poll says of the next one.
  struct Next {
    std::optional<std::int64_t> in_ms{};  ///< none: when it was to be anyway
    bool locked = false;                  ///< somebody else had locked what it came for
  };
  class Work {
   public:
    virtual ~Work() = default;
    /// Calls `done` once, from any thread, now or later.
    virtual void Poll(Cause cause, base::UniqueFunction<Next> done) = 0;
  };

  /// `key` empty: only time counts.
  Poller(Registry& registry, const base::Clock& clock, std::string key, Work& work);
  ~Poller() { Stop(); }
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  /// The next poll begins within `in_ms` from now, or sooner if it was to.
  void PollWithin(std::int64_t in_ms);
  void Stop();

 private:
  struct State;
  const std::shared_ptr<State> state_;  // shared with what is under way
};

}  // namespace tenure::wake
