#pragma once

#include <cstdint>
#include <list>
#include <mutex>

#include "tenure/clock.hpp"

namespace tenure::testing {

/// A clock that stands still until a test moves it. Whoever sleeps on it wakes up when its time has
/// come, so code with threads runs through hours in no time:
///
///   tenure::testing::VirtualClock clock;
///   tenure::leases::Manager manager(std::move(provider), {.clock = &clock});
///   clock.Advance(10'000);
///
/// Why no wake-up is lost: a sleeper notes itself here while it holds its own mutex, and keeps that
/// mutex until it really sleeps. `Advance` notifies each sleeper whose time has come with the
/// sleeper's mutex held, so either the sleeper sleeps already, or it has not read the time yet.
/// `Advance` only tries those mutexes while it holds its own: the two orders cannot deadlock.
///
/// Threads: any. REQUIRES: it outlives everything that uses it, leases included.
class VirtualClock final : public Clock {
 public:
  explicit VirtualClock(std::int64_t now_ms = 1'000'000) : now_ms_(now_ms) {}

  std::int64_t NowMs() const override;
  void WaitUntil(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
                 std::int64_t until_ms) const override;

  /// Time passes, in one step: whoever slept finds the end of it.
  /// REQUIRES: the caller holds no mutex that a sleeper needs.
  void Advance(std::int64_t ms) { AdvanceTo(NowMs() + ms); }
  /// Never back.
  void AdvanceTo(std::int64_t now_ms);

  /// When the first of those who sleep now wants to wake up; INT64_MAX: nobody does.
  std::int64_t NextWakeMs() const;

 private:
  struct Sleeper {
    std::mutex* mutex;
    std::condition_variable* changed;
    std::int64_t until_ms;
    bool woken = false;
  };
  /// Wakes those whose time has come; false when one of them was not to be reached just now.
  bool WakeDue();

  mutable std::mutex mutex_;
  std::int64_t now_ms_;                  // guarded by mutex_
  mutable std::list<Sleeper> sleepers_;  // guarded by mutex_
};

}  // namespace tenure::testing
