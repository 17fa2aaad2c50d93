#include "leases/ledger.hpp"

#include <algorithm>
#include <utility>

namespace tenure::leases {
namespace {

/// Fences of incarnation i start at i x 2^40; those of the first one at 1.
constexpr int kIncarnationBits = 40;
/// How soon to look again while a user's transaction holds the fence: nobody tells of its end.
constexpr std::int64_t kGuardPollMs = 50;

std::int64_t FirstFenceOf(std::int64_t incarnation) {
  return incarnation > 1 ? incarnation << kIncarnationBits : 0;
}

}  // namespace

std::string WakeKey(const LeaseKey& key) { return "lease/" + key.tenant + '/' + key.name; }

Ledger::Ledger(LeaseKey key, Loaded loaded, const Limits& limits, std::int64_t now_ms,
               std::string process)
    : key_(std::move(key)),
      loaded_(std::move(loaded)),
      limits_(limits),
      now_ms_(now_ms),
      process_(std::move(process)) {}

const Ticket* Ledger::LowestLive() const {
  for (const Ticket& ticket : loaded_.tickets)
    if (ticket.expires_ms > now_ms_) return &ticket;
  return nullptr;
}

HeldByAnother Ledger::Held(HeldReason reason, std::int64_t retry_ms) const {
  const LeaseRow& row = loaded_.row;
  HeldByAnother held;
  held.reason = reason;
  held.holder = row.holder;
  held.fence = row.fence;
  held.expires_at_ms = row.expires_ms;
  held.retry_after = Milliseconds(std::max<std::int64_t>(retry_ms, 1));
  return held;
}

std::int64_t Limits::FrozenUntilMs(std::string_view tenant, std::int64_t longest_ttl_ms) const {
  if (frozen_ms == 0) return 0;
  return frozen_ms + (tenant.empty() ? longest_ttl_ms : std::max(freeze_ms, longest_ttl_ms));
}

/// Why it cannot be granted now, if it cannot.
std::optional<HeldByAnother> Ledger::WhyNot(const AcquireCommand& command) const {
  if (IsLive()) return Held(HeldReason::kHeld, loaded_.row.expires_ms - now_ms_);
  // A name that the store has forgotten altogether: who asks for it now asked for it before.
  const bool is_own = key_.tenant.empty();
  const std::int64_t frozen_until_ms = limits_.FrozenUntilMs(
      key_.tenant, std::max(loaded_.row.longest_ttl_ms, is_own ? command.ttl_ms : 0));
  if (now_ms_ < frozen_until_ms) {
    // Nobody is known to hold it.
    HeldByAnother held = Held(HeldReason::kFrozen, frozen_until_ms - now_ms_);
    held.holder.clear();
    held.expires_at_ms = frozen_until_ms;
    return held;
  }
  const Ticket* const first = LowestLive();
  if (first && first->term != command.term)
    return Held(HeldReason::kQueued, first->expires_ms - now_ms_);
  if (loaded_.guarded) return Held(HeldReason::kGuarded, kGuardPollMs);
  return std::nullopt;
}

AcquireOutcome Ledger::Acquire(const AcquireCommand& command) {
  LeaseRow& row = loaded_.row;
  if (row.term == command.term) {
    // The reply was lost: the same grant, and a renewal.
    if (row.break_reason) return TermEnded{LossReason::kBroken};
    if (!IsLive()) return TermEnded{LossReason::kExpired};
    row.renewed_ms = RenewalMs();
    HoldFor(command.ttl_ms);
    return GrantOf();
  }
  if (loaded_.ended.contains(command.term)) {
    RemoveTicket(command.term);
    return TermEnded{FateOf(command.term, std::nullopt)};
  }
  const auto held = WhyNot(command);
  if (!held) return GrantTo(command);
  if (command.wait == AcquireCommand::Wait::kQueue) PlaceTicket(command.term);
  if (command.wait == AcquireCommand::Wait::kGiveUp) RemoveTicket(command.term);
  return *held;
}

Grant Ledger::GrantTo(const AcquireCommand& command) {
  LeaseRow& row = loaded_.row;
  if (row.term)
    EndGrant(row.break_reason ? LossReason::kBroken : LossReason::kExpired, row.expires_ms,
             row.break_reason.value_or(""));
  row.fence = std::max({row.fence, loaded_.floor, FirstFenceOf(limits_.incarnation)}) + 1;
  row.term = command.term;
  row.holder = command.holder;
  row.metadata = command.metadata;
  row.granted_ms = now_ms_;
  row.renewed_ms = now_ms_;
  row.break_reason.reset();
  HoldFor(command.ttl_ms);
  RemoveTicket(command.term);
  RemoveDeadTickets();
  return GrantOf();
}

Grant Ledger::GrantOf() const {
  const LeaseRow& row = loaded_.row;
  Grant grant;
  grant.name = key_.name;
  grant.fence = row.fence;
  grant.term = row.term->ToString();
  grant.holder = row.holder;
  grant.metadata = row.metadata;
  grant.ttl = Milliseconds(row.ttl_ms);
  grant.remaining = Milliseconds(row.expires_ms - now_ms_);
  grant.granted_at_ms = row.granted_ms;
  grant.expires_at_ms = row.expires_ms;
  grant.now_ms = now_ms_;
  return grant;
}

RenewOutcome Ledger::Renew(const RenewCommand& command) {
  LeaseRow& row = loaded_.row;
  if (row.term != command.term) return Loss{FateOf(command.term, command.fence)};
  if (row.fence != command.fence) return Loss{LossReason::kUnknown};
  if (row.break_reason) return Loss{LossReason::kBroken};
  if (!IsLive()) return Loss{LossReason::kExpired};
  row.renewed_ms = RenewalMs();
  HoldFor(command.ttl_ms.value_or(row.ttl_ms));
  return GrantOf();
}

void Ledger::HoldFor(std::int64_t ttl_ms) {
  LeaseRow& row = loaded_.row;
  row.ttl_ms = ttl_ms;
  row.longest_ttl_ms = std::max(row.longest_ttl_ms, ttl_ms);
  row.expires_ms = now_ms_ + ttl_ms;
  changed_ = true;
}

std::int64_t Ledger::RenewalMs() const { return std::max(now_ms_, loaded_.row.granted_ms + 1); }

ReleaseOutcome Ledger::Release(const ReleaseCommand& command) {
  const LeaseRow& row = loaded_.row;
  // Who only waits, and leaves, releases too: the term may have been granted without its knowledge.
  RemoveTicket(command.term);
  if (row.term != command.term) return {false, FateOf(command.term, command.fence)};
  if (command.fence && *command.fence != row.fence) return {false, LossReason::kUnknown};
  if (!IsLive()) return {false, row.break_reason ? LossReason::kBroken : LossReason::kExpired};
  if (command.unless_renewed && row.renewed_ms != row.granted_ms)
    return {false, LossReason::kUnknown};
  EndGrant(LossReason::kReleased, now_ms_, "");
  return {true, LossReason::kReleased};
}

BreakOutcome Ledger::Break(const BreakCommand& command) {
  LeaseRow& row = loaded_.row;
  BreakOutcome outcome;
  outcome.holder = row.holder;
  outcome.fence = row.fence;
  outcome.free_at_ms = std::min(row.expires_ms, now_ms_);
  if (!IsLive() || (command.fence && *command.fence != row.fence)) return outcome;
  if (loaded_.guarded) {
    outcome.guarded = true;
    outcome.free_at_ms = row.expires_ms;
    return outcome;
  }
  outcome.broken = true;
  if (command.force) {
    EndGrant(LossReason::kBroken, now_ms_, command.reason);
    outcome.free_at_ms = now_ms_;
    return outcome;
  }
  row.break_reason = command.reason;
  row.expires_ms = std::max(row.expires_ms, now_ms_ + command.drain_ms);
  outcome.free_at_ms = row.expires_ms;
  changed_ = true;
  return outcome;
}

void Ledger::EndGrant(LossReason reason, std::int64_t ended_ms, std::string detail) {
  LeaseRow& row = loaded_.row;
  ended_.push_back(
      {row.fence, *row.term, row.holder, row.granted_ms, ended_ms, reason, std::move(detail)});
  loaded_.ended[*row.term] = reason;
  row.term.reset();
  row.expires_ms = ended_ms;
  row.break_reason.reset();
  changed_ = true;
  line_moved_ = true;
}

LossReason Ledger::FateOf(const base::Uuid& term, std::optional<std::int64_t> fence) const {
  const auto found = loaded_.ended.find(term);
  if (found == loaded_.ended.end()) return LossReason::kUnknown;
  const bool moved = fence && loaded_.row.fence > *fence;
  return found->second == LossReason::kExpired && moved ? LossReason::kTakenOver : found->second;
}

void Ledger::PlaceTicket(const base::Uuid& term) {
  auto own = std::find_if(loaded_.tickets.begin(), loaded_.tickets.end(),
                          [&](const Ticket& ticket) { return ticket.term == term; });
  if (own == loaded_.tickets.end()) {
    // A line longer than what was loaded may have our ticket already: then the store keeps its
    // number and this one is not used. And a row that was removed and made anew counts from 1 while
    // a ticket may stand that came just before the removal.
    if (!loaded_.tickets.empty())
      loaded_.row.next_ticket =
          std::max(loaded_.row.next_ticket, loaded_.tickets.back().number + 1);
    loaded_.tickets.push_back({loaded_.row.next_ticket++, term, process_, 0});
    own = loaded_.tickets.end() - 1;
    changed_ = true;
  }
  own->expires_ms = now_ms_ + kTicketMs;
  own->process = process_;
  std::erase_if(placed_, [&](const Ticket& ticket) { return ticket.term == term; });
  placed_.push_back(*own);
}

void Ledger::RemoveTicket(const base::Uuid& term) {
  const auto is_own = [&](const Ticket& ticket) { return ticket.term == term; };
  const bool known = std::erase_if(loaded_.tickets, is_own) > 0;
  if (!known && !loaded_.long_line) return;
  std::erase_if(placed_, is_own);
  if (std::find(removed_.begin(), removed_.end(), term) == removed_.end()) removed_.push_back(term);
  line_moved_ = true;
}

void Ledger::RemoveDeadTickets() {
  std::vector<base::Uuid> dead;
  for (const Ticket& ticket : loaded_.tickets)
    if (ticket.expires_ms <= now_ms_) dead.push_back(ticket.term);
  for (const base::Uuid& term : dead) RemoveTicket(term);
}

std::optional<std::string> Ledger::NextProcess() const {
  if (!line_moved_ || IsLive()) return std::nullopt;
  const Ticket* const first = LowestLive();
  if (!first) return std::nullopt;
  return first->process;
}

}  // namespace tenure::leases
