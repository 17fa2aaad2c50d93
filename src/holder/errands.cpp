#include "holder/errands.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/log.hpp"

namespace tenure::holder {
namespace {

constexpr std::int64_t kFirstPauseMs = 50;
constexpr std::int64_t kLongestPauseMs = 2'000;

}  // namespace

void Errands::Release(leases::ReleaseRequest request, std::int64_t give_up_ms) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return;  // the lease ends by itself
  waiting_.push_back({.request = std::move(request),
                      .give_up_ms = give_up_ms,
                      .next_ms = clock_.NowMs(),
                      .pause_ms = kFirstPauseMs});
  if (threads_ && !thread_.joinable()) thread_ = std::thread([this] { Loop(); });
  changed_.notify_one();
}

void Errands::Loop() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const std::int64_t next_ms = RunDue(lock);
    if (!stopping_ && next_ms > clock_.NowMs() && next_ms == NextMs())
      clock_.WaitUntil(lock, changed_, next_ms);
  }
  RunLast(lock);
}

std::int64_t Errands::RunDue() {
  std::unique_lock lock(mutex_);
  return RunDue(lock);
}

std::int64_t Errands::RunDue(std::unique_lock<std::mutex>& lock) {
  std::vector<Errand> due;
  const std::int64_t now_ms = clock_.NowMs();
  for (const Errand& errand : waiting_)
    if (errand.next_ms <= now_ms) due.push_back(errand);
  std::erase_if(waiting_, [now_ms](const Errand& errand) { return errand.next_ms <= now_ms; });
  for (Errand& errand : due) {
    if (stopping_) {  // the rest is for RunLast
      waiting_.push_back(errand);
      continue;
    }
    lock.unlock();
    const bool done = Try(errand);
    lock.lock();
    errand.next_ms = clock_.NowMs() + errand.pause_ms;
    errand.pause_ms = std::min(errand.pause_ms * 2, kLongestPauseMs);
    if (!done && errand.next_ms < errand.give_up_ms) waiting_.push_back(errand);
  }
  return NextMs();
}

void Errands::RunLast(std::unique_lock<std::mutex>& lock) {
  const std::vector<Errand> last = std::exchange(waiting_, {});
  lock.unlock();
  for (const Errand& errand : last)
    if (!Try(errand)) return;  // the store cannot be reached: they end by themselves
}

bool Errands::Try(const Errand& errand) {
  try {
    line_->Use(call_timeout_, [&](leases::Session& session) {
      return session.Release(errand.request, call_timeout_);
    });
    return true;
  } catch (const std::exception& e) {
    base::LogWarn("leases.release_failed", "A lease could not be released.",
                  {{"lease", errand.request.name}, {"error", e.what()}});
    return false;
  }
}

std::int64_t Errands::NextMs() const {
  std::int64_t next_ms = kNever;
  for (const Errand& errand : waiting_) next_ms = std::min(next_ms, errand.next_ms);
  return next_ms;
}

void Errands::Stop() {
  std::unique_lock lock(mutex_);
  if (stopping_) return;
  stopping_ = true;
  changed_.notify_one();
  if (!threads_) return RunLast(lock);
  lock.unlock();
  if (thread_.joinable()) thread_.join();
}

}  // namespace tenure::holder
