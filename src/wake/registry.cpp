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
  const std::lock_guard lock(mutex_);
  const Id id = next_id_++;
  if (stopped_) return id;
  by_key_[key].insert(id);
  if (until_boot_ms != kNever) by_time_.emplace(until_boot_ms, id);
  waiters_.emplace(id, Waiter{std::move(key), until_boot_ms, std::move(wake)});
  // The thread sleeps until the earliest time that it knows of.
  if (until_boot_ms != kNever && by_time_.begin()->second == id) WakeThread();
  return id;
}

bool Registry::Cancel(Id id) {
  base::Task dropped;  // destroyed after the lock is let go: what it owns may call us
  const std::lock_guard lock(mutex_);
  const auto found = waiters_.find(id);
  if (found == waiters_.end()) return false;
  if (found->second.state == State::kWaiting) Unlist(*found);
  const bool chosen = found->second.state == State::kChosen;
  const std::string key = std::move(found->second.key);
  dropped = std::move(found->second.wake);
  waiters_.erase(found);
  if (chosen) SignalLocked(key);
  return true;
}

void Registry::Signal(std::string_view key) {
  const std::lock_guard lock(mutex_);
  SignalLocked(key);
}

void Registry::SignalLocked(std::string_view key) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return;
  MakeDue(waiters_.find(*found->second.begin()), State::kChosen);
  WakeThread();
}

void Registry::SignalAll(std::string_view key) {
  const std::lock_guard lock(mutex_);
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return;
  const Ids ids = found->second;
  for (const Id id : ids) MakeDue(waiters_.find(id), State::kDue);
  WakeThread();
}

void Registry::SignalEverybody() {
  const std::lock_guard lock(mutex_);
  // Key by key, and each key's in order of arrival.
  while (!by_key_.empty()) MakeDue(waiters_.find(*by_key_.begin()->second.begin()), State::kDue);
  if (!due_.empty()) WakeThread();
}

void Registry::MakeDue(Waiters::iterator waiter, State why) {
  Unlist(*waiter);
  waiter->second.state = why;
  due_.push_back(waiter->first);
}

void Registry::Unlist(const Waiters::value_type& waiter) {
  const auto& [id, what] = waiter;
  const auto same_key = by_key_.find(what.key);
  same_key->second.erase(id);
  if (same_key->second.empty()) by_key_.erase(same_key);
  by_time_.erase({what.until_boot_ms, id});
}

void Registry::CollectTimers() {
  const std::int64_t now_ms = clock_.BootMs();
  while (!by_time_.empty() && by_time_.begin()->first <= now_ms)
    MakeDue(waiters_.find(by_time_.begin()->second), State::kDue);
}

base::Task Registry::Take(Id id) {
  const std::lock_guard lock(mutex_);
  const auto waiter = waiters_.find(id);
  if (waiter == waiters_.end()) return {};
  base::Task task = std::move(waiter->second.wake);
  waiters_.erase(waiter);
  return task;
}

std::size_t Registry::RunPass() {
  std::deque<Id> batch;
  {
    const std::lock_guard lock(mutex_);
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
  const std::lock_guard lock(mutex_);
  return waiters_.size();
}

void Registry::Start() {
  TENURE_CHECK(&clock_ == &base::SystemClock(), "the thread sleeps by the machine's clock");
  const std::lock_guard lock(mutex_);
  TENURE_CHECK(!thread_.joinable() && !stopped_, "a registry is started once");
  timer_ = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
  wakeup_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  TENURE_CHECK(timer_ >= 0 && wakeup_ >= 0, "no descriptors left for the timers");
  thread_is_awake_ = true;
  thread_ = std::thread([this] { Loop(); });
}

void Registry::Stop() {
  Waiters dropped;  // destroyed after the lock is let go
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    WakeThread();
    dropped.swap(waiters_);
    by_key_.clear();
    by_time_.clear();
    due_.clear();
  }
  if (!thread_.joinable()) return;
  thread_.join();
  const std::lock_guard lock(mutex_);
  close(std::exchange(timer_, -1));
  close(std::exchange(wakeup_, -1));
}

void Registry::Loop() {
  std::array<pollfd, 2> ready{pollfd{timer_, POLLIN, 0}, pollfd{wakeup_, POLLIN, 0}};
  while (true) {
    RunPass();
    {
      const std::lock_guard lock(mutex_);
      if (stopped_) return;
      if (!due_.empty()) continue;
      ArmTimer();
      thread_is_awake_ = false;
    }
    // Whoever adds something from here on finds us asleep and writes to the eventfd: poll returns.
    poll(ready.data(), ready.size(), -1);
    const std::lock_guard lock(mutex_);
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
