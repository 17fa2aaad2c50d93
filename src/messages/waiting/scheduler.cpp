#include "messages/waiting/scheduler.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "messages/hold/heartbeat.hpp"
#include "messages/messages.hpp"

namespace tenure::messages {
namespace {

constexpr std::int64_t kReapEveryMs = 1'000;
/// After a fault; the store is away.
constexpr std::int64_t kTryAgainMs = 1'000;
constexpr std::int64_t kTimerFlagMs = 60'000;

}  // namespace

Scheduler::Scheduler(Messages& messages, bool others_commit, wake::Registry& wake,
                     const base::Clock& clock, std::int64_t poll_max_ms)
    : messages_(messages),
      others_commit_(others_commit),
      wake_(wake),
      clock_(clock),
      poll_max_ms_(poll_max_ms) {}

void Scheduler::Start() {
  is_running_ = true;
  patient_since_boot_ms_ = clock_.BootMs();
  promoting_.emplace(wake_, clock_, std::string(kTimerKey), promoter_).PollWithin(0);
  reaping_.emplace(wake_, clock_, "", reaper_).PollWithin(kReapEveryMs);
  if (others_commit_)
    sorting_.emplace(wake_, clock_, std::string(kTimerKey), sorter_).PollWithin(0);
}

void Scheduler::Stop() {
  if (promoting_) promoting_->Stop();
  if (reaping_) reaping_->Stop();
  if (sorting_) sorting_->Stop();
}

void Scheduler::Promote(Done done) {
  RefreshFlag();
  messages_.PromoteSome(
      [this, done = std::move(done)](const db::Result<PromoteReply>& result) mutable {
        if (result.ok()) return done(AfterPromotion(result.value()));
        StoreWasAway();
        done({.in_ms = kTryAgainMs});
      });
}

void Scheduler::Sort(Done done) {
  messages_.SortSome(
      {.keyed_after = sorted_after_},
      [this, done = std::move(done)](const db::Result<SortReply>& result) mutable {
        if (!result.ok()) return done({.in_ms = kTryAgainMs});
        const SortReply& reply = result.value();
        if (keyed_under_way_ == 0) SortKeyed(reply.keyed);
        done({.in_ms = reply.has_more ? 0 : poll_max_ms_, .locked = reply.has_locked});
      });
}

/// One by one, and nothing waits for them: a user's transaction may hold the key of each. Those
/// that fail are tried again when all others had their turn. Where many were sorted at once, there
/// are probably more.
void Scheduler::SortKeyed(const std::vector<std::int64_t>& keyed) {
  const bool is_full = keyed.size() == kKeyedAtOnce;
  sorted_after_ = is_full ? keyed.back() : 0;
  keyed_under_way_ = keyed.size();
  for (const std::int64_t each : keyed)
    messages_.SortSome({.keyed = each}, [this, is_full](const db::Result<SortReply>& result) {
      if (--keyed_under_way_ == 0 && is_full && result.ok()) sorting_->PollWithin(0);
    });
}

wake::Poller::Next Scheduler::AfterPromotion(const PromoteReply& reply) const {
  if (reply.has_more) return {.in_ms = 0};
  std::int64_t wait_ms = poll_max_ms_;
  if (reply.next_due_ms)
    wait_ms = std::clamp<std::int64_t>(*reply.next_due_ms - reply.now_ms, 0, poll_max_ms_);
  return {.in_ms = wait_ms, .locked = reply.has_locked};
}

/// Others tell us of timers that are set. Who sets one just before the flag is there tells nobody:
/// the look after poll_max_ms finds it.
void Scheduler::RefreshFlag() {
  if (!others_commit_ || clock_.BootMs() < flag_until_boot_ms_ - kTimerFlagMs / 2) return;
  flag_until_boot_ms_ = clock_.BootMs() + kTimerFlagMs;
  messages_.Watch({{{"", ""}}, {}, kTimerFlagMs}, [this](const db::Result<WatchReply>& result) {
    if (!result.ok()) flag_until_boot_ms_ = 0;
  });
}

void Scheduler::Reap(Done done) {
  const std::int64_t patient_ms = clock_.BootMs() - patient_since_boot_ms_;
  if (patient_ms < kWorkerTtlMs) return done({.in_ms = kReapEveryMs});
  messages_.ReapSome({patient_ms >= kDefaultLeaseMs},
                     [this, done = std::move(done)](const db::Result<ReapReply>& result) mutable {
                       if (!result.ok()) StoreWasAway();
                       const bool has_more = result.ok() && result.value().has_more;
                       done({.in_ms = has_more ? 0 : kReapEveryMs});
                     });
}

}  // namespace tenure::messages
