#include "holder/roster.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/log.hpp"

namespace tenure::holder {
namespace {

using leases::Grant;
using leases::Loss;
using leases::RenewOutcome;

/// The most leases in one call.
constexpr std::size_t kRoundLeases = 1000;

constexpr const char* kDeadlinePassed = "no renewal succeeded before the local deadline";

Milliseconds Left(const Hold& hold, std::int64_t now_ms) {
  return Milliseconds(std::max<std::int64_t>(hold.keeper.valid_until_ms() - now_ms, 0));
}

}  // namespace

void Roster::Add(const HoldPtr& hold) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return;
  holds_.emplace(hold.get(), hold);
  ttls_.emplace(hold->keeper.ttl(), hold->keeper.margin());
  Reschedule(*hold);
  Nudge();  // the first lease, or a shorter ttl, changes how closely stalls are watched for
}

void Roster::Reschedule(Hold& hold) {
  hold.Publish();
  if (!holds_.contains(&hold)) return;  // its manager has gone: nobody looks after it
  renewals_.Set(&hold, hold.keeper.next_renewal_ms());
  deadlines_.Set(&hold, hold.keeper.valid_until_ms());
  if (renewals_.NextMs() == hold.keeper.next_renewal_ms()) renewals_changed_.notify_one();
}

HoldPtr Roster::Remove(Hold& hold) {
  hold.Publish();
  renewals_.Remove(&hold);
  deadlines_.Remove(&hold);
  const auto node = holds_.extract(&hold);
  if (!node) return nullptr;
  ttls_.erase(ttls_.find({hold.keeper.ttl(), hold.keeper.margin()}));
  return node.mapped();
}

void Roster::Nudge() {
  nudged_ = true;
  alarm_changed_.notify_one();
}

// ---- renewals

