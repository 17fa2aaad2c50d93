#include "client/leases/lease_table.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/log.hpp"

namespace tenure::client {
namespace {

using leases::Grant;
using leases::Loss;
using leases::RenewOutcome;

constexpr const char* kDeadlinePassed = "no renewal succeeded before the local deadline";

Milliseconds Left(const Hold& hold, std::int64_t now_ms) {
  return Milliseconds(std::max<std::int64_t>(hold.keeper.valid_until_ms() - now_ms, 0));
}

}  // namespace

void LeaseTable::Add(const HoldPtr& hold) {
  const base::Lock lock(mutex_);
  if (stopping_) return;
  holds_.emplace(hold.get(), hold);
  ttls_.emplace(hold->keeper.ttl(), hold->keeper.margin());
  Reschedule(*hold);
  Nudge();  // the first lease, or a shorter ttl, changes how closely stalls are watched for
}

void LeaseTable::Reschedule(Hold& hold) {
  hold.Publish();
  if (!holds_.contains(&hold)) return;  // its manager has gone: nobody looks after it
  renewals_.Set(&hold, hold.keeper.next_renewal_ms());
  deadlines_.Set(&hold, hold.keeper.valid_until_ms());
  if (renewals_.NextMs() == hold.keeper.next_renewal_ms()) renewals_changed_.notify_one();
}

HoldPtr LeaseTable::Remove(Hold& hold) {
  hold.Publish();
  renewals_.Remove(&hold);
  deadlines_.Remove(&hold);
  const auto node = holds_.extract(&hold);
  if (!node) return nullptr;
  ttls_.erase(ttls_.find({hold.keeper.ttl(), hold.keeper.margin()}));
  return node.mapped();
}

void LeaseTable::Nudge() {
  nudged_ = true;
  alarm_changed_.notify_one();
}

// ---- renewals

Round LeaseTable::TakeRound() {
  const base::Lock lock(mutex_);
  Round round;
  round.sent_ms = clock_.NowMs();
  Expire(round.sent_ms);
  if (renewals_.NextMs() > round.sent_ms) return round;
  // One whose jitter could have made it due by now comes along: leases that began together stay
  // together, and a manager's leases need few calls.
  std::size_t looked_at = 0;
  for (const auto& [at_ms, hold] : renewals_.entries()) {
    if (looked_at++ == round_max_) break;
    if (hold->keeper.may_renew_from_ms() > round.sent_ms) continue;
    if (hold->keeper.BeginRenewal(round.sent_ms)) round.holds.push_back(holds_.at(hold));
  }
  for (const HoldPtr& hold : round.holds) {
    Reschedule(*hold);
    round.requests.push_back({.name = hold->name, .fence = hold->fence, .term = hold->term});
  }
  // A call for patient leases must not keep the thread from an impatient one.
  if (!ttls_.empty()) round.timeout = RenewalTimeout(ttls_.begin()->first);
  return round;
}

void LeaseTable::Answered(const Round& round, const std::vector<RenewOutcome>& outcomes) {
  if (outcomes.size() != round.holds.size())
    return Failed(round, {"the provider did not answer for each lease"});
  const base::Lock lock(mutex_);
  const CallTimes times{.sent_ms = round.sent_ms, .received_ms = clock_.NowMs()};
  for (std::size_t i = 0; i < outcomes.size(); ++i) Apply(round.holds[i], outcomes[i], times);
  for (const RenewOutcome& outcome : outcomes) {
    const auto* grant = std::get_if<Grant>(&outcome);
    if (!grant) continue;
    ObserveStoreClock(grant->now_ms, times);
    break;  // one statement answered all
  }
}

void LeaseTable::AnsweredPartly(const Round& round, const leases::PartlyRenewed::Answers& answers,
                                const FailedTry& failure) {
  if (answers.size() != round.holds.size()) return Failed(round, failure);
  const base::Lock lock(mutex_);
  const CallTimes times{.sent_ms = round.sent_ms, .received_ms = clock_.NowMs()};
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (answers[i])
      Apply(round.holds[i], *answers[i], times);
    else
      ApplyFailure(round.holds[i], failure, times.received_ms);
  }
}

