#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "tenure/leases/manager.hpp"

namespace tenure::leases {

/// One run of a task.
struct TaskContext {
  std::string task;
  std::int64_t nominal_ms = 0;  ///< the grid time that this run is for, milliseconds since 1970
  std::int64_t skipped = 0;     ///< grid times after it that have passed: this run stands for them
  std::int64_t fence = 0;       ///< of the lease `lease`: every transaction of the work checks it
  std::string lease;            ///< "task/<name>"
  std::stop_token stop;         ///< at a lost lock, at the end of its validity, and at shutdown
};

struct ReliableTaskOptions {
  std::string name{};
  Milliseconds interval{60'000};
  /// After how long another process takes over from one that died in the middle.
  Milliseconds lock_timeout{120'000};
  std::string holder{};  ///< empty: "host:pid:random"
  /// Returning means that the run is complete. Throws when it failed, or when it gave up because
  /// `stop` was requested: it is tried again soon, not one interval later.
  std::function<void(const TaskContext&)> work{};
  /// After each run of this process; `error` is empty when the store has it as complete.
  std::function<void(const TaskContext&, const std::string& error)> finished{};
};

/// Offers to run a task whenever it is due; of all processes that do, one runs it. The store
/// decides who, and that each grid time is completed at most once (T1).
///
/// A run that fails is logged (tenure/log.hpp), and troubles with the store are told by the
/// manager's `on_trouble`.
///
/// A thread of its own, from construction to destruction, which waits for a run under way to end.
class ReliableTask {
 public:
  ReliableTask(Manager& manager, ReliableTaskOptions options);
  ~ReliableTask();
  ReliableTask(const ReliableTask&) = delete;
  ReliableTask& operator=(const ReliableTask&) = delete;

  /// Asks the store now whether it is due (somebody triggered it).
  void Wake();
  /// One offer, on the calling thread; for a task without a thread (ManagerOptions::threads off).
  /// Returns the clock's time at which to offer again.
  std::int64_t Offer();

  class Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenure::leases
