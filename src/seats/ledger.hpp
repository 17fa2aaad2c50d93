#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json_writer.hpp"
#include "seats/command.hpp"
#include "seats/log_entry.hpp"
#include "seats/seat.hpp"

namespace tenure::seats {

/// An entry of the log that this transaction adds, and the holding that it ended by a resumption.
struct NewEntry {
  LogEntry entry{};
  std::optional<base::Uuid> former{};
};

/// What is known of one licence inside of a transaction that holds its lock, and what the transaction
/// changes: the pure part of seats, without I/O. Commands on one licence are decided one after another
/// on it, and only the net change is applied.
///
/// Why K1 holds. A holding is a row, and rows are granted, offered and revived only while there are no
/// more of them than seats (`CanGive`); so there are never more holders than rows, and never more rows
/// in use than the limit that was in force when the last of them was given. A row is given to another
/// only when the deadline that its holder was told has passed: the row was locked before the clock was
/// read, whoever renews it meanwhile holds its lock, and what is locked by somebody else is not among
/// the rows that have lapsed. Deadlines never move back. A release while a former process of the same
/// machine may believe in the seat (`prior_ms`) keeps the row until that is over. What a Redis may have
/// promised beside the store is in the row, too, and `IsOver` (promise.hpp) has the one rule of both.
///
/// Why K2 holds. A machine has at most one row, and its row is looked for before any other. A row whose
/// deadline has passed is open to everybody in the same transaction that finds it, whether or not the
/// sweep has run.
///
/// Fairness: whenever a row is open, it is offered to the first live ticket before any newcomer is
/// looked at. An offer is state: it outlives the process that made it.
///
/// Every change that the log tells of is an entry here, hashed; so the log and the rows cannot differ.
class Ledger {
 public:
  /// What was read under the licence's lock.
  struct Loaded {
    LicenseRow license{};
    /// Rows whose deadline had passed, and that nobody was renewing: locked.
    std::vector<SeatRow> lapsed{};
    bool due_left = false;  ///< there may be more of those than were loaded
    /// The least deadline of the rows that are not open and had not passed it; nothing: the rows were
    /// not scanned, since none could have lapsed.
    std::optional<std::int64_t> next_due_ms{};
    std::vector<SeatRow> own{};      ///< of the machines and sessions that are asked for: locked
    std::vector<SeatRow> open{};     ///< the first ones, as they are to be taken
    std::vector<SeatRow> offered{};  ///< all of them, where rows may have to go
    std::vector<TicketRow>
        front{};             ///< the first that wait, ascending; dead ones may be among them
    bool long_line = false;  ///< there may be more than those
    std::vector<TicketRow> own_tickets{};
    std::map<base::Uuid, std::int64_t> ahead{};  ///< of own tickets: how many wait before it
    std::int64_t waiting = 0;                    ///< how many tickets wait
    std::int64_t tickets = 0;                    ///< and how many there are
    std::map<base::Uuid, Ended> ended{};  ///< of the sessions that are asked for and have no row
    std::vector<SeatRow> holdings{};      ///< all that are held, for a checkpoint
    /// Slots of which the Redis testified that they are over, and that counts: until when, by the
    /// store's clock, it had promised them.
    std::map<std::int64_t, std::int64_t> dead{};
  };
  struct Setting {
    Limits limits{};
    Rules rules{};
    std::int64_t clock_ms = 0;  ///< read after the locks
    std::string process{};
  };

  Ledger(Loaded loaded, Setting setting);

  /// REQUIRES: it is new: it has no rows and no log yet.
  void Create(const std::string& by);
  AcquireOutcome Acquire(const AcquireCommand& command);
  std::vector<HeartbeatOutcome> Heartbeat(const HeartbeatCommand& command);
  ReleaseOutcome Release(const ReleaseCommand& command);
  RevokeSeatOutcome RevokeSeat(const RevokeSeatCommand& command);
  TicketOutcome Ticket(const TicketCommand& command);
  AdminOutcome Change(const ChangeCommand& command);
  AdminOutcome RevokeLicense(const RevokeLicenseCommand& command);
  /// REQUIRES: the key is the licence's already, or `taken`.
  AdminOutcome RotateKey(const RotateKeyCommand& command, bool taken);
  SweepOutcome Sweep();
  void NoteDenials(const NoteDenialsCommand& command);
  void Checkpoint();

  // What is to be applied.

  const LicenseRow& license() const { return license_; }
  bool changed() const { return license_ != loaded_license_; }
  /// Rows that were added behind `last_slot` of before.
  std::int64_t added_rows() const { return license_.last_slot - loaded_license_.last_slot; }
  /// Those whose machine or session stands in another row now: they are cleared before anything is
  /// written, since each of the two stands in one row at most, at every moment.
  std::vector<std::int64_t> ClearedSlots() const;
  std::vector<const SeatRow*> WrittenRows() const;
  const std::vector<std::int64_t>& deleted_slots() const { return deleted_; }
  /// Of open rows that were not loaded: so many are deleted, whichever they are.
  std::int64_t deleted_unseen() const { return deleted_unseen_; }
  std::vector<const TicketRow*> WrittenTickets() const;
  const std::vector<base::Uuid>& removed_tickets() const { return removed_tickets_; }
  const std::vector<NewEntry>& entries() const { return entries_; }

