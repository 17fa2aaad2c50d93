#include "tenure/clock.hpp"

#include <algorithm>
#include <chrono>

#include "base/clock.hpp"

namespace tenure {
namespace {

/// A condition variable's clock stops while the machine sleeps, CLOCK_BOOTTIME does not: no sleep
/// is longer than this, so a machine that wakes up finds its overdue deadlines soon.
constexpr std::int64_t kLongestSleepMs = 500;

class MachineClock final : public Clock {
 public:
  std::int64_t NowMs() const override { return base::SystemClock().BootMs(); }

  void WaitUntil(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
                 std::int64_t until_ms) const override {
    if (until_ms == kNever) return changed.wait(lock);
    const std::int64_t left_ms = until_ms - NowMs();
    if (left_ms <= 0) return;
    changed.wait_for(lock, std::chrono::milliseconds(std::min(left_ms, kLongestSleepMs)));
  }
};

}  // namespace

const Clock& BootClock() {
  static const MachineClock clock;
  return clock;
}

}  // namespace tenure