void LeaseTable::Failed(const Round& round, const FailedTry& failure) {
  const base::Lock lock(mutex_);
  for (const HoldPtr& hold : round.holds) ApplyFailure(hold, failure, clock_.NowMs());
}

bool LeaseTable::Answered(const HoldPtr& hold, const RenewOutcome& outcome, CallTimes times) {
  const base::Lock lock(mutex_);
  return Apply(hold, outcome, times);
}

void LeaseTable::Failed(const HoldPtr& hold, const FailedTry& failure) {
  const base::Lock lock(mutex_);
  ApplyFailure(hold, failure, clock_.NowMs());
}

bool LeaseTable::Apply(const HoldPtr& hold, const RenewOutcome& outcome, CallTimes times) {
  if (const auto* grant = std::get_if<Grant>(&outcome)) return ApplyGrant(hold, *grant, times);
  const auto reason = std::get<Loss>(outcome).reason;
  if (hold->keeper.Lose(reason, times.received_ms))
    QueueLoss(hold, fmt::format("the store says: {}", ToText(reason)), times.received_ms);
  return false;
}

bool LeaseTable::ApplyGrant(const HoldPtr& hold, const Grant& grant, CallTimes times) {
  const std::int64_t now_ms = times.received_ms;
  if (grant.fence != hold->fence) {
    ApplyFailure(hold, {"the provider answered with another fence"}, now_ms);
    return false;
  }
  switch (hold->keeper.Renewed(grant, times)) {
    case Keeper::Answer::kIgnored:
      return false;  // it is over, or about to be told so
    case Keeper::Answer::kTooSlow:
      AfterFailure(hold, "the answer came too late to be of use", now_ms);
      return false;
    case Keeper::Answer::kExtended:
      break;
  }
  ++stats_.renewals;
  hold->grant = grant;
  if (hold->keeper.clock_gain_ms() > 0) {
    ++stats_.clock_gains;
    base::LogWarn("leases.clock_gained", "The store's clock gained on this machine's.",
                  {{"lease", hold->name}, {"gain_ms", hold->keeper.clock_gain_ms()}});
  }
  Reschedule(*hold);
  if (hold->events.renewed)
    handlers_.Post([hold, event = leases::Renewed{hold->name, hold->fence, Left(*hold, now_ms)}] {
      hold->events.renewed(event);
    });
  return true;
}

void LeaseTable::ApplyFailure(const HoldPtr& hold, const FailedTry& failure, std::int64_t now_ms) {
  if (hold->keeper.over()) return;
  hold->keeper.Failed(now_ms, failure.retry_after);
  AfterFailure(hold, failure.error, now_ms);
}

void LeaseTable::AfterFailure(const HoldPtr& hold, const std::string& error, std::int64_t now_ms) {
  ++stats_.renewal_failures;
  Reschedule(*hold);
  if (!hold->events.renewal_failed) return;
  handlers_.Post([hold, event = leases::RenewalFailed{
                            hold->name, hold->fence, error, Left(*hold, now_ms),
                            hold->keeper.failures()}] { hold->events.renewal_failed(event); });
}

void LeaseTable::ObserveStoreClock(std::int64_t store_now_ms, CallTimes times) {
  for (const auto& [hold, pointer] : holds_) {
    const std::int64_t gain_ms = hold->keeper.ObserveStoreClock(store_now_ms, times);
    if (gain_ms == 0) continue;
    ++stats_.clock_gains;
    base::LogWarn("leases.clock_gained", "The store's clock gained on this machine's.",
                  {{"lease", hold->name}, {"gain_ms", gain_ms}});
    Reschedule(*hold);
  }
}

bool LeaseTable::AwaitRenewal() {
  base::Lock lock(mutex_);
  while (!stopping_ && renewals_.NextMs() > clock_.NowMs())
    clock_.WaitUntil(lock.native(), renewals_changed_, renewals_.NextMs());
  return !stopping_;
}

// ---- the end of leases

bool LeaseTable::Release(Hold& hold) {
  const base::Lock lock(mutex_);
  if (!hold.keeper.Release(clock_.NowMs())) return false;
  Remove(hold);
  return true;
}

