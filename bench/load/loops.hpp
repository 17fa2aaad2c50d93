#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace bench {

/// Several loops that go on by themselves, on the lanes' threads; `Await` until all have ended.
class Loops {
 public:
  explicit Loops(std::size_t count) : running_(count) {}
  void End() {
    const std::lock_guard lock(mutex_);
    if (--running_ == 0) ended_.notify_all();
  }
  void Await() {
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [&] { return running_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  std::size_t running_;  // guarded by mutex_
};

}  // namespace bench
