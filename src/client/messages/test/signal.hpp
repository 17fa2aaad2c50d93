#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace tenure::client {

/// A number that threads raise and wait for.
class Counter {
 public:
  void Add(std::int64_t more = 1) {
    const std::lock_guard lock(mutex_);
    value_ += more;
    changed_.notify_all();
  }
  std::int64_t value() const {
    const std::lock_guard lock(mutex_);
    return value_;
  }
  /// False: not within a minute.
  [[nodiscard]] bool Await(std::int64_t value) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::minutes(1), [&] { return value_ >= value; });
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t value_ = 0;
};

}  // namespace tenure::client
