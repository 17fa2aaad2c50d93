#include "client/leases/pending_releases.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace tenure::client {
namespace {

constexpr std::int64_t kFirstReleasePauseMs = 50;
constexpr std::int64_t kLongestReleasePauseMs = 2'000;

}  // namespace

void PendingReleases::Release(leases::ReleaseRequest request, std::int64_t give_up_ms) {
  const base::Lock lock(mutex_);
  if (stopping_) return;  // the lease ends by itself
  waiting_.push_back({.request = std::move(request),
                      .give_up_ms = give_up_ms,
                      .next_ms = clock_.NowMs(),
                      .pause_ms = kFirstReleasePauseMs});
  if (threads_ && !thread_.joinable()) thread_ = std::thread([this] { Loop(); });
  changed_.notify_one();
}

void PendingReleases::Loop() {
  base::Lock lock(mutex_);
  while (!stopping_) {
    const std::int64_t next_ms = RunDue(lock);
    if (!stopping_ && next_ms > clock_.NowMs() && next_ms == NextMs())
      clock_.WaitUntil(lock.native(), changed_, next_ms);
  }
  RunLast(lock);
}

std::int64_t PendingReleases::RunDue() {
  base::Lock lock(mutex_);
  return RunDue(lock);
}

std::int64_t PendingReleases::RunDue(base::Lock& lock) {
  std::vector<PendingRelease> due;
  const std::int64_t now_ms = clock_.NowMs();
  for (const PendingRelease& release : waiting_)
    if (release.next_ms <= now_ms) due.push_back(release);
  std::erase_if(waiting_,
                [now_ms](const PendingRelease& release) { return release.next_ms <= now_ms; });
  for (PendingRelease& release : due) {
    if (stopping_) {  // the rest is for RunLast
      waiting_.push_back(release);
      continue;
    }
    lock.unlock();
    const bool done = Try(release);
    lock.lock();
    release.next_ms = clock_.NowMs() + release.pause_ms;
    release.pause_ms = std::min(release.pause_ms * 2, kLongestReleasePauseMs);
    if (!done && release.next_ms < release.give_up_ms) waiting_.push_back(release);
  }
  return NextMs();
}

void PendingReleases::RunLast(base::Lock& lock) {
  const std::vector<PendingRelease> last = std::exchange(waiting_, {});
  lock.unlock();
  for (const PendingRelease& release : last)
    if (!Try(release)) return;  // the store cannot be reached: they end by themselves
}

bool PendingReleases::Try(const PendingRelease& release) {
  try {
    connection_->Use(call_timeout_, [&](leases::Connection& connection) {
      return connection.Release(release.request, call_timeout_);
    });
    return true;
  } catch (const std::exception& e) {
    troubles_.Tell("releasing " + release.request.name, e);
    return false;
  }
}

std::int64_t PendingReleases::NextMs() const {
  std::int64_t next_ms = kNever;
  for (const PendingRelease& release : waiting_) next_ms = std::min(next_ms, release.next_ms);
  return next_ms;
}

void PendingReleases::Stop() {
  base::Lock lock(mutex_);
  if (stopping_) return;
  stopping_ = true;
  changed_.notify_one();
  if (!threads_) return RunLast(lock);
  lock.unlock();
  if (thread_.joinable()) thread_.join();
}

}  // namespace tenure::client
