#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>

#include "base/clock.hpp"
#include "base/mutex.hpp"
#include "base/task.hpp"

namespace tenure::wake {

/// Who waits for what, by key (docs/ground.md, Waiting). A registration is a task that runs when
/// its key is signalled or its time has come, whichever is first. The registry never decides
/// anything: the task asks the store again, and waits again when the answer is still no.
///
/// Invariants:
///  (1) A task runs at most once; exactly once unless it is cancelled or the registry stops.
///  (2) Tasks run on the registry's thread, one at a time, without any lock held. Never inside of
///      the caller of Signal: that is often a lane's thread just after its commit, or a feed's; a
///      task may submit to the same lane or signal in turn, and none of that may wait for, or run
///      in the middle of, what the caller is doing.
///  (3) A task never runs before its time unless signalled. The time is that of CLOCK_BOOTTIME, to
///      the millisecond, and it goes on while the machine sleeps.
///
/// No wake-up is lost between asking and waiting if a caller asks the store once more after `Wait`
/// (or registers before it asks): a signal between the two finds the task already here.
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
/// Costs: a few hundred bytes for each task and O(log n) for each call; a hundred thousand
/// are no problem. Their number is bounded by the callers (requests under way), not here.
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
  /// True: the task was taken out and will never run, though it may have been woken already. False:
  /// it has run, or runs right now.
  bool Cancel(Id id);

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
  struct Registration {
    std::string key;
    std::int64_t until_boot_ms;
    base::Task wake;
    bool due = false;  // in due_; else in by_key_, and in by_time_ unless it waits for ever
  };
  using Registrations = std::unordered_map<Id, Registration>;
  using Ids = std::set<Id>;  // ascending, and ids rise: in order of arrival

  void Loop();
  std::size_t RunPass();
  /// Takes a task out of the registry; empty when it was cancelled.
  base::Task Take(Id id);
  void CollectTimers() TENURE_REQUIRES(mutex_);
  void MakeDue(Registrations::iterator which) TENURE_REQUIRES(mutex_);
  void Unlist(const Registrations::value_type& which) TENURE_REQUIRES(mutex_);
  void WakeThread() TENURE_REQUIRES(mutex_);
  void ArmTimer() TENURE_REQUIRES(mutex_);

  const base::Clock& clock_;

  mutable base::Mutex mutex_;
  Registrations registrations_ TENURE_GUARDED_BY(mutex_);  // all of them, also those that are due
  std::map<std::string, Ids, std::less<>> by_key_ TENURE_GUARDED_BY(mutex_);
  std::set<std::pair<std::int64_t, Id>> by_time_ TENURE_GUARDED_BY(mutex_);
  std::deque<Id> due_ TENURE_GUARDED_BY(
      mutex_);  // in the order in which they are to run; one that was cancelled is skipped
  Id next_id_ TENURE_GUARDED_BY(mutex_) = 1;
  bool stopped_ TENURE_GUARDED_BY(mutex_) = false;
  bool thread_is_awake_ TENURE_GUARDED_BY(mutex_) =
      false;  // it looks again before it sleeps: no need to wake it

  int timer_ TENURE_GUARDED_BY(mutex_) = -1;   // timerfd; from Start to Stop
  int wakeup_ TENURE_GUARDED_BY(mutex_) = -1;  // eventfd; from Start to Stop
  std::thread thread_;                         // the owner's, not guarded
};

}  // namespace tenure::wake
