#include "client/leases/handlers.hpp"

#include "base/log.hpp"
#include "base/mutex.hpp"

namespace tenure::client {

void RunHook(const std::function<void()>& hook) noexcept {
  try {
    hook();
  } catch (const std::exception& error) {
    base::LogWarn("library.handler_threw", "A handler threw.", {{"error", error.what()}});
  } catch (...) {
    base::LogWarn("library.handler_threw", "A handler threw something that is no std::exception.");
  }
}

void Troubles::Tell(std::string_view doing, const std::exception& error) {
  if (MayLog())
    base::LogWarn(event_, "There is trouble with the store; it is tried again.",
                  {{"doing", doing}, {"error", error.what()}});
  if (hook_) RunHook([&] { hook_(std::string(doing) + ": " + error.what()); });
}

bool Troubles::MayLog() {
  const base::Lock lock(mutex_);
  if (clock_.NowMs() < next_line_ms_) return false;
  next_line_ms_ = clock_.NowMs() + kLogEveryMs;
  return true;
}

void Handlers::Post(std::function<void()> handler) {
  const base::Lock lock(mutex_);
  if (stopping_) return;
  waiting_.push_back(std::move(handler));
  if (threads_ && !thread_.joinable()) thread_ = std::thread([this] { Loop(); });
  posted_.notify_one();
}

void Handlers::RunAll() {
  base::Lock lock(mutex_);
  while (!waiting_.empty()) {
    const auto handler = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    RunHook(handler);
    lock.lock();
  }
}

void Handlers::Loop() {
  while (true) {
    RunAll();
    base::Lock lock(mutex_);
    posted_.wait(lock.native(), [this] {
      mutex_.AssertHeld();
      return stopping_ || !waiting_.empty();
    });
    if (waiting_.empty()) return;
  }
}

void Handlers::Stop() {
  {
    const base::Lock lock(mutex_);
    stopping_ = true;
  }
  posted_.notify_one();
  if (thread_.joinable()) thread_.join();
}

bool SleepUntil(const Clock& clock, std::int64_t until_ms, const std::stop_token& stop) {
  base::Mutex mutex;
  std::condition_variable changed;
  const std::stop_callback wake(stop, [&] {
    const base::Lock lock(mutex);  // so that it comes before the look or after the sleep began
    changed.notify_all();
  });
  base::Lock lock(mutex);
  while (!stop.stop_requested() && clock.NowMs() < until_ms)
    clock.WaitUntil(lock.native(), changed, until_ms);
  lock.unlock();
  return !stop.stop_requested();
}

}  // namespace tenure::client
