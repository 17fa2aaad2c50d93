#include "holder/handlers.hpp"

#include <exception>

#include "base/log.hpp"

namespace tenure::holder {

void Handlers::Post(std::function<void()> handler) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return;
  waiting_.push_back(std::move(handler));
  if (threads_ && !thread_.joinable()) thread_ = std::thread([this] { Loop(); });
  posted_.notify_one();
}

void Handlers::RunAll() {
  std::unique_lock lock(mutex_);
  while (!waiting_.empty()) {
    const auto handler = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    Run(handler);
    lock.lock();
  }
}

void Handlers::Loop() {
  while (true) {
    RunAll();
    std::unique_lock lock(mutex_);
    posted_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
  }
}

void Handlers::Run(const std::function<void()>& handler) {
  try {
    handler();
  } catch (const std::exception& e) {
    base::LogWarn("leases.handler_threw", "A handler of lease events threw.",
                  {{"error", e.what()}});
  } catch (...) {
    base::LogWarn("leases.handler_threw", "A handler of lease events threw.");
  }
}

void Handlers::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  posted_.notify_one();
  if (thread_.joinable()) thread_.join();
}

}  // namespace tenure::holder
