#include "jobs/jobs.hpp"

#include <algorithm>

namespace tenure::jobs {
namespace {

/// After a fault; the store is away.
constexpr std::int64_t kTryAgainMs = 500;

}  // namespace

void Scheduler::Poll(wake::Poller::Cause, base::UniqueFunction<wake::Poller::Next> done) {
  jobs_.Fire([this, done = std::move(done)](const db::Result<FireReply>& result) mutable {
    if (!result.ok()) return done({.in_ms = kTryAgainMs});
    const FireReply& reply = result.value();
    if (reply.has_more) return done({.in_ms = 0});
    std::int64_t wait_ms = poll_max_ms_;
    if (reply.next_look_ms)
      wait_ms = std::clamp<std::int64_t>(*reply.next_look_ms - reply.now_ms, 0, poll_max_ms_);
    done({.in_ms = wait_ms, .locked = reply.has_locked});
  });
}

}  // namespace tenure::jobs
