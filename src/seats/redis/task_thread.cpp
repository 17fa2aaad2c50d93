#include "seats/redis/task_thread.hpp"

#include <utility>

namespace tenure::seats {

void TaskThread::Start() {
  thread_ = std::thread([this] { Run(); });
}

void TaskThread::Stop() {
  {
    const base::Lock lock(mutex_);
    stops_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void TaskThread::Post(base::Task task) {
  {
    const base::Lock lock(mutex_);
    if (stops_) return;
    tasks_.push_back(std::move(task));
  }
  changed_.notify_one();
}

void TaskThread::Hasten() {
  {
    const base::Lock lock(mutex_);
    round_at_ = {};
  }
  changed_.notify_one();
}

base::Task TaskThread::NextTask(bool& ends) {
  base::Lock lock(mutex_);
  const auto is_ready = [&] {
    mutex_.AssertHeld();
    return stops_ || !tasks_.empty() || (round_ && Clock::now() >= round_at_);
  };
  while (!is_ready())
    if (round_)
      changed_.wait_until(lock.native(), round_at_);
    else
      changed_.wait(lock.native());
  ends = stops_ && tasks_.empty();
  // A round is not kept waiting by those who always have something.
  const bool is_round = !stops_ && round_ && Clock::now() >= round_at_;
  if (is_round || tasks_.empty()) return {};
  base::Task task = std::move(tasks_.front());
  tasks_.pop_front();
  return task;
}

void TaskThread::Run() {
  while (true) {
    bool ends = false;
    base::Task task = NextTask(ends);
    if (ends) return;
    if (task) {
      task();
      continue;
    }
    RunRound(Clock::now());
  }
}

void TaskThread::RunRound(Clock::time_point now) {
  {
    // A round that is hastened while it runs is followed by another.
    const base::Lock lock(mutex_);
    round_at_ = Clock::time_point::max();
  }
  const auto next = now + std::chrono::milliseconds(round_());
  const base::Lock lock(mutex_);
  if (round_at_ == Clock::time_point::max()) round_at_ = next;
}

bool TaskThread::RunOne(std::int64_t now_ms) {
  const Clock::time_point now{std::chrono::milliseconds(now_ms)};
  base::Task task;
  {
    const base::Lock lock(mutex_);
    const bool is_round = round_ && now >= round_at_;
    if (stops_ || (!is_round && tasks_.empty())) return false;
    if (!is_round) {
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
  }
  if (task)
    task();
  else
    RunRound(now);
  return true;
}

}  // namespace tenure::seats
