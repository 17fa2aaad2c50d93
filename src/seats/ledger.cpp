#include "seats/ledger.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"

namespace tenure::seats {
namespace {

/// Fences of incarnation i start at i x 2^40; those of the first one at 1.
constexpr int kIncarnationBits = 40;

std::int64_t FirstFenceOf(std::int64_t incarnation) {
  return incarnation > 1 ? incarnation << kIncarnationBits : 0;
}

std::int64_t LatestOf(const std::vector<SeatRow>& lapsed, std::int64_t clock_ms) {
  for (const SeatRow& row : lapsed) clock_ms = std::max(clock_ms, row.expires_ms);
  return clock_ms;
}

}  // namespace

std::string_view ToText(Full::Reason reason) {
  switch (reason) {
    case Full::Reason::kFull:
      return "full";
    case Full::Reason::kRevoked:
      return "revoked";
    case Full::Reason::kFrozen:
      return "frozen";
  }
  return "";
}

Ledger::Ledger(Loaded loaded, Setting setting)
    : loaded_license_(loaded.license),
      license_(std::move(loaded.license)),
      ahead_(std::move(loaded.ahead)),
      waiting_(loaded.waiting),
      ticket_count_(loaded.tickets),
      long_line_(loaded.long_line),
      known_line_(loaded.long_line ? loaded.front.back().number : kNever),
      due_left_(loaded.due_left),
      ended_(std::move(loaded.ended)),
      holdings_(std::move(loaded.holdings)),
      dead_(std::move(loaded.dead)),
      setting_(std::move(setting)),
      // A row that was found lapsed and is locked stays lapsed, also when the clock is set back.
      now_ms_(LatestOf(loaded.lapsed, setting_.clock_ms)),
      frozen_until_ms_(setting_.limits.FrozenUntilMs(loaded_license_)) {
  // Rows that are asked for were read last.
  for (const auto* part : {&loaded.own, &loaded.lapsed, &loaded.offered, &loaded.open})
    for (const SeatRow& row : *part) rows_.emplace(row.slot, row);
  loaded_rows_ = rows_;
  for (const auto* part : {&loaded.own_tickets, &loaded.front})
    for (const TicketRow& ticket : *part) tickets_.emplace(ticket.number, ticket);
  loaded_tickets_ = tickets_;
  const auto seen_open =
      std::ranges::count_if(rows_, [](const auto& each) { return each.second.open; });
  unseen_open_ = license_.row_count - license_.held - seen_open;
  if (loaded.next_due_ms) license_.look_ms = *loaded.next_due_ms;
  if (due_left_) LowerLook(now_ms_);

  Restored();
  // Also those whose time was over between the two readings of the clock: what is loaded of them is
  // locked, or changes only under the licence's lock.
  for (auto& [slot, row] : rows_) Lapse(row);
  Settle();
}

// What time brings, and what follows from every change

void Ledger::Restored() {
  if (license_.incarnation >= setting_.limits.incarnation) return;
  license_.incarnation = setting_.limits.incarnation;
  Log(LogKind::kStoreRestored, nullptr, [&](base::JsonWriter& json) {
    json.Field("incarnation", license_.incarnation).Field("frozen_until_ms", frozen_until_ms_);
  });
}

/// Its time is over.
void Ledger::Lapse(SeatRow& row) {
  const auto dead = dead_.find(row.slot);
  if (row.open || !IsOver(row.promise(), setting_.limits.redis, now_ms_, dead != dead_.end()))
    return;
  // Where a Redis may have promised more than the store and says nothing of it, the end lies between.
  const bool is_known = row.horizon_ms <= row.expires_ms || dead != dead_.end();
  const std::int64_t from_ms = is_known ? 0 : row.expires_ms;
  if (dead != dead_.end()) row.expires_ms = std::max(row.expires_ms, dead->second);
  if (!is_known) row.expires_ms = std::min(now_ms_, row.horizon_ms);
  row.horizon_ms = row.epoch = 0;
  if (row.is_held()) {
    LogExpired(row, from_ms);
    CountHolders(-1);
    ++expired_;
    SetOpen(row, true);
    row.lapsed_ms = row.expires_ms;
    return;
  }
  if (row.ticket) {
    ++offers_missed_;
    RemoveTicket(*row.ticket);
  }
  FreeNow(row);
}

void Ledger::Settle() {
  Drain();
  Offer();
}

/// With more rows than seats, what is not somebody's goes until they are as many. Which slots those are
/// does not matter: rows are counted, not numbered.
void Ledger::Drain() {
  const auto excess = [&] { return license_.row_count - license_.seats; };
  while (excess() > 0) {
    SeatRow* const row = FirstOpen();
    if (!row) break;
    DeleteRow(row->slot);
  }
  const std::int64_t unseen = std::clamp<std::int64_t>(excess(), 0, unseen_open_);
  deleted_unseen_ += unseen;
  unseen_open_ -= unseen;
  license_.row_count -= unseen;
  for (auto each = rows_.begin(); each != rows_.end() && excess() > 0;) {
    const SeatRow& row = (each++)->second;
    if (!row.is_offered()) continue;
    // The offer is withdrawn; the ticket keeps its place, and has time to hear of it.
    if (TicketRow* const ticket = FindTicket(*row.ticket)) {
      ticket->slot.reset();
      ticket->expires_ms = now_ms_ + setting_.rules.ticket_ms;
      departed_.erase(ticket->number);
      ++waiting_;
    }
    DeleteRow(row.slot);
  }
}

void Ledger::Offer() {
  if (!CanGive()) return;
  for (auto& [number, ticket] : tickets_) {
    if (number > known_line_) break;  // somebody may stand before it
    if (!ticket.IsWaitingAt(now_ms_)) continue;
    SeatRow* const row = FirstOpen();
    if (!row) break;
    OfferTo(*row, ticket);
  }
  // More of the line, or of what is open, than was loaded: the next transaction goes on.
  const bool some_open = unseen_open_ > 0 || FirstOpen();
  if (some_open && SomebodyWaits()) LowerLook(now_ms_);
}

void Ledger::OfferTo(SeatRow& row, TicketRow& ticket) {
  NoteEnd(row);
  SetOpen(row, false);
  const std::int64_t slot = row.slot;
  row = SeatRow{.slot = slot,
                .open = false,
                .machine = ticket.machine,
                .person = ticket.person,
                .expires_ms = now_ms_ + setting_.rules.offer_ms,
                .ticket = ticket.id};
  LowerLook(row.expires_ms);
  ticket.slot = slot;
  --waiting_;
  departed_.insert(ticket.number);
  if (!ticket.process.empty()) turns_.push_back({ticket.process, ticket.machine});
}

bool Ledger::CanGive() const {
  return license_.row_count <= license_.seats && !IsFrozen() &&
         license_.StandingAt(now_ms_) == Standing::kActive;
}

bool Ledger::SomebodyWaits() const {
  return long_line_ || std::ranges::any_of(tickets_, [&](const auto& each) {
           return each.second.IsWaitingAt(now_ms_);
         });
}

// Rows

SeatRow* Ledger::FindMachine(const std::string& machine) {
  for (auto& [slot, row] : rows_)
    if (row.machine == machine) return &row;
  return nullptr;
}

SeatRow* Ledger::FindSession(const base::Uuid& session) {
  for (auto& [slot, row] : rows_)
    if (row.session == session) return &row;
  return nullptr;
}

void Ledger::SetOpen(SeatRow& row, bool open) {
  if (row.open == open) return;
  row.open = open;
  license_.held += open ? -1 : 1;
}

void Ledger::Free(SeatRow& row) {
  if (row.prior_ms <= now_ms_) return FreeNow(row);
  row.session.reset();
  row.ticket.reset();
  row.revoked = false;
  // The store's own part of what was told before; what a Redis may have said is in the row's horizon.
  row.expires_ms = std::min(row.expires_ms, row.prior_ms);
  LowerLook(row.expires_ms);
}

void Ledger::NoteEnd(const SeatRow& row) {
  if (row.is_lapsed())
    ended_[*row.session] = {row.revoked ? EndReason::kRevoked : EndReason::kExpired, row.expires_ms,
                            row.beat_ms, row.person};
}

void Ledger::FreeNow(SeatRow& row) {
  NoteEnd(row);
  SetOpen(row, true);
  row = SeatRow{.slot = row.slot};
}

/// REQUIRES: nobody holds it.
void Ledger::DeleteRow(std::int64_t slot) {
  SeatRow& row = rows_.at(slot);
  NoteEnd(row);
  SetOpen(row, true);
  rows_.erase(slot);
  deleted_.push_back(slot);
  --license_.row_count;
}

SeatRow* Ledger::FirstOpen() {
  SeatRow* first = nullptr;
  for (auto& [slot, row] : rows_)
    if (row.open && (!first || row.lapsed_ms < first->lapsed_ms)) first = &row;
  return first;
}

// Acquire

AcquireOutcome Ledger::Acquire(const AcquireCommand& command) {
  if (license_.tenant != command.tenant) return NoLicense();
  const Standing standing = license_.StandingAt(now_ms_);
  if (standing != Standing::kActive) return Inactive{standing, license_.valid_until_ms};
  SeatRow* const own = FindMachine(command.machine);
  return own && !own->open ? AcquireOwn(*own, command) : AcquireAnew(command);
}

/// The machine has a row that is not open.
AcquireOutcome Ledger::AcquireOwn(SeatRow& row, const AcquireCommand& command) {
  if (row.person != command.person) return MachineHeld{LeftOf(row)};
  if (row.is_held() && row.revoked) return Denied(Full::Reason::kRevoked, LeftOf(row));
  // A restored copy may have a holding that was released since, and its seat may be another's by
  // now: while that lasts, only who names the very holding as its former one goes on with it.
  if (row.is_held() && (!IsFrozen() || command.former == row.session)) return Resume(row, command);
  if (IsFrozen()) return Denied(Full::Reason::kFrozen, frozen_until_ms_ - now_ms_);
  if (!CanGive()) return Denied(Full::Reason::kFull, LookInMs());
  return GrantRow(row, command);
}

AcquireOutcome Ledger::AcquireAnew(const AcquireCommand& command) {
  if (IsFrozen()) return Denied(Full::Reason::kFrozen, frozen_until_ms_ - now_ms_);
  TicketRow* ticket = FindTicketOf(command.machine);
  if (ticket && ticket->person != command.person) {
    if (ticket->IsWaitingAt(now_ms_)) return MachineHeld{ticket->expires_ms - now_ms_};
    RemoveTicket(ticket->id);
    ticket = nullptr;
  }
  if (ticket) return StandInLine(command, *ticket);
  if (CanGive() && !SomebodyWaits()) {
    SeatRow* const own = FindMachine(command.machine);
    if (SeatRow* const row = own ? own : FirstOpen()) return GrantRow(*row, command);
  }
  const bool line_is_full = ticket_count_ >= setting_.rules.line_max;
  if (command.wait == AcquireCommand::Wait::kNo || line_is_full)
    return Denied(Full::Reason::kFull, LookInMs());
  // One that stands in line has no claim to the seat that it let lapse.
  if (SeatRow* const own = FindMachine(command.machine)) FreeNow(*own);
  return StandInLine(command, PlaceTicket(command));
}

AcquireOutcome Ledger::StandInLine(const AcquireCommand& command, TicketRow& ticket) {
  const bool is_open = command.wait == AcquireCommand::Wait::kOpen;
  RefreshTicket(ticket, is_open);
  Offer();
  if (ticket.slot) return GrantRow(rows_.at(*ticket.slot), command);
  const std::int64_t position = PositionOf(ticket);
  if (command.wait == AcquireCommand::Wait::kNo) {
    Full full = Denied(Full::Reason::kFull, LookInMs());
    full.ticket = ticket.id;
    full.position = position;
    return full;
  }
  return Waiting{ticket.id, license_.id, position, ticket.expires_ms, LookInMs()};
}

Grant Ledger::GrantRow(SeatRow& row, const AcquireCommand& command) {
  NoteEnd(row);
  const bool picked_up = row.ticket.has_value();
  // A kept row goes back to its own machine: what its former process was told still counts.
  const SeatRow kept = row.is_kept() ? row : SeatRow();
  if (row.ticket) {
    const base::Uuid ticket = *row.ticket;
    RemoveTicket(ticket);
  }
  SetOpen(row, false);
  row = SeatRow{.slot = row.slot,
                .open = false,
                .session = command.new_session,
                .machine = command.machine,
                .person = command.person,
                .fence = NextFence(),
                .started_ms = now_ms_,
                .beat_ms = now_ms_,
                .expires_ms = std::max(license_.DeadlineFrom(now_ms_), kept.expires_ms),
                .prior_ms = kept.prior_ms,
                .address = command.address,
                .user_agent = command.user_agent,
                .metadata = command.metadata,
                .horizon_ms = kept.horizon_ms,
                .epoch = kept.epoch};
  LowerLook(row.expires_ms);
  CountHolders(1);
  Log(LogKind::kSeatAcquired, &row, [&](base::JsonWriter& json) {
    json.Field("machine", std::string_view(command.machine))
        .Field("person", std::string_view(command.person))
        .Field("address", std::string_view(command.address))
        .Field("expires_ms", row.expires_ms);
  });
  Grant grant = GrantOf(row);
  grant.picked_up = picked_up;
  return grant;
}

/// The same machine and person again: its process was started anew, or lost the answer, or there are
/// two machines with one id. The former process is not reached: it may believe until its deadline,
/// unless its successor knows better.
Grant Ledger::Resume(SeatRow& row, const AcquireCommand& command) {
  const base::Uuid former = *row.session;
  // Who vouches for its former process cannot vouch for a Redis that has its record.
  const bool vouched =
      command.former == former && (row.horizon_ms <= now_ms_ || command.former_gone);
  if (!vouched) row.prior_ms = std::max({row.prior_ms, row.expires_ms, row.horizon_ms});
  ended_[former] = {EndReason::kResumedElsewhere, now_ms_, row.beat_ms, row.person};
  const std::string former_address = std::exchange(row.address, command.address);
  const std::int64_t former_beat_ms = std::exchange(row.beat_ms, now_ms_);
  row.session = command.new_session;
  row.fence = NextFence();
  row.started_ms = now_ms_;
  row.expires_ms = std::max(row.expires_ms, license_.DeadlineFrom(now_ms_));
  row.user_agent = command.user_agent;
  row.metadata = command.metadata;
  NewEntry& entry = Log(LogKind::kSeatResumed, &row, [&](base::JsonWriter& json) {
    json.Field("machine", std::string_view(command.machine))
        .Field("person", std::string_view(command.person))
        .Field("address", std::string_view(command.address))
        .Field("former", former)
        .Field("former_address", std::string_view(former_address))
        .Field("former_live", !vouched)
        .Field("last_heartbeat_ms", former_beat_ms)
        .Field("expires_ms", row.expires_ms);
  });
  entry.former = former;
  Grant grant = GrantOf(row);
  grant.resumed = true;
  grant.former_vouched = vouched;
  return grant;
}

Grant Ledger::GrantOf(const SeatRow& row) const {
  Grant grant;
  grant.session = *row.session;
  grant.license = license_.id;
  grant.fence = row.fence;
  grant.started_ms = row.started_ms;
  grant.expires_ms = row.expires_ms;
  grant.now_ms = now_ms_;
  grant.used = license_.held;
  grant.remaining = std::max<std::int64_t>(0, license_.seats - license_.held);
  grant.interval_ms = license_.interval_ms;
  return grant;
}

Full Ledger::Denied(Full::Reason reason, std::int64_t retry_ms) const {
  return {.reason = reason, .license = license_.id, .total = license_.seats, .retry_ms = retry_ms};
}

std::int64_t Ledger::NextFence() {
  license_.fence = std::max(license_.fence, FirstFenceOf(setting_.limits.incarnation)) + 1;
  return license_.fence;
}

// Heartbeat, release

std::vector<HeartbeatOutcome> Ledger::Heartbeat(const HeartbeatCommand& command) {
  std::vector<HeartbeatOutcome> outcomes;
  outcomes.reserve(command.sessions.size());
  for (const base::Uuid& session : command.sessions)
    outcomes.push_back(license_.tenant == command.tenant ? HeartbeatOf(session, command.person)
                                                         : HeartbeatOutcome(NoSession()));
  return outcomes;
}

HeartbeatOutcome Ledger::HeartbeatOf(const base::Uuid& session, const std::string& person) {
  SeatRow* const row = FindSession(session);
  if (!row) return WhatBecameOf(session, person);
  if (row->person != person) return NoSession();
  if (row->revoked) return LostTo(EndReason::kRevoked, *row);
  if (const auto why = WhyInactive()) return LostTo(*why, *row);
  const bool revived = row->open;
  if (revived) {
    if (IsFrozen()) return Forgotten{frozen_until_ms_ - now_ms_};
    if (!CanGive() || SomebodyWaits()) return LostTo(EndReason::kExpired, *row);
    SetOpen(*row, false);
    row->lapsed_ms = 0;
    CountHolders(1);
    LowerLook(license_.DeadlineFrom(now_ms_));
  }
  row->beat_ms = now_ms_;
  row->expires_ms = std::max(row->expires_ms, license_.DeadlineFrom(now_ms_));
  if (revived)
    Log(LogKind::kSeatRevived, row, [&](base::JsonWriter& json) {
      json.Field("machine", std::string_view(*row->machine))
          .Field("person", std::string_view(row->person))
          .Field("expires_ms", row->expires_ms);
    });
  return Beat{row->beat_ms, row->expires_ms, revived};
}

/// It has no row any more.
HeartbeatOutcome Ledger::WhatBecameOf(const base::Uuid& session, const std::string& person) const {
  const auto found = ended_.find(session);
  if (found != ended_.end() && found->second.person == person)
    return Lost{found->second.reason, found->second.beat_ms, found->second.ended_ms,
                license_.ttl_ms};
  if (found == ended_.end() && IsFrozen()) return Forgotten{frozen_until_ms_ - now_ms_};
  return NoSession();
}

Lost Ledger::LostTo(EndReason reason, const SeatRow& row) const {
  return {reason, row.beat_ms, std::min(row.expires_ms, now_ms_), license_.ttl_ms};
}

std::optional<EndReason> Ledger::WhyInactive() const {
  switch (license_.StandingAt(now_ms_)) {
    case Standing::kActive:
      return std::nullopt;
    case Standing::kSuspended:
    case Standing::kNotYetValid:
      return EndReason::kLicenseSuspended;
    case Standing::kRevoked:
      return EndReason::kLicenseRevoked;
    case Standing::kExpired:
      return EndReason::kLicenseExpired;
  }
  return std::nullopt;
}

ReleaseOutcome Ledger::Release(const ReleaseCommand& command) {
  SeatRow* const row = FindSession(command.session);
  if (license_.tenant != command.tenant || !row || row->person != command.person) return {};
  ReleaseOutcome outcome{true, row->slot, row->fence};
  if (row->is_held()) {
    ended_[command.session] = {EndReason::kReleased, now_ms_, row->beat_ms, row->person};
    Log(LogKind::kSeatReleased, row, [&](base::JsonWriter& json) {
      json.Field("machine", std::string_view(*row->machine))
          .Field("person", std::string_view(row->person))
          .Field("last_heartbeat_ms", row->beat_ms);
    });
    CountHolders(-1);
    Free(*row);
    if (row->is_kept()) outcome.slot = outcome.fence = 0;
  } else {
    FreeNow(*row);
  }
  Settle();
  return outcome;
}

SweepOutcome Ledger::Sweep() { return {license_.look_ms <= now_ms_}; }

// What is to be applied

std::vector<std::int64_t> Ledger::ClearedSlots() const {
  std::map<std::string_view, std::int64_t> machines;
  std::map<base::Uuid, std::int64_t> sessions;
  for (const auto& [slot, row] : rows_) {
    if (row.machine) machines.emplace(*row.machine, slot);
    if (row.session) sessions.emplace(*row.session, slot);
  }
  const auto is_elsewhere = [](const auto& slots, const auto& what, std::int64_t slot) {
    const auto found = what ? slots.find(*what) : slots.end();
    return found != slots.end() && found->second != slot;
  };
  std::vector<std::int64_t> slots;
  for (const auto& [slot, before] : loaded_rows_)
    if (rows_.contains(slot) && (is_elsewhere(machines, before.machine, slot) ||
                                 is_elsewhere(sessions, before.session, slot)))
      slots.push_back(slot);
  return slots;
}

std::vector<const SeatRow*> Ledger::WrittenRows() const {
  std::vector<const SeatRow*> rows;
  for (const auto& [slot, row] : rows_) {
    const auto before = loaded_rows_.find(slot);
    if (before == loaded_rows_.end() || before->second != row) rows.push_back(&row);
  }
  return rows;
}

std::vector<const TicketRow*> Ledger::WrittenTickets() const {
  std::vector<const TicketRow*> tickets;
  for (const auto& [number, ticket] : tickets_) {
    const auto before = loaded_tickets_.find(number);
    if (before == loaded_tickets_.end() || before->second != ticket) tickets.push_back(&ticket);
  }
  return tickets;
}

}  // namespace tenure::seats
