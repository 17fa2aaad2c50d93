#pragma once

#include <condition_variable>
#include <cstdint>
#include <limits>
#include <mutex>

namespace tenure {

/// As a moment to wait for: sleep until somebody notifies.
inline constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

/// The clock by which the library measures durations: CLOCK_BOOTTIME, which never goes back and
/// goes on while the machine sleeps (std::chrono::steady_clock stops then, and a lease would look
/// valid for longer than it is). Tests put a `testing::VirtualClock` in its place.
///
/// Any thread may use it.
class Clock {
 public:
  virtual ~Clock() = default;

  /// Milliseconds since some moment that does not change.
  virtual std::int64_t NowMs() const = 0;

  /// Sleeps until `changed` is notified, or about `until_ms` is reached; may return early.
  /// REQUIRES: `lock` is held.
  virtual void WaitUntil(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
                         std::int64_t until_ms) const = 0;
};

/// The machine's.
const Clock& BootClock();

}  // namespace tenure
