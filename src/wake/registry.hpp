#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>

#include "base/clock.hpp"
#include "base/task.hpp"

namespace tenure::wake {

/// Who waits for what, by key (spec 05, Waiting). A waiter is a task that runs when its key is
/// signalled or its time has come, whichever is first. The registry never decides anything: the
/// task asks the store again, and waits again when the answer is still no.
///
/// Invariants:
///  (1) A task runs at most once; exactly once unless it is cancelled or the registry stops.
///  (2) Tasks run on the registry's thread, one at a time, without any lock held. Never inside of
///      the caller of Signal: that is often a lane's thread just after its commit, or a feed's; a
///      task may submit to the same lane or signal in turn, and none of that may wait for, or run
///      in the middle of, what the caller is doing.
///  (3) `Signal` wakes the one that has waited longest for the key. A signal that chose a waiter
///      who is then cancelled before its task began is passed on to the next: it is never lost
///      here.
///  (4) A task never runs before its time unless signalled. The time is that of CLOCK_BOOTTIME, to
///      the millisecond, and it goes on while the machine sleeps.
///
/// No wake-up is lost between asking and waiting if a caller asks the store once more after `Wait`
/// (or registers before it asks): a signal between the two finds the waiter already here.
///
/// Life: construct, Start, Stop. Without Start the owner drives it by hand with `RunDue`, on a
/// clock of its own. After Stop nothing runs any more: what still waits is dropped without being
/// run, and so is what comes later. Whoever must answer somebody does so when its task is
/// destroyed, or before it stops the registry.
///
/// Threads: all functions from any, except Start, Stop and RunDue (the owner's). Tasks must be
/// short, must not throw and must not stop the registry; anything else they may call. They own what
/// they touch: a task may be under way when Cancel returns false.
///
/// Costs: a few hundred bytes for each waiter and O(log n) for each call; a hundred thousand
/// waiters are no problem. Their number is bounded by the callers (requests under way), not here.
class Registry {
 public:
  /// Never 0, never used again.
  using Id = std::uint64_t;
  /// A time that does not come.
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  explicit Registry(const base::Clock& clock) : clock_(clock) {}
  ~Registry() { Stop(); }
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  /// `wake` runs when `key` is signalled, or at `until_boot_ms` (soon, when that has passed).
  Id Wait(std::string key, std::int64_t until_boot_ms, base::Task wake);
  /// True: the task was taken out and will never run. False: it has run, or runs right now; who was
  /// woken by a signal and does not want it any more signals the key again.
  bool Cancel(Id id);

  /// Wakes the one that has waited longest for the key, if anybody has.
  void Signal(std::string_view key);
  /// Wakes all that wait for the key.
  void SignalAll(std::string_view key);
  /// Wakes all: signals from elsewhere may have been missed, so everybody asks again.
  void SignalEverybody();

  /// REQUIRES: the clock is the machine's; it is what the thread sleeps by.
  void Start();
  void Stop();

  /// Runs what was signalled and what is due by now, but nothing that becomes so meanwhile. Returns
  /// how many tasks ran. By hand only.
  std::size_t RunDue();

  /// How many wait, those included that were woken and have not begun to run.
  std::size_t size() const;

 private:
  enum class State {
    kWaiting,  ///< in by_key_, and in by_time_ unless it waits for ever
    kChosen,   ///< in due_, by Signal: nobody else was woken for it
    kDue,      ///< in due_, for another reason
  };
  struct Waiter {
    std::string key;
    std::int64_t until_boot_ms;
    base::Task wake;
    State state = State::kWaiting;
  };
  using Waiters = std::unordered_map<Id, Waiter>;
  using Ids = std::set<Id>;  // ascending, and ids rise: in order of arrival

  void Loop();
  std::size_t RunPass();
  /// Takes a task out of the registry; empty when it was cancelled.
  base::Task Take(Id id);
  /// REQUIRES: mutex_ held, for these.
  void CollectTimers();
  void MakeDue(Waiters::iterator waiter, State why);
  void Unlist(const Waiters::value_type& waiter);
  void SignalLocked(std::string_view key);
  void WakeThread();
  void ArmTimer();

  const base::Clock& clock_;

  mutable std::mutex mutex_;
  // The rest is guarded by mutex_.
  Waiters waiters_;  // all of them, also those that are due
  std::map<std::string, Ids, std::less<>> by_key_;
  std::set<std::pair<std::int64_t, Id>> by_time_;
  std::deque<Id> due_;  // in the order in which they are to run; one that was cancelled is skipped
  Id next_id_ = 1;
  bool stopped_ = false;
  bool thread_is_awake_ = false;  // it looks again before it sleeps: no need to wake it

  int timer_ = -1;      // timerfd; from Start to Stop
  int wakeup_ = -1;     // eventfd; from Start to Stop
  std::thread thread_;  // the owner's, not guarded
};

}  // namespace tenure::wake
