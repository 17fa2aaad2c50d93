#include "client/leases/keeper.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace tenure::client {
namespace {

using leases::Grant;
using leases::HoldState;
using leases::LeaseOptions;

constexpr std::int64_t kLeastMarginMs = 5;
constexpr std::int64_t kLeastCallMs = 50;

std::int64_t Part(double part, std::int64_t ms) {
  return static_cast<std::int64_t>(part * static_cast<double>(ms));
}

/// SplitMix64: a number per call, decided by the seed alone.
std::uint64_t NextRandom(std::uint64_t& state) {
  state += 0x9E3779B97F4A7C15ULL;
  std::uint64_t mixed = state;
  mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9ULL;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBULL;
  return mixed ^ (mixed >> 31);
}

/// The earliest moment, by our clock, at which the granting statement can have been sent. The
/// provider measured `waited` by another clock than ours: a tenth of it is not trusted.
std::int64_t AnchorOf(const Grant& grant, CallTimes times) {
  const std::int64_t waited_ms = std::max<std::int64_t>(grant.waited.count(), 0);
  return std::min(times.sent_ms + waited_ms * 9 / 10, times.received_ms);
}

void Demand(bool holds, const char* message) {
  if (!holds) throw std::invalid_argument(message);
}

}  // namespace

Milliseconds MarginOf(Milliseconds ttl, double safety_threshold) {
  // What a double cannot hold exactly (1 - 0.9) must not cost a whole millisecond.
  constexpr double kDust = 1e-6;
  const double part = static_cast<double>(ttl.count()) * (1 - safety_threshold);
  const auto margin_ms = static_cast<std::int64_t>(std::ceil(part - kDust));
  return Milliseconds(std::max(margin_ms, kLeastMarginMs));
}

Milliseconds RenewalTimeout(Milliseconds ttl) {
  return std::max(ttl / 8, Milliseconds(kLeastCallMs));
}

void CheckOptions(const LeaseOptions& options) {
  Demand(options.ttl >= leases::kMinTtl && options.ttl <= leases::kMaxTtl,
         "ttl must be between 100 ms and 24 h");
  Demand(options.safety_threshold > 0 && options.safety_threshold < 1,
         "safety_threshold must be between 0 and 1");
  Demand(options.renew_at > 0 && options.renew_at < options.safety_threshold,
         "renew_at must be above 0 and below safety_threshold: a renewal has to come while the "
         "lease is valid");
  Demand(options.jitter >= 0 && options.jitter < 1, "jitter must be at least 0 and below 1");
  Demand(options.retry_backoff.count() > 0, "retry_backoff must be above 0");
  Demand(options.holder.size() <= leases::kMaxHolderBytes, "holder is longer than 200 bytes");
  Demand(options.metadata.size() <= leases::kMaxMetadataBytes, "metadata is longer than 4 KiB");
}

Keeper::Keeper(const Grant& grant, CallTimes times, const LeaseOptions& options, std::uint64_t seed)
    : ttl_ms_((grant.ttl.count() > 0 ? grant.ttl : options.ttl).count()),
      margin_ms_(MarginOf(Milliseconds(ttl_ms_), options.safety_threshold).count()),
      renew_at_(options.renew_at),
      jitter_(options.jitter),
      backoff_ms_(options.retry_backoff.count()),
      auto_renew_(options.auto_renew),
      random_(seed) {
  valid_until_ms_ = TrustedUntil(grant, times);
  TrustFrom(grant, times);
}

std::int64_t Keeper::TrustedUntil(const Grant& grant, CallTimes times) const {
  return AnchorOf(grant, times) + std::min(grant.remaining.count(), ttl_ms_) - margin_ms_;
}

void Keeper::TrustFrom(const Grant& grant, CallTimes times) {
  anchor_ms_ = std::max(anchor_ms_, AnchorOf(grant, times));
  if (grant.now_ms != 0)
    store_ahead_ms_ = grant.now_ms + grant.now_slack.count() - AnchorOf(grant, times);
  failures_ = 0;
  under_way_ = false;
  PlanRenewal(std::min(grant.remaining.count(), ttl_ms_));
}

bool Keeper::BeginRenewal(std::int64_t now_ms) {
  if (over() || now_ms >= valid_until_ms_ || under_way_ || now_ms < from_ms_) return false;
  under_way_ = true;
  return true;
}

Keeper::Answer Keeper::Renewed(const Grant& grant, CallTimes times) {
  if (over() || times.received_ms >= valid_until_ms_) return Answer::kIgnored;
  const std::int64_t until_ms = TrustedUntil(grant, times);
  if (until_ms <= times.received_ms) {
    Failed(times.received_ms);
    return Answer::kTooSlow;
  }
  const std::int64_t gain_ms = GainSinceSuccess(grant.now_ms, times);
  valid_until_ms_ = std::max(valid_until_ms_, until_ms);
  TrustFrom(grant, times);
  // The new deadline is right by the clock as it goes now. If it jumped once it may jump again:
  // until an answer shows that it goes evenly, the next try comes early.
  const bool jumped = gain_ms * 2 > margin_ms_;
  clock_gain_ms_ = jumped ? gain_ms : 0;
  state_ = jumped ? HoldState::kJeopardy : HoldState::kHeld;
  if (jumped) PlanRetry(times.received_ms);
  return Answer::kExtended;
}

