#include "tenure/testing/virtual_clock.hpp"

#include <algorithm>
#include <thread>

namespace tenure::testing {

std::int64_t VirtualClock::NowMs() const {
  const std::lock_guard lock(mutex_);
  return now_ms_;
}

void VirtualClock::WaitUntil(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
                             std::int64_t until_ms) const {
  std::list<Sleeper>::iterator self;
  {
    const std::lock_guard guard(mutex_);
    if (until_ms <= now_ms_) return;
    self = sleepers_.insert(sleepers_.end(), {lock.mutex(), &changed, until_ms});
  }
  changed.wait(lock);
  const std::lock_guard guard(mutex_);
  sleepers_.erase(self);
}

void VirtualClock::AdvanceTo(std::int64_t now_ms) {
  {
    const std::lock_guard lock(mutex_);
    now_ms_ = std::max(now_ms_, now_ms);
  }
  while (!WakeDue()) std::this_thread::yield();
}

bool VirtualClock::WakeDue() {
  const std::lock_guard lock(mutex_);
  bool all = true;
  for (Sleeper& sleeper : sleepers_) {
    if (sleeper.woken || sleeper.until_ms > now_ms_) continue;
    if (!sleeper.mutex->try_lock()) {
      all = false;
      continue;
    }
    sleeper.changed->notify_all();
    sleeper.woken = true;
    sleeper.mutex->unlock();
  }
  return all;
}

std::int64_t VirtualClock::NextWakeMs() const {
  const std::lock_guard lock(mutex_);
  std::int64_t next_ms = kNever;
  for (const Sleeper& sleeper : sleepers_)
    if (!sleeper.woken) next_ms = std::min(next_ms, sleeper.until_ms);
  return next_ms;
}

}  // namespace tenure::testing