Round Roster::TakeRound() {
  const std::lock_guard lock(mutex_);
  Round round;
  round.sent_ms = clock_.NowMs();
  Expire(round.sent_ms);
  if (renewals_.NextMs() > round.sent_ms) return round;
  // One whose jitter could have made it due by now comes along: leases that began together stay
  // together, and a manager's leases need few calls.
  std::size_t looked_at = 0;
  for (const auto& [at_ms, hold] : renewals_.entries()) {
    if (looked_at++ == kRoundLeases) break;
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

void Roster::Answered(const Round& round, const std::vector<RenewOutcome>& outcomes) {
  if (outcomes.size() != round.holds.size())
    return Failed(round, "the provider did not answer for each lease");
  const std::lock_guard lock(mutex_);
  const Exchange exchange{.sent_ms = round.sent_ms, .received_ms = clock_.NowMs()};
  for (std::size_t i = 0; i < outcomes.size(); ++i) Apply(round.holds[i], outcomes[i], exchange);
  for (const RenewOutcome& outcome : outcomes) {
    const auto* grant = std::get_if<Grant>(&outcome);
    if (!grant) continue;
    ObserveStoreClock(grant->now_ms, exchange);
    break;  // one statement answered all
  }
}

void Roster::Failed(const Round& round, const std::string& error) {
  const std::lock_guard lock(mutex_);
  for (const HoldPtr& hold : round.holds) ApplyFailure(hold, error, clock_.NowMs());
}

bool Roster::Answered(const HoldPtr& hold, const RenewOutcome& outcome, Exchange exchange) {
  const std::lock_guard lock(mutex_);
  return Apply(hold, outcome, exchange);
}

void Roster::Failed(const HoldPtr& hold, const std::string& error) {
  const std::lock_guard lock(mutex_);
  ApplyFailure(hold, error, clock_.NowMs());
}

bool Roster::Apply(const HoldPtr& hold, const RenewOutcome& outcome, Exchange exchange) {
  if (const auto* grant = std::get_if<Grant>(&outcome)) return ApplyGrant(hold, *grant, exchange);
  const auto reason = std::get<Loss>(outcome).reason;
  if (hold->keeper.Lose(reason, exchange.received_ms))
    QueueLoss(hold, fmt::format("the store says: {}", ToText(reason)), exchange.received_ms);
  return false;
}

bool Roster::ApplyGrant(const HoldPtr& hold, const Grant& grant, Exchange exchange) {
  const std::int64_t now_ms = exchange.received_ms;
  if (grant.fence != hold->fence) {
    ApplyFailure(hold, "the provider answered with another fence", now_ms);
    return false;
  }
  switch (hold->keeper.Renewed(grant, exchange)) {
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

void Roster::ApplyFailure(const HoldPtr& hold, const std::string& error, std::int64_t now_ms) {
  if (hold->keeper.over()) return;
  hold->keeper.Failed(now_ms);
  AfterFailure(hold, error, now_ms);
}

void Roster::AfterFailure(const HoldPtr& hold, const std::string& error, std::int64_t now_ms) {
  ++stats_.renewal_failures;
  Reschedule(*hold);
  if (!hold->events.renewal_failed) return;
  handlers_.Post([hold, event = leases::RenewalFailed{
                            hold->name, hold->fence, error, Left(*hold, now_ms),
                            hold->keeper.failures()}] { hold->events.renewal_failed(event); });
}

void Roster::ObserveStoreClock(std::int64_t store_now_ms, Exchange exchange) {
  for (const auto& [hold, pointer] : holds_) {
    const std::int64_t gain_ms = hold->keeper.ObserveStoreClock(store_now_ms, exchange);
    if (gain_ms == 0) continue;
    ++stats_.clock_gains;
    base::LogWarn("leases.clock_gained", "The store's clock gained on this machine's.",
                  {{"lease", hold->name}, {"gain_ms", gain_ms}});
    Reschedule(*hold);
  }
}

bool Roster::AwaitRenewal() {
  std::unique_lock lock(mutex_);
  while (!stopping_ && renewals_.NextMs() > clock_.NowMs())
    clock_.WaitUntil(lock, renewals_changed_, renewals_.NextMs());
  return !stopping_;
}

// ---- the end of leases

bool Roster::Release(Hold& hold) {
  const std::lock_guard lock(mutex_);
  if (!hold.keeper.Release(clock_.NowMs())) return false;
  Remove(hold);
  return true;
}

void Roster::ExpireOverdue() {
  const std::lock_guard lock(mutex_);
  Expire(clock_.NowMs());
}

void Roster::Expire(std::int64_t now_ms) {
  while (deadlines_.NextMs() <= now_ms) {
    const HoldPtr hold = holds_.at(deadlines_.entries().begin()->second);
    hold->keeper.Expire(now_ms);
    QueueLoss(hold, kDeadlinePassed, now_ms);
  }
}

void Roster::ExpireIfOverdue(const HoldPtr& hold) {
  const std::lock_guard lock(mutex_);
  const std::int64_t now_ms = clock_.NowMs();
  if (hold->keeper.Expire(now_ms)) QueueLoss(hold, kDeadlinePassed, now_ms);
}

void Roster::QueueLoss(const HoldPtr& hold, std::string detail, std::int64_t now_ms) {
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

std::vector<HoldPtr> Roster::TakeLosses() {
  const std::lock_guard lock(mutex_);
  return std::exchange(losses_, {});
}

// ---- the watchdog

Roster::Wake Roster::AwaitAlarm(std::int64_t until_ms) {
  std::unique_lock lock(mutex_);
  // A deadline that moves to a later time needs no new plan: waking up for nothing is harmless.
  planned_ms_ = std::min(until_ms, deadlines_.NextMs());
  while (!stopping_ && !nudged_ && clock_.NowMs() < planned_ms_)
    clock_.WaitUntil(lock, alarm_changed_, planned_ms_);
  nudged_ = false;
  return {.running = !stopping_, .planned_ms = std::exchange(planned_ms_, kNever)};
}

void Roster::Expect(std::int64_t at_ms) {
  const std::lock_guard lock(mutex_);
  if (at_ms < planned_ms_) Nudge();
}

void Roster::Hasten(const leases::Stalled& stalled) {
  const std::lock_guard lock(mutex_);
  ++stats_.stalls;
  for (const auto& [hold, pointer] : holds_) {
    hold->keeper.Hasten(clock_.NowMs());
    Reschedule(*hold);
    if (hold->events.stalled)
      handlers_.Post([kept = pointer, stalled] { kept->events.stalled(stalled); });
  }
}

std::int64_t Roster::NextMs() const {
  const std::lock_guard lock(mutex_);
  return std::min(renewals_.NextMs(), deadlines_.NextMs());
}

std::int64_t Roster::NextRenewalMs() const {
  const std::lock_guard lock(mutex_);
  return renewals_.NextMs();
}

Roster::Shortest Roster::ShortestHeld() const {
  const std::lock_guard lock(mutex_);
  if (ttls_.empty()) return {};
  return {.ttl = ttls_.begin()->first, .margin = ttls_.begin()->second};
}

leases::ManagerStats Roster::stats() const {
  const std::lock_guard lock(mutex_);
  leases::ManagerStats stats = stats_;
  stats.active = static_cast<std::int64_t>(holds_.size());
  return stats;
}

void Roster::CountAcquired() {
  const std::lock_guard lock(mutex_);
  ++stats_.acquired;
}

std::vector<HoldPtr> Roster::Stop() {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  std::vector<HoldPtr> kept;
  for (const auto& [hold, pointer] : holds_) kept.push_back(pointer);
  for (const HoldPtr& hold : kept) Remove(*hold);
  renewals_changed_.notify_all();
  alarm_changed_.notify_all();
  return kept;
}

}  // namespace tenure::holder
