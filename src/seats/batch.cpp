#include "seats/batch.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "db_sql/queries.hpp"
#include "http/json_value.hpp"
#include "seats/columns.hpp"
#include "seats_sql/queries.hpp"

namespace tenure::seats {
namespace {

/// How many seats one transaction finds lapsed: each is an entry of the log and a row that is written.
constexpr std::int64_t kMaxLapsed = 1'000;
/// How much of a line is looked at. A batch that has more to give leaves the rest to the next one.
constexpr std::int64_t kLineAhead = 64;

using Pending = db::Transaction::Pending;

/// A seat that a Redis says is dead, and who says so.
struct DeadSeat {
  base::Uuid license{};
  Testimony::Dead dead{};
  const Testimony* of = nullptr;

  std::int64_t slot() const { return dead.slot; }
};

std::int64_t NumberIn(const http::JsonValue& detail, std::string_view name) {
  const http::JsonValue* const value = detail.Find(name);
  const auto number = value ? value->Number() : std::nullopt;
  return number && std::abs(*number) < 9e15 ? static_cast<std::int64_t>(*number) : 0;
}

}  // namespace

void Ledgers::WantMachine(const base::Uuid& license, const std::string& machine) {
  Wanted& wanted = wanted_[license];
  wanted.machines.insert(machine);
  ++wanted.acquires;
}

void Ledgers::WantSession(const base::Uuid& license, const base::Uuid& session) {
  wanted_[license].sessions.insert(session);
}

void Ledgers::WantTicket(const base::Uuid& license, const base::Uuid& ticket) {
  wanted_[license].tickets.insert(ticket);
}

template <class Part>
std::vector<Ledgers::Asked<Part>> Ledgers::All(std::set<Part> Wanted::*parts) const {
  std::vector<Asked<Part>> all;
  for (const auto& [license, wanted] : wanted_)
    for (const Part& part : wanted.*parts) all.push_back({license, part});
  return all;
}

/// What is under way between the two readings of the clock.
struct Ledgers::Loading {
  std::vector<base::Uuid> licenses{};
  std::int64_t bound_ms = 0;           // a time that is not after now
  std::vector<base::Uuid> due{};       // a deadline of theirs may have passed
  std::vector<base::Uuid> draining{};  // offers of theirs may have to go
  std::vector<Asked<std::string>> machines{};
  std::vector<Asked<base::Uuid>> sessions{};
  std::vector<Asked<base::Uuid>> tickets{};
  Pending lapsed{};
  Pending scan{};
  Pending own_by_machine{};
  Pending own_by_session{};
  Pending own_by_ticket{};
  Pending open{};
  Pending offered{};
  Pending offered_tickets{};
  Pending line{};
  Pending tickets_by_machine{};
  Pending tickets_by_id{};
  Pending holdings{};
  Pending limits{};
  Pending dead{};
  std::vector<DeadSeat> dead_seats{};
  std::vector<base::Uuid> checkpointed{};
};

void Ledgers::Open(db::Transaction& tx) {
  using ByText = Asked<std::string>;
  using ById = Asked<base::Uuid>;
  Loading loading;
  std::vector<std::int64_t> acquires;
  for (const auto& [license, wanted] : wanted_) {
    loading.licenses.push_back(license);
    acquires.push_back(wanted.acquires);
    if (wanted.holdings) loading.checkpointed.push_back(license);
    if (wanted.testimony)
      for (const Testimony::Dead& dead : wanted.testimony->dead)
        loading.dead_seats.push_back({license, dead, wanted.testimony.get()});
  }
  loading.machines = All(&Wanted::machines);
  loading.sessions = All(&Wanted::sessions);
  loading.tickets = All(&Wanted::tickets);
  const auto machines = db::Columns(loading.machines, &ByText::license, &ByText::part);
  const auto sessions = db::Columns(loading.sessions, &ById::license, &ById::part);
  const auto tickets = db::Columns(loading.tickets, &ById::license, &ById::part);

  LoadedByLicense loaded = LockLicenses(tx, loading);
  const std::int64_t bound_ms = loading.bound_ms;
  loading.lapsed = tx.Queue(sql::kFindLapsed, loading.due, bound_ms, kMaxLapsed);
  loading.dead = tx.Queue(sql::kLockDead,
                          db::Columns(loading.dead_seats, &DeadSeat::license, &DeadSeat::slot));
  loading.own_by_machine = tx.Queue(sql::kLoadOwnByMachine, machines);
  loading.own_by_session = tx.Queue(sql::kLoadOwnBySession, sessions);
  loading.own_by_ticket = tx.Queue(sql::kLoadOwnByTicket, tickets);
  loading.scan = tx.Queue(sql::kScanDeadlines, loading.due, bound_ms);
  loading.open = tx.Queue(sql::kLoadOpen, loading.licenses, acquires, kLineAhead);
  loading.offered = tx.Queue(sql::kLoadOffered, loading.draining);
  loading.offered_tickets = tx.Queue(sql::kLoadOfferedTickets, loading.draining);
  loading.line = tx.Queue(sql::kLoadLine, loading.licenses, kLineAhead, bound_ms);
  loading.tickets_by_machine = tx.Queue(sql::kLoadOwnTicketsByMachine, machines, bound_ms);
  loading.tickets_by_id = tx.Queue(sql::kLoadOwnTicketsById, tickets, bound_ms);
  loading.holdings = tx.Queue(sql::kLoadHoldings, loading.checkpointed);
  loading.limits = tx.Queue(sql::kReadLimits);
  const auto clock = tx.QueueClock();

  TakeRows(tx, loading, loaded);
  TakeTickets(tx, loading, loaded);
  const db::Rows store = tx.Take(loading.limits);
  const Limits limits = ReadLimits(store);
  const std::int64_t clock_ms = tx.TakeClock(clock);
  TakeDead(tx, loading, limits, clock_ms, loaded);
  LoadEnded(tx, loaded);
  ledgers_.clear();
  for (auto& [license, one] : loaded)
    ledgers_.emplace(
        license,
        Ledger(std::move(one),
               {.limits = limits, .rules = rules_, .clock_ms = clock_ms, .process = process_}));
}

Ledgers::LoadedByLicense Ledgers::LockLicenses(db::Transaction& tx, Loading& loading) const {
  const auto locking = tx.Queue(sql::kLockLicenses, loading.licenses);
  const auto clock = tx.QueueClock();
  LoadedByLicense loaded;
  for (const auto row : tx.Take(locking)) {
    LicenseRow license = ReadLicense(row);
    loaded[license.id].license = std::move(license);
  }
  loading.bound_ms = tx.TakeClock(clock);
  for (const auto& [id, one] : loaded) {
    const LicenseRow& license = one.license;
    if (license.look_ms <= loading.bound_ms) loading.due.push_back(id);
    if (wanted_.at(id).offers || license.row_count > license.seats) loading.draining.push_back(id);
  }
  return loaded;
}

void Ledgers::TakeRows(db::Transaction& tx, const Loading& loading, LoadedByLicense& loaded) const {
  const auto row_of = [](const db::Rows::Row& row) { return ReadSeat(row); };
  const db::Rows lapsed = tx.Take(loading.lapsed);
  const db::Rows by_machine = tx.Take(loading.own_by_machine);
  const db::Rows by_session = tx.Take(loading.own_by_session);
  const db::Rows by_ticket = tx.Take(loading.own_by_ticket);
  const db::Rows scan = tx.Take(loading.scan);
  // A seat belongs to a licence that is there.
  const auto into = [&](const base::Uuid& license) -> Ledger::Loaded* {
    const auto found = loaded.find(license);
    return found == loaded.end() ? nullptr : &found->second;
  };
  for (const auto row : lapsed)
    if (auto* one = into(loading.due[row.ordinal()])) one->lapsed.push_back(row_of(row));
  for (const auto row : by_machine)
    if (auto* one = into(loading.machines[row.ordinal()].license)) one->own.push_back(row_of(row));
  for (const auto row : by_session)
    if (auto* one = into(loading.sessions[row.ordinal()].license)) one->own.push_back(row_of(row));
  for (const auto row : by_ticket)
    if (auto* one = into(loading.tickets[row.ordinal()].license)) one->own.push_back(row_of(row));
  for (const auto row : scan) {
    Ledger::Loaded* const one = into(loading.due[row.ordinal()]);
    if (!one) continue;
    one->due_left = row.Int(0) > static_cast<std::int64_t>(one->lapsed.size());
    one->next_due_ms = row.IsNull(1) ? kNever : row.Int(1);
  }
  for (const auto row : tx.Take(loading.open))
    if (auto* one = into(loading.licenses[row.ordinal()])) one->open.push_back(row_of(row));
  for (const auto row : tx.Take(loading.offered))
    if (auto* one = into(loading.draining[row.ordinal()])) one->offered.push_back(row_of(row));
  for (const auto row : tx.Take(loading.holdings))
    if (auto* one = into(loading.checkpointed[row.ordinal()])) one->holdings.push_back(row_of(row));
}

/// They are locked, so what is compared here cannot change any more; the clock was read after that.
void Ledgers::TakeDead(db::Transaction& tx, const Loading& loading, const Limits& limits,
                       std::int64_t now_ms, LoadedByLicense& loaded) const {
  for (const auto row : tx.Take(loading.dead)) {
    const DeadSeat& seat = loading.dead_seats[row.ordinal()];
    const auto found = loaded.find(seat.license);
    const SeatRow read = ReadSeat(row);
    if (found == loaded.end()) continue;
    // What is over needs no testimony, only somebody who looks.
    if (IsOver(read.promise(), limits.redis, now_ms, false)) {
      found->second.lapsed.push_back(read);
      continue;
    }
    if (!CountsFor(seat.dead.read, read.promise()) ||
        !Counts(seat.of->look, limits.redis, now_ms, seat.of->tolerance_ms))
      continue;
    found->second.lapsed.push_back(read);
    found->second.dead[read.slot] = seat.dead.soft_ms - limits.redis.offset_ms;
  }
}

void Ledgers::TakeTickets(db::Transaction& tx, const Loading& loading,
                          LoadedByLicense& loaded) const {
  const auto add = [&](const base::Uuid& license, const db::Rows::Row& row,
                       bool tells_ahead = false) {
    const auto found = loaded.find(license);
    if (found == loaded.end()) return;
    auto ticket = ReadTicketRow(row);
    if (tells_ahead) found->second.ahead[ticket.id] = row.Int(kTicketColumnCount);
    found->second.own_tickets.push_back(std::move(ticket));
  };
  for (const auto row : tx.Take(loading.line)) {
    const auto found = loaded.find(loading.licenses[row.ordinal()]);
    if (found == loaded.end()) continue;
    found->second.waiting = row.Int(kTicketColumnCount);
    found->second.tickets = row.Int(kTicketColumnCount + 1);
    if (!row.IsNull(0)) found->second.front.push_back(ReadTicketRow(row));
  }
  for (auto& [license, one] : loaded)
    one.long_line = static_cast<std::int64_t>(one.front.size()) >= kLineAhead;
  for (const auto row : tx.Take(loading.offered_tickets)) add(loading.draining[row.ordinal()], row);
  for (const auto row : tx.Take(loading.tickets_by_machine))
    add(loading.machines[row.ordinal()].license, row, true);
  for (const auto row : tx.Take(loading.tickets_by_id))
    add(loading.tickets[row.ordinal()].license, row, true);
}

void Ledgers::LoadEnded(db::Transaction& tx, LoadedByLicense& loaded) const {
  std::vector<Asked<base::Uuid>> strangers;
  for (const auto& [license, one] : loaded)
    for (const base::Uuid& session : wanted_.at(license).sessions)
      if (std::ranges::none_of(one.own, [&](const SeatRow& row) { return row.session == session; }))
        strangers.push_back({license, session});
  if (strangers.empty()) return;
  std::vector<base::Uuid> sessions;
  for (const auto& each : strangers) sessions.push_back(each.part);
  const auto entries = LoadEntries(tx, sessions);
  for (std::size_t i = 0; i < strangers.size(); ++i)
    if (!entries[i].empty() && entries[i].front().license == strangers[i].license)
      loaded[strangers[i].license].ended[strangers[i].part] = EndOf(entries[i]);
}

std::vector<std::vector<SessionEntry>> LoadEntries(db::Transaction& tx,
                                                   const std::vector<base::Uuid>& sessions) {
  std::vector<std::vector<SessionEntry>> entries(sessions.size());
  for (const auto row : tx.Run(sql::kLoadEnded, sessions))
    entries[row.ordinal()].push_back({row.Uuid(0), row.Int(2), std::string(row.Text(3)),
                                      std::string(row.Text(4)), row.Int(5), row.Int(6)});
  return entries;
}

Ended EndOf(const std::vector<SessionEntry>& entries) {
  Ended ended;
  if (entries.empty()) return ended;
  const SessionEntry& last = entries.front();
  ended.ended_ms = last.at_ms;
  if (last.kind == "former")
    ended.reason = EndReason::kResumedElsewhere;
  else if (last.kind == ToText(LogKind::kSeatReleased))
    ended.reason = EndReason::kReleased;
  // A holding that was revoked expires, too; why it ended is that it was revoked.
  for (const SessionEntry& each : entries)
    if (each.kind == ToText(LogKind::kSeatRevoked)) ended.reason = EndReason::kRevoked;
  if (const auto detail = http::JsonValue::Parse(last.detail)) {
    ended.person = detail->TextOf("person").value_or("");
    ended.beat_ms = NumberIn(*detail, "last_heartbeat_ms");
  }
  return ended;
}

Ledger* Ledgers::Find(const base::Uuid& license) {
  const auto found = ledgers_.find(license);
  return found == ledgers_.end() ? nullptr : &found->second;
}

void Ledgers::Apply(db::Transaction& tx) {
  ApplySeats(tx);
  ApplyTickets(tx);
  ApplyLog(tx);
  ApplyTurns(tx);
}

namespace {

/// What ledgers have many of, each with its licence.
template <class Part>
struct OfLicense {
  base::Uuid license{};
  Part part{};
};

struct Counted {
  base::Uuid license{};
  std::int64_t first = 0;
  std::int64_t second = 0;
};

}  // namespace

void Ledgers::ApplySeats(db::Transaction& tx) {
  using Slot = OfLicense<std::int64_t>;
  using Row = OfLicense<const SeatRow*>;
  std::vector<Counted> added, deleted_unseen;
  std::vector<Slot> deleted, cleared;
  std::vector<Row> written;
  for (const auto& [license, ledger] : ledgers_) {
    const std::int64_t last = ledger.license().last_slot;
    if (ledger.added_rows() > 0) added.push_back({license, last - ledger.added_rows() + 1, last});
    for (const std::int64_t slot : ledger.deleted_slots()) deleted.push_back({license, slot});
    for (const std::int64_t slot : ledger.ClearedSlots()) cleared.push_back({license, slot});
    for (const SeatRow* row : ledger.WrittenRows()) written.push_back({license, row});
    if (ledger.deleted_unseen() > 0)
      deleted_unseen.push_back({license, ledger.deleted_unseen(), 0});
  }
  tx.Queue(sql::kAddSeats,
           db::Columns(added, &Counted::license, &Counted::first, &Counted::second));
  tx.Queue(sql::kDeleteSeats, db::Columns(deleted, &Slot::license, &Slot::part));
  tx.Queue(sql::kClearSeats, db::Columns(cleared, &Slot::license, &Slot::part));
  tx.Queue(sql::kWriteSeats,
           db::Columns(written, &Row::license, db::Inside(&Row::part, kSeatColumns)));
  tx.Queue(sql::kDeleteOpenSeats, db::Columns(deleted_unseen, &Counted::license, &Counted::first));
}

void Ledgers::ApplyTickets(db::Transaction& tx) {
  using Ticket = OfLicense<const TicketRow*>;
  std::set<base::Uuid> removed;
  std::vector<Ticket> written;
  for (const auto& [license, ledger] : ledgers_) {
    removed.insert(ledger.removed_tickets().begin(), ledger.removed_tickets().end());
    for (const TicketRow* ticket : ledger.WrittenTickets()) written.push_back({license, ticket});
  }
  tx.Queue(sql::kRemoveTickets, std::vector<base::Uuid>(removed.begin(), removed.end()));
  tx.Queue(sql::kPutTickets,
           db::Columns(written, &Ticket::license, db::Inside(&Ticket::part, kTicketColumns)));
}

void Ledgers::ApplyLog(db::Transaction& tx) {
  std::vector<const NewEntry*> entries;
  std::vector<const LicenseRow*> changed;
  for (const auto& [license, ledger] : ledgers_) {
    for (const NewEntry& entry : ledger.entries()) entries.push_back(&entry);
    if (ledger.changed()) changed.push_back(&ledger.license());
  }
  tx.Queue(sql::kAddLog, db::Columns(entries, kEntryColumns));
  tx.Queue(sql::kWriteLicenses,
           db::Columns(changed, &LicenseRow::id, &LicenseRow::name, &LicenseRow::state,
                       &LicenseRow::seats, &LicenseRow::ttl_ms, &LicenseRow::interval_ms,
                       &LicenseRow::grace_ms, &LicenseRow::valid_from_ms,
                       &LicenseRow::valid_until_ms, &LicenseRow::metadata, &LicenseRow::key_hint,
                       &LicenseRow::revision, &LicenseRow::row_count, &LicenseRow::held,
                       &LicenseRow::holders, &LicenseRow::peak, &LicenseRow::peak_ms,
                       &LicenseRow::last_slot, &LicenseRow::next_ticket, &LicenseRow::fence,
                       &LicenseRow::last_ms, &LicenseRow::look_ms, &LicenseRow::longest_ms,
                       &LicenseRow::incarnation, &LicenseRow::log_seq, kLogHashOf));
}

/// NOTIFY takes a lock of the whole database at commit: it is sent only where a seat was offered to a
/// request that waits in another process. Nobody is missed: an offer is a row, and whoever waits looks
/// at it every second.
void Ledgers::ApplyTurns(db::Transaction& tx) {
  std::vector<std::string> others;
  own_turns_.clear();
  for (const auto& [license, ledger] : ledgers_)
    for (const Ledger::Turn& turn : ledger.turns())
      (turn.process == process_ ? own_turns_ : others).push_back(WakeKey(license, turn.machine));
  tx.Queue(db::sql::kNotify, others);
}

}  // namespace tenure::seats
