#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <thread>

#include "base/mutex.hpp"
#include "base/task.hpp"

namespace tenure::seats {

/// A thread that runs what it is given, in that order, and one thing of its own from time to time.
///
/// Life: construct, Start, Stop; Stop runs what is there, then nothing is taken any more.
/// Threads: any.
class TaskThread final : public base::Executor {
 public:
  /// `round` runs at Start, then so many milliseconds later as it returned; empty: there is none.
  explicit TaskThread(std::function<std::int64_t()> round = {}) : round_(std::move(round)) {}
  ~TaskThread() override { Stop(); }
  TaskThread(const TaskThread&) = delete;
  TaskThread& operator=(const TaskThread&) = delete;

  void Start();
  void Stop();
  void Post(base::Task task) override;
  /// The next round begins as soon as the thread comes to it.
  void Hasten();

  /// For a simulation, which has no threads and a time of its own: does one thing of what the thread would
  /// do. False: there is nothing now. REQUIRES: it was not started.
  bool RunOne(std::int64_t now_ms);

 private:
  using Clock = std::chrono::steady_clock;
  void Run();
  void RunRound(Clock::time_point now);
  /// The next task; nothing: it is time for a round, or for the end.
  base::Task NextTask(bool& ends);

  const std::function<std::int64_t()> round_;
  base::Mutex mutex_;
  std::condition_variable changed_;
  std::deque<base::Task> tasks_ TENURE_GUARDED_BY(mutex_);
  Clock::time_point round_at_ TENURE_GUARDED_BY(mutex_){};
  bool stops_ TENURE_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace tenure::seats
