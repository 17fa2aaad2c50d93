#pragma once

#include <condition_variable>
#include <deque>
#include <thread>

#include "base/mutex.hpp"
#include "base/task.hpp"

namespace tenure::webhooks {

/// One thread for what would keep an event loop from its other connections: large bodies are hashed
/// and read here. Its queue has no bound of its own: what waits lies in bodies, which have one.
///
/// Life: construct, Stop. What is posted after Stop is dropped.
class Worker {
 public:
  Worker() : thread_([this] { Run(); }) {}
  ~Worker() { Stop(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void Post(base::Task task);
  /// Drops what waits.
  void Stop();

 private:
  void Run();

  base::Mutex mutex_;
  std::condition_variable changed_;
  std::deque<base::Task> waiting_ TENURE_GUARDED_BY(mutex_);
  bool stopping_ TENURE_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace tenure::webhooks