void Keeper::Failed(std::int64_t now_ms, Milliseconds retry_after) {
  if (over()) return;
  state_ = HoldState::kJeopardy;
  under_way_ = false;
  ++failures_;
  PlanRetry(now_ms, retry_after);
}

bool Keeper::Lose(leases::LossReason verdict, std::int64_t now_ms) {
  if (!End(HoldState::kLost, now_ms)) return false;
  verdict_ = verdict;
  return true;
}

bool Keeper::Expire(std::int64_t now_ms) {
  return now_ms >= valid_until_ms_ && End(HoldState::kLost, now_ms);
}

bool Keeper::Release(std::int64_t now_ms) {
  // Past the deadline it is lost, whoever notices first.
  if (now_ms >= valid_until_ms_) return false;
  return End(HoldState::kReleased, now_ms);
}

bool Keeper::End(HoldState state, std::int64_t now_ms) {
  if (over()) return false;
  state_ = state;
  valid_until_ms_ = std::min(valid_until_ms_, now_ms);
  next_ms_ = kNever;
  from_ms_ = kNever;
  under_way_ = false;
  return true;
}

void Keeper::Hasten(std::int64_t now_ms) {
  if (over() || !auto_renew_ || now_ms >= valid_until_ms_) return;
  next_ms_ = std::min(next_ms_, now_ms);
  from_ms_ = std::min(from_ms_, now_ms);
}

std::int64_t Keeper::ObserveStoreClock(std::int64_t store_now_ms, CallTimes times) {
  const std::int64_t gain_ms = GainSinceSuccess(store_now_ms, times);
  if (over() || state_ == HoldState::kJeopardy || gain_ms * 2 <= margin_ms_) return 0;
  state_ = HoldState::kJeopardy;
  Hasten(times.received_ms);
  return gain_ms;
}

std::int64_t Keeper::GainSinceSuccess(std::int64_t store_now_ms, CallTimes times) const {
  // Only a gain that no delay on the way can explain: the least lead now over the most lead then.
  if (store_now_ms == 0 || !store_ahead_ms_) return 0;
  return std::max<std::int64_t>(store_now_ms - times.received_ms - *store_ahead_ms_, 0);
}

void Keeper::PlanRenewal(std::int64_t remaining_ms) {
  if (!auto_renew_) return;
  // A grant that has less left than its ttl (one that was adopted) is renewed sooner.
  const std::int64_t latest_ms = Part(renew_at_, remaining_ms);
  next_ms_ = anchor_ms_ + Jittered(latest_ms);
  from_ms_ = anchor_ms_ + latest_ms - Part(jitter_, latest_ms);
}

void Keeper::PlanRetry(std::int64_t now_ms, Milliseconds retry_after) {
  if (!auto_renew_) return;
  const std::int64_t shortest_ms = std::min(backoff_ms_, LongestPause());
  std::int64_t pause_ms = shortest_ms;
  for (int i = 1; i < failures_ && pause_ms < LongestPause(); ++i) pause_ms *= 2;
  pause_ms = Jittered(std::min(pause_ms, LongestPause()));
  // What validity is left is used: the pause takes at most half of it.
  const std::int64_t left_ms = valid_until_ms_ - now_ms;
  pause_ms = std::clamp(pause_ms, std::int64_t{1}, std::max(left_ms / 2, shortest_ms));
  // What the store asks for is kept where a call fits behind it. Where none does, one try is made
  // all the same, as late as it can be: without it the lease is lost for sure.
  const std::int64_t latest_ms = left_ms - RenewalTimeout(Milliseconds(ttl_ms_)).count();
  pause_ms = std::max(pause_ms, std::min<std::int64_t>(retry_after.count(), latest_ms));
  next_ms_ = pause_ms < left_ms ? now_ms + pause_ms : kNever;
  from_ms_ = next_ms_;
}

std::int64_t Keeper::Jittered(std::int64_t ms) {
  const double draw = static_cast<double>(NextRandom(random_) >> 11) * 0x1.0p-53;
  return ms - Part(jitter_ * draw, ms);
}

std::int64_t Keeper::LongestPause() const { return std::max<std::int64_t>(ttl_ms_ / 4, 1); }

bool Keeper::over() const { return state_ == HoldState::kLost || state_ == HoldState::kReleased; }

std::int64_t Keeper::valid_until_ms() const {
  return over() ? std::numeric_limits<std::int64_t>::min() : valid_until_ms_;
}

std::int64_t Keeper::next_renewal_ms() const { return under_way_ ? kNever : next_ms_; }

std::int64_t Keeper::may_renew_from_ms() const { return under_way_ ? kNever : from_ms_; }

void CheckLease(const std::string& name, const LeaseOptions& options) {
  Demand(leases::IsLeaseName(name),
         "a lease name has 1 to 200 characters of A-Z a-z 0-9 . _ : / @ and -");
  CheckOptions(options);
}

}  // namespace tenure::client
