// The line of a licence: tickets.

#include <algorithm>

#include "seats/ledger.hpp"

namespace tenure::seats {

TicketRow* Ledger::FindTicket(const base::Uuid& id) {
  for (auto& [number, ticket] : tickets_)
    if (ticket.id == id) return &ticket;
  return nullptr;
}

TicketRow* Ledger::FindTicketOf(const std::string& machine) {
  for (auto& [number, ticket] : tickets_)
    if (ticket.machine == machine) return &ticket;
  return nullptr;
}

TicketRow& Ledger::PlaceTicket(const AcquireCommand& command) {
  const std::int64_t number = license_.next_ticket++;
  ++ticket_count_;
  ++waiting_;
  ahead_[command.new_ticket] = waiting_ - 1 + static_cast<std::int64_t>(departed_.size());
  TicketRow& ticket = tickets_[number];
  ticket = {.number = number,
            .id = command.new_ticket,
            .machine = command.machine,
            .person = command.person,
            .expires_ms = now_ms_ + 1,
            .placed_ms = now_ms_};
  return ticket;
}

/// A dead one waits again, at its old place.
void Ledger::RefreshTicket(TicketRow& ticket, bool open_request) {
  if (ticket.slot) return;
  if (!ticket.IsWaitingAt(now_ms_)) {
    ++waiting_;
    departed_.erase(ticket.number);
  }
  ticket.process = open_request ? setting_.process : "";
  ticket.expires_ms = now_ms_ + (open_request ? kOpenTicketMs : setting_.rules.ticket_ms);
}

void Ledger::RemoveTicket(const base::Uuid& id) {
  const auto found =
      std::ranges::find_if(tickets_, [&](const auto& each) { return each.second.id == id; });
  // The ticket of an offer may not have been loaded: it goes all the same.
  removed_tickets_.push_back(id);
  --ticket_count_;
  if (found == tickets_.end()) return;
  if (found->second.IsWaitingAt(now_ms_)) {
    --waiting_;
    departed_.insert(found->first);
  }
  tickets_.erase(found);
}

/// 1: it is the first that waits.
std::int64_t Ledger::PositionOf(const TicketRow& ticket) const {
  const auto ahead = ahead_.find(ticket.id);
  if (ahead == ahead_.end() || !long_line_) {
    // All that stand before it are known.
    return 1 + std::ranges::count_if(tickets_, [&](const auto& each) {
             return each.first < ticket.number && each.second.IsWaitingAt(now_ms_);
           });
  }
  const auto gone = std::distance(departed_.begin(), departed_.lower_bound(ticket.number));
  return 1 + std::max<std::int64_t>(0, ahead->second - gone);
}

TicketOutcome Ledger::Ticket(const TicketCommand& command) {
  TicketRow* const ticket = FindTicket(command.ticket);
  const bool theirs = (command.tenant.empty() || license_.tenant == command.tenant) && ticket &&
                      (!command.person || ticket->person == *command.person);
  if (!theirs) return NoTicket();
  if (command.kind == TicketCommand::Kind::kLeave) {
    const std::optional<std::int64_t> slot = ticket->slot;
    RemoveTicket(command.ticket);
    if (slot && rows_.contains(*slot)) FreeNow(rows_.at(*slot));
    Settle();
    return TicketLeft();
  }
  const Standing standing = license_.StandingAt(now_ms_);
  if (standing != Standing::kActive) return Inactive{standing, license_.valid_until_ms};
  RefreshTicket(*ticket, command.kind == TicketCommand::Kind::kOpen);
  Offer();
  return ViewOf(*ticket);
}

TicketView Ledger::ViewOf(const TicketRow& ticket) const {
  TicketView view{.license = license_.id, .row = ticket};
  if (ticket.slot) {
    const auto row = rows_.find(*ticket.slot);
    if (row != rows_.end()) view.offer_ends_ms = row->second.expires_ms;
  } else {
    view.position = PositionOf(ticket);
  }
  view.look_ms = LookInMs();
  return view;
}

std::int64_t Ledger::LookInMs() const {
  return license_.look_ms == kNever ? kNever
                                    : std::max<std::int64_t>(0, license_.look_ms - now_ms_);
}

}  // namespace tenure::seats