  /// A request that waits and should ask now: something was offered to it.
  struct Turn {
    std::string process{};
    std::string machine{};
  };
  const std::vector<Turn>& turns() const { return turns_; }

  std::int64_t now_ms() const { return now_ms_; }
  std::int64_t offers_missed() const { return offers_missed_; }
  std::int64_t expired() const { return expired_; }

 private:
  // Rows.
  SeatRow* FindMachine(const std::string& machine);
  SeatRow* FindSession(const base::Uuid& session);
  void SetOpen(SeatRow& row, bool open);
  /// Nobody has it, and nobody may believe so: or it is kept for its machine until that is over.
  void Free(SeatRow& row);
  void FreeNow(SeatRow& row);
  /// Its holding, if it has one, is over: who asks for it later in this transaction is told so.
  void NoteEnd(const SeatRow& row);
  void DeleteRow(std::int64_t slot);
  /// The open row that is to be taken first: a free one, else the one that lapsed first.
  SeatRow* FirstOpen();

  // What time brings, and what follows from every change.
  void Restored();
  void Lapse(SeatRow& row);
  /// Until when somebody may believe in it, if no Redis testifies.
  std::int64_t OverAtOf(const SeatRow& row) const {
    return OverAt(row.promise(), setting_.limits.redis);
  }
  std::int64_t LeftOf(const SeatRow& row) const {
    return std::max<std::int64_t>(1, OverAtOf(row) - now_ms_);
  }
  void Settle();
  void Drain();
  void Offer();
  void OfferTo(SeatRow& row, TicketRow& ticket);
  bool IsFrozen() const { return now_ms_ < frozen_until_ms_; }
  /// Whether anything may be granted, offered or revived at all.
  bool CanGive() const;
  bool SomebodyWaits() const;

  // Acquire.
  AcquireOutcome AcquireOwn(SeatRow& row, const AcquireCommand& command);
  AcquireOutcome AcquireAnew(const AcquireCommand& command);
  AcquireOutcome StandInLine(const AcquireCommand& command, TicketRow& ticket);
  Grant GrantRow(SeatRow& row, const AcquireCommand& command);
  Grant Resume(SeatRow& row, const AcquireCommand& command);
  Grant GrantOf(const SeatRow& row) const;
  Full Denied(Full::Reason reason, std::int64_t retry_ms) const;
  std::int64_t NextFence();

  HeartbeatOutcome HeartbeatOf(const base::Uuid& session, const std::string& person);
  HeartbeatOutcome WhatBecameOf(const base::Uuid& session, const std::string& person) const;
  Lost LostTo(EndReason reason, const SeatRow& row) const;
  std::optional<EndReason> WhyInactive() const;

  // The line.
  TicketRow* FindTicket(const base::Uuid& id);
  TicketRow* FindTicketOf(const std::string& machine);
  TicketRow& PlaceTicket(const AcquireCommand& command);
  void RefreshTicket(TicketRow& ticket, bool open_request);
  void RemoveTicket(const base::Uuid& id);
  std::int64_t PositionOf(const TicketRow& ticket) const;
  TicketView ViewOf(const TicketRow& ticket) const;
  std::int64_t LookInMs() const;

  // The licence and its log.
  AdminOutcome Refuse(AdminOutcome::Kind kind) const;
  AdminOutcome Done(bool changed) const;
  Holding HoldingOf(const SeatRow& row) const;
  void SetSeats(std::int64_t seats);
  void LowerLook(std::int64_t deadline_ms);
  void CountHolders(std::int64_t change);
  /// Adds an entry; `write` writes the fields of its detail.
  using WriteFields = std::function<void(base::JsonWriter&)>;
  NewEntry& Log(LogKind kind, const SeatRow* row, const WriteFields& write);
  /// `from_ms`: it ended then at the earliest, where it is not known better; 0: at its deadline.
  void LogExpired(const SeatRow& row, std::int64_t from_ms);
  void Append(NewEntry entry);

  LicenseRow loaded_license_;
  LicenseRow license_;
  std::map<std::int64_t, SeatRow> rows_;         // by slot; what is known of them
  std::map<std::int64_t, SeatRow> loaded_rows_;  // as they were
  std::int64_t unseen_open_ = 0;                 // open rows that were not loaded
  std::map<std::int64_t, TicketRow> tickets_;    // by number; what is known of them
  std::map<std::int64_t, TicketRow> loaded_tickets_;
  std::map<base::Uuid, std::int64_t> ahead_;
  std::int64_t waiting_ = 0;         // how many tickets wait now
  std::int64_t ticket_count_ = 0;    // and how many there are
  std::set<std::int64_t> departed_;  // numbers of tickets that waited before this transaction
  bool long_line_;
  std::int64_t known_line_;  // of what stands up to this number everything is known
  bool due_left_;
  std::map<base::Uuid, Ended> ended_;
  std::vector<SeatRow> holdings_;
  std::map<std::int64_t, std::int64_t> dead_;

  Setting setting_;
  std::int64_t now_ms_;
  std::int64_t frozen_until_ms_;

  std::vector<std::int64_t> deleted_;
  std::int64_t deleted_unseen_ = 0;
  std::vector<base::Uuid> removed_tickets_;
  std::vector<NewEntry> entries_;
  std::vector<Turn> turns_;
  std::int64_t offers_missed_ = 0;
  std::int64_t expired_ = 0;
};

}  // namespace tenure::seats
