#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace tenure::http {

/// How much memory strangers may make one server set aside: for the bodies of all requests that do
/// not fit into their connection's own buffer, and for handshakes of TLS. What does not fit is
/// refused before any of it is read; nothing waits for room.
///
/// Threads: any.
class BodyMemory {
 public:
  explicit BodyMemory(std::size_t limit_bytes) : limit_bytes_(limit_bytes) {}

  /// False: there is no room for it.
  bool Take(std::size_t bytes) {
    const std::size_t before = used_bytes_.fetch_add(bytes, std::memory_order_relaxed);
    if (before <= limit_bytes_ && bytes <= limit_bytes_ - before) return true;
    Give(bytes);
    return false;
  }
  void Give(std::size_t bytes) { used_bytes_.fetch_sub(bytes, std::memory_order_relaxed); }

  std::size_t used_bytes() const { return used_bytes_.load(std::memory_order_relaxed); }

 private:
  const std::size_t limit_bytes_;
  std::atomic<std::size_t> used_bytes_{0};
};

/// What one connection has of it. Given back when the share ends, which may be after the server:
/// whoever still holds an exchange holds its body.
class BodyShare {
 public:
  /// `memory` null: there is no bound.
  explicit BodyShare(std::shared_ptr<BodyMemory> memory) : memory_(std::move(memory)) {}
  ~BodyShare() { Release(); }
  BodyShare(const BodyShare&) = delete;
  BodyShare& operator=(const BodyShare&) = delete;

  /// From now on of that. REQUIRES: it has nothing.
  void Use(std::shared_ptr<BodyMemory> memory) { memory_ = std::move(memory); }

  /// Has at least `bytes` from now on; false, and nothing changes, when there is no room.
  bool GrowTo(std::size_t bytes) {
    if (bytes <= bytes_) return true;
    if (memory_ && !memory_->Take(bytes - bytes_)) return false;
    bytes_ = bytes;
    return true;
  }
  void Release() {
    if (memory_ && bytes_ > 0) memory_->Give(bytes_);
    bytes_ = 0;
  }

 private:
  std::shared_ptr<BodyMemory> memory_;
  std::size_t bytes_ = 0;
};

}  // namespace tenure::http
