#include "webhooks/worker.hpp"

#include <utility>

namespace tenure::webhooks {

void Worker::Post(base::Task task) {
  {
    const base::Lock lock(mutex_);
    if (stopping_) return;
    waiting_.push_back(std::move(task));
  }
  changed_.notify_one();
}

void Worker::Stop() {
  std::deque<base::Task> dropped;  // outside of the lock: a task may hold an exchange
  {
    const base::Lock lock(mutex_);
    stopping_ = true;
    dropped.swap(waiting_);
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Worker::Run() {
  for (;;) {
    base::Task task;
    {
      base::Lock lock(mutex_);
      while (!stopping_ && waiting_.empty()) changed_.wait(lock.native());
      if (stopping_) return;
      task = std::move(waiting_.front());
      waiting_.pop_front();
    }
    task();
  }
}

}  // namespace tenure::webhooks
