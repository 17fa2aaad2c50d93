#include "client/cas/record.hpp"

#include <algorithm>
#include <utility>

namespace tenure::client {
namespace {

using leases::LeaseState;
using leases::LossReason;
using leases::Milliseconds;

constexpr std::int64_t kCasSecondMs = 1'000;

void EndGrantOf(CasRecord& record, LossReason how, std::int64_t at_ms, std::string detail) {
  record.past.insert(record.past.begin(), {.fence = record.fence,
                                           .term = record.term,
                                           .holder = record.holder,
                                           .granted_at_ms = record.granted_ms,
                                           .ended_at_ms = at_ms,
                                           .reason = how,
                                           .detail = std::move(detail)});
  if (record.past.size() > kPastGrants) record.past.resize(kPastGrants);
  record.state = LeaseState::kFree;
  record.reason.clear();
  record.free_at_s = record.drain_ms = 0;
}

std::optional<LossReason> FateIn(const CasRecord& record, const std::string& term,
                                 std::optional<std::int64_t> fence) {
  for (const leases::PastGrant& past : record.past) {
    if (past.term != term) continue;
    const bool moved = fence && record.fence > *fence;
    return past.reason == LossReason::kExpired && moved ? LossReason::kTakenOver : past.reason;
  }
  return std::nullopt;
}

std::int64_t RoundedUpSeconds(std::int64_t ms) { return (ms + kCasSecondMs - 1) / kCasSecondMs; }

}  // namespace

std::int64_t CasRules::OverAtMs(const CasRecord& record, std::int64_t stamp_s) const {
  if (record.state == LeaseState::kBroken)
    return std::max(record.free_at_s * kCasSecondMs,
                    (stamp_s + 1) * kCasSecondMs + record.drain_ms);
  return (stamp_s + 1) * kCasSecondMs + record.ttl_ms + skew_ms_;  // R1
}

CasRecord CasRules::Settled(const CasSight& sight) const {
  CasRecord record = sight.record.value_or(CasRecord{});
  if (record.state == LeaseState::kFree) return record;
  const std::int64_t over_ms = OverAtMs(record, sight.stamp_s);
  if (sight.now_s * kCasSecondMs < over_ms) return record;
  const bool broken = record.state == LeaseState::kBroken;
  std::string detail = std::move(record.reason);
  EndGrantOf(record, broken ? LossReason::kBroken : LossReason::kExpired, over_ms,
             broken ? std::move(detail) : "");
  return record;
}

CasRules::AcquireStep CasRules::Acquire(const CasSight& sight,
                                        const leases::AcquireRequest& request) const {
  CasRecord record = Settled(sight);
  if (record.state != LeaseState::kFree && record.term == request.term) {
    if (record.state == LeaseState::kBroken) return leases::TermEnded{LossReason::kBroken};
    record.ttl_ms = request.ttl.count();  // the reply was lost: the same grant, and a renewal
    return record;
  }
  if (const auto fate = FateIn(record, request.term, std::nullopt)) return leases::TermEnded{*fate};
  if (record.state != LeaseState::kFree) {
    const std::int64_t over_ms = OverAtMs(record, sight.stamp_s);
    return leases::HeldByAnother{.reason = leases::HeldReason::kHeld,
                                 .holder = record.holder,
                                 .fence = record.fence,
                                 .expires_at_ms = over_ms,
                                 .retry_after = Milliseconds(std::max<std::int64_t>(
                                     over_ms - sight.now_s * kCasSecondMs, 1))};
  }
  record.fence = std::max(record.fence + 1, sight.now_s * 1'000'000);  // R5
  record.term = request.term;
  record.holder = request.holder;
  record.metadata = request.metadata;
  record.ttl_ms = request.ttl.count();
  record.granted_ms = sight.now_s * kCasSecondMs;
  record.state = LeaseState::kHeld;
  return record;
}

CasRules::RenewStep CasRules::Renew(const CasSight& sight,
                                    const leases::RenewRequest& request) const {
  CasRecord record = Settled(sight);
  if (record.state == LeaseState::kFree || record.term != request.term)
    return leases::Loss{FateIn(record, request.term, request.fence).value_or(LossReason::kUnknown)};
  if (record.fence != request.fence) return leases::Loss{LossReason::kUnknown};
  if (record.state == LeaseState::kBroken) return leases::Loss{LossReason::kBroken};
  return RenewOwn(std::move(record), request);
}

CasRecord CasRules::RenewOwn(CasRecord own, const leases::RenewRequest& request) {
  if (request.ttl) own.ttl_ms = request.ttl->count();
  return own;
}

CasRules::ReleaseStep CasRules::Release(const CasSight& sight,
                                        const leases::ReleaseRequest& request) const {
  CasRecord record = Settled(sight);
  if (record.state == LeaseState::kFree || record.term != request.term)
    return leases::ReleaseOutcome{
        false, FateIn(record, request.term, request.fence).value_or(LossReason::kUnknown)};
  if (request.fence && *request.fence != record.fence)
    return leases::ReleaseOutcome{false, LossReason::kUnknown};
  EndGrantOf(record, LossReason::kReleased, sight.now_s * kCasSecondMs, "");
  return record;
}

CasRules::BreakStep CasRules::Break(const CasSight& sight,
                                    const leases::BreakRequest& request) const {
  CasRecord record = Settled(sight);
  const std::int64_t now_ms = sight.now_s * kCasSecondMs;
  BreakStep step;
  step.outcome = {.holder = record.holder, .fence = record.fence, .free_at_ms = now_ms};
  if (record.state == LeaseState::kFree || request.fence.value_or(record.fence) != record.fence)
    return step;
  step.outcome.broken = true;
  if (request.force) {
    EndGrantOf(record, LossReason::kBroken, now_ms, request.reason);
  } else {
    // R6: the write moves the stamp, from which the old deadline could not be told any more.
    record.free_at_s = RoundedUpSeconds(OverAtMs(record, sight.stamp_s));
    record.drain_ms = std::max(record.drain_ms, request.drain.count());
    record.state = LeaseState::kBroken;
    record.reason = request.reason;
    step.outcome.free_at_ms = std::max(record.free_at_s * kCasSecondMs, now_ms + record.drain_ms);
  }
  step.write = std::move(record);
  return step;
}

leases::Grant CasRules::GrantOf(const std::string& name, const CasRecord& written,
                                std::int64_t stamp_s) {
  leases::Grant grant;
  grant.name = name;
  grant.fence = written.fence;
  grant.term = written.term;
  grant.holder = written.holder;
  grant.metadata = written.metadata;
  grant.ttl = grant.remaining = Milliseconds(written.ttl_ms);
  grant.granted_at_ms = written.granted_ms;
  grant.now_ms = stamp_s * kCasSecondMs;
  grant.expires_at_ms = grant.now_ms + written.ttl_ms;
  return grant;
}

leases::LeaseView CasRules::ViewOf(const std::string& name, const CasSight& sight) const {
  const CasRecord record = Settled(sight);
  leases::LeaseView view;
  view.name = name;
  view.state = record.state;
  view.fence = record.fence;
  view.granted_at_ms = record.granted_ms;
  view.renewed_at_ms = sight.stamp_s * kCasSecondMs;
  view.now_ms = sight.now_s * kCasSecondMs;
  view.history = record.past;
  if (record.state == LeaseState::kFree) {
    view.expires_at_ms = record.past.empty() ? 0 : record.past.front().ended_at_ms;
    return view;
  }
  view.term = record.term;
  view.holder = record.holder;
  view.metadata = record.metadata;
  view.ttl = Milliseconds(record.ttl_ms);
  view.break_reason = record.reason;
  view.expires_at_ms = record.state == LeaseState::kBroken ? OverAtMs(record, sight.stamp_s)
                                                           : view.renewed_at_ms + record.ttl_ms;
  return view;
}

}  // namespace tenure::client
