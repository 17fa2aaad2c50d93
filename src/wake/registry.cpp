#include "wake/registry.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.hpp"

namespace tenure::wake {

Registry::Id Registry::Wait(std::string key, std::int64_t until_boot_ms, base::Task wake) {
  const base::Lock lock(mutex_);
  const Id id = next_id_++;
  if (stopped_) return id;
  by_key_[key].insert(id);
  if (until_boot_ms != kNever) by_time_.emplace(until_boot_ms, id);
  registrations_.emplace(id, Registration{std::move(key), until_boot_ms, std::move(wake)});
  // The thread sleeps until the earliest time that it knows of.
  if (until_boot_ms != kNever && by_time_.begin()->second == id) WakeThread();
  return id;
}

bool Registry::Cancel(Id id) {
  base::Task dropped;  // destroyed after the lock is let go: what it owns may call us
  const base::Lock lock(mutex_);
  const auto found = registrations_.find(id);
  if (found == registrations_.end()) return false;
  if (!found->second.due) Unlist(*found);
  dropped = std::move(found->second.wake);
  registrations_.erase(found);
  return true;
}

void Registry::SignalAll(std::string_view key) {
  const base::Lock lock(mutex_);
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return;
  const Ids ids = found->second;
  for (const Id id : ids) MakeDue(registrations_.find(id));
  WakeThread();
}

void Registry::SignalEverybody() {
  const base::Lock lock(mutex_);
  // Key by key, and each key's in order of arrival.
  while (!by_key_.empty()) MakeDue(registrations_.find(*by_key_.begin()->second.begin()));
  if (!due_.empty()) WakeThread();
}

void Registry::MakeDue(Registrations::iterator which) {
  Unlist(*which);
  which->second.due = true;
  due_.push_back(which->first);
}

void Registry::Unlist(const Registrations::value_type& which) {
  const auto& [id, what] = which;
  const auto same_key = by_key_.find(what.key);
  same_key->second.erase(id);
  if (same_key->second.empty()) by_key_.erase(same_key);
  by_time_.erase({what.until_boot_ms, id});
}

void Registry::CollectTimers() {
  const std::int64_t now_ms = clock_.BootMs();
  while (!by_time_.empty() && by_time_.begin()->first <= now_ms)
    MakeDue(registrations_.find(by_time_.begin()->second));
}

base::Task Registry::Take(Id id) {
  const base::Lock lock(mutex_);
  const auto found = registrations_.find(id);
  if (found == registrations_.end()) return {};
  base::Task task = std::move(found->second.wake);
  registrations_.erase(found);
  return task;
}

std::size_t Registry::RunPass() {
  std::deque<Id> batch;
  {
    const base::Lock lock(mutex_);
    CollectTimers();
    batch.swap(due_);
  }
  std::size_t ran = 0;
  for (const Id id : batch) {
    base::Task task = Take(id);
    if (!task) continue;  // cancelled, or we were stopped
    task();
    ++ran;
  }
  return ran;
}

std::size_t Registry::RunDue() {
  TENURE_CHECK(!thread_.joinable(), "a registry with a thread is not driven by hand");
  return RunPass();
}

std::size_t Registry::size() const {
  const base::Lock lock(mutex_);
  return registrations_.size();
}

void Registry::Start() {
  TENURE_CHECK(&clock_ == &base::SystemClock(), "the thread sleeps by the machine's clock");
  const base::Lock lock(mutex_);
  TENURE_CHECK(!thread_.joinable() && !stopped_, "a registry is started once");
  timer_ = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
  wakeup_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  TENURE_CHECK(timer_ >= 0 && wakeup_ >= 0, "no descriptors left for the timers");
  thread_is_awake_ = true;
  thread_ = std::thread([this] { Loop(); });
}

void Registry::Stop() {
  Registrations dropped;  // destroyed after the lock is let go
  {
    const base::Lock lock(mutex_);
    stopped_ = true;
    WakeThread();
    dropped.swap(registrations_);
    by_key_.clear();
    by_time_.clear();
    due_.clear();
  }
  if (!thread_.joinable()) return;
  thread_.join();
  const base::Lock lock(mutex_);
  close(std::exchange(timer_, -1));
  close(std::exchange(wakeup_, -1));
}

void Registry::Loop() {
  std::array<pollfd, 2> ready{};
  {
    const base::Lock lock(mutex_);
    ready = {pollfd{timer_, POLLIN, 0}, pollfd{wakeup_, POLLIN, 0}};
  }
  while (true) {
    RunPass();
    {
      const base::Lock lock(mutex_);
      if (stopped_) return;
      if (!due_.empty()) continue;
      ArmTimer();
      thread_is_awake_ = false;
    }
    // Whoever adds something from here on finds us asleep and writes to the eventfd: poll returns.
    poll(ready.data(), ready.size(), -1);
    const base::Lock lock(mutex_);
    thread_is_awake_ = true;
    eventfd_t count = 0;
    eventfd_read(wakeup_, &count);  // the timer needs no reading: arming it again clears it
  }
}

/// A time that has passed meanwhile makes the timer expire at once: no reading of the clock is
/// missed between CollectTimers and poll.
void Registry::ArmTimer() {
  itimerspec when{};  // all zero: disarmed
  if (!by_time_.empty()) {
    const std::int64_t ms = std::max<std::int64_t>(1, by_time_.begin()->first);
    when.it_value.tv_sec = ms / 1'000;
    when.it_value.tv_nsec = (ms % 1'000) * 1'000'000;
  }
  TENURE_CHECK(timerfd_settime(timer_, TFD_TIMER_ABSTIME, &when, nullptr) == 0,
               "the timer does not take a time");
}

void Registry::WakeThread() {
  if (thread_is_awake_ || wakeup_ < 0) return;
  thread_is_awake_ = true;  // it is on its way: one write is enough
  eventfd_write(wakeup_, 1);
}

}  // namespace tenure::wake