void LeaseTable::ExpireOverdue() {
  const base::Lock lock(mutex_);
  Expire(clock_.NowMs());
}

void LeaseTable::Expire(std::int64_t now_ms) {
  while (deadlines_.NextMs() <= now_ms) {
    const HoldPtr hold = holds_.at(deadlines_.entries().begin()->second);
    hold->keeper.Expire(now_ms);
    QueueLoss(hold, kDeadlinePassed, now_ms);
  }
}

void LeaseTable::ExpireIfOverdue(const HoldPtr& hold) {
  const base::Lock lock(mutex_);
  const std::int64_t now_ms = clock_.NowMs();
  if (hold->keeper.Expire(now_ms)) QueueLoss(hold, kDeadlinePassed, now_ms);
}

void LeaseTable::QueueLoss(const HoldPtr& hold, std::string detail, std::int64_t now_ms) {
  hold->loss =
      leases::Lost{.lease = hold->name,
                   .fence = hold->fence,
                   .verdict = hold->keeper.verdict(),
                   .detail = std::move(detail),
                   .since_last_success = Milliseconds(now_ms - hold->keeper.last_success_ms())};
  Remove(*hold);
  ++stats_.lost;
  if (stopping_) return;  // its token was requested when the manager went
  losses_.push_back(hold);
  Nudge();
}

std::vector<HoldPtr> LeaseTable::TakeLosses() {
  const base::Lock lock(mutex_);
  return std::exchange(losses_, {});
}

// ---- the watchdog

LeaseTable::Wake LeaseTable::AwaitAlarm(std::int64_t until_ms) {
  base::Lock lock(mutex_);
  // A deadline that moves to a later time needs no new plan: waking up for nothing is harmless.
  planned_ms_ = std::min(until_ms, deadlines_.NextMs());
  while (!stopping_ && !nudged_ && clock_.NowMs() < planned_ms_)
    clock_.WaitUntil(lock.native(), alarm_changed_, planned_ms_);
  nudged_ = false;
  return {.running = !stopping_, .planned_ms = std::exchange(planned_ms_, kNever)};
}

void LeaseTable::Expect(std::int64_t at_ms) {
  const base::Lock lock(mutex_);
  if (at_ms < planned_ms_) Nudge();
}

void LeaseTable::Hasten(const leases::Stalled& stalled) {
  const base::Lock lock(mutex_);
  ++stats_.stalls;
  for (const auto& [hold, pointer] : holds_) {
    hold->keeper.Hasten(clock_.NowMs());
    Reschedule(*hold);
    if (hold->events.stalled)
      handlers_.Post([kept = pointer, stalled] { kept->events.stalled(stalled); });
  }
}

std::int64_t LeaseTable::NextMs() const {
  const base::Lock lock(mutex_);
  return std::min(renewals_.NextMs(), deadlines_.NextMs());
}

std::int64_t LeaseTable::NextRenewalMs() const {
  const base::Lock lock(mutex_);
  return renewals_.NextMs();
}

LeaseTable::Shortest LeaseTable::ShortestHeld() const {
  const base::Lock lock(mutex_);
  if (ttls_.empty()) return {};
  return {.ttl = ttls_.begin()->first, .margin = ttls_.begin()->second};
}

leases::ManagerStats LeaseTable::stats() const {
  const base::Lock lock(mutex_);
  leases::ManagerStats stats = stats_;
  stats.active = static_cast<std::int64_t>(holds_.size());
  return stats;
}

void LeaseTable::CountAcquired() {
  const base::Lock lock(mutex_);
  ++stats_.acquired;
}

std::vector<HoldPtr> LeaseTable::Stop() {
  const base::Lock lock(mutex_);
  stopping_ = true;
  std::vector<HoldPtr> kept;
  for (const auto& [hold, pointer] : holds_) kept.push_back(pointer);
  for (const HoldPtr& hold : kept) Remove(*hold);
  renewals_changed_.notify_all();
  alarm_changed_.notify_all();
  return kept;
}

}  // namespace tenure::client
