#include "holder/sleep.hpp"

namespace tenure::holder {

bool SleepUntil(const Clock& clock, std::int64_t until_ms, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable changed;
  const std::stop_callback wake(stop, [&] {
    const std::lock_guard lock(mutex);  // so that it comes before the look or after the sleep began
    changed.notify_all();
  });
  std::unique_lock lock(mutex);
  while (!stop.stop_requested() && clock.NowMs() < until_ms)
    clock.WaitUntil(lock, changed, until_ms);
  lock.unlock();
  return !stop.stop_requested();
}

}  // namespace tenure::holder
