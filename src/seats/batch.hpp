#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "db/transaction.hpp"
#include "seats/ledger.hpp"

namespace tenure::seats {

/// The ledgers of the licences that one transaction settles.
///
/// The order of statements is what makes a decision true at COMMIT:
///  1. The licences are locked, ascending, and read. Nobody else gives, frees or deletes a seat of theirs,
///     or writes their log, until COMMIT.
///  2. The seats whose deadline has passed (and those that a Redis says are dead) are locked, those that somebody has locked are skipped:
///     only a heartbeat locks a seat without its licence, so a skipped one is being renewed, and counts
///     as live. A seat that was locked here cannot be renewed any more.
///  3. What the commands ask about is loaded. The seats among it are locked, and a heartbeat that is
///     under way is waited for: it waits for nobody.
///  4. The clock is read last, in its own statement. The time of the transaction is not before any
///     deadline of 2.
///
/// Step 2 needs a time before it has its locks; that one is read after step 1 in a flush of its own,
/// and is only a bound: a seat that lapses between the two readings counts as live. So a batch is three
/// round trips on PostgreSQL: locks and a clock; rows and the clock; changes and COMMIT. What the licences
/// say is known after the first one, and saves most batches the statements of step 2 (no deadline can
/// have passed) and those about offers that may have to go (the limit was not lowered).
///
///   Ledgers ledgers("host:pid:random", rules);
///   ledgers.WantMachine(license, machine);      // for every command
///   ledgers.Open(tx);
///   ledgers.Find(license)->Acquire(command);
///   ledgers.Apply(tx);                          // goes out with COMMIT
class Ledgers {
 public:
  Ledgers(std::string process, const Rules& rules) : process_(std::move(process)), rules_(rules) {}

  void Want(const base::Uuid& license) { wanted_[license]; }
  void WantMachine(const base::Uuid& license, const std::string& machine);
  void WantSession(const base::Uuid& license, const base::Uuid& session);
  void WantTicket(const base::Uuid& license, const base::Uuid& ticket);
  /// A Redis testified about seats of it.
  void WantDead(const base::Uuid& license, const TestimonyPtr& testimony) {
    if (testimony) wanted_[license].testimony = testimony;
  }
  /// Its limit may be lowered.
  void WantOffers(const base::Uuid& license) { wanted_[license].offers = true; }
  /// A checkpoint is to be written.
  void WantHoldings(const base::Uuid& license) { wanted_[license].holdings = true; }

  void Open(db::Transaction& tx);

  /// Null: there is no such licence.
  Ledger* Find(const base::Uuid& license);

  /// Queues the net change of all ledgers, and a notification for each request that waits in another
  /// process and to whom something was offered.
  void Apply(db::Transaction& tx);

  /// Wake keys of those of this process; after COMMIT.
  const std::vector<std::string>& own_turns() const { return own_turns_; }
  const std::map<base::Uuid, Ledger>& ledgers() const { return ledgers_; }

 private:
  struct Wanted {
    std::set<std::string> machines{};
    std::set<base::Uuid> sessions{};
    std::set<base::Uuid> tickets{};
    std::int64_t acquires = 0;
    bool offers = false;
    bool holdings = false;
    TestimonyPtr testimony{};  // the last one: any that counts is as good
  };
  /// What a command asks about, with its licence.
  template <class Part>
  struct Asked {
    base::Uuid license{};
    Part part{};
  };
  template <class Part>
  std::vector<Asked<Part>> All(std::set<Part> Wanted::*parts) const;
  using LoadedByLicense = std::map<base::Uuid, Ledger::Loaded>;

  struct Loading;
  /// Locks and reads the licences, and says what has to be read of them because of what they say.
  LoadedByLicense LockLicenses(db::Transaction& tx, Loading& loading) const;
  void TakeRows(db::Transaction& tx, const Loading& loading, LoadedByLicense& loaded) const;
  void TakeTickets(db::Transaction& tx, const Loading& loading, LoadedByLicense& loaded) const;
  /// Seats that a Redis says are dead, as far as that counts.
  void TakeDead(db::Transaction& tx, const Loading& loading, const Limits& limits,
                std::int64_t now_ms, LoadedByLicense& loaded) const;
  /// Of sessions that are asked for and have no seat: how they ended.
  void LoadEnded(db::Transaction& tx, LoadedByLicense& loaded) const;
  void ApplySeats(db::Transaction& tx);
  void ApplyTickets(db::Transaction& tx);
  void ApplyLog(db::Transaction& tx);
  void ApplyTurns(db::Transaction& tx);

  const std::string process_;
  const Rules rules_;
  std::map<base::Uuid, Wanted> wanted_;  // ascending: the order of the locks
  std::map<base::Uuid, Ledger> ledgers_;
  std::vector<std::string> own_turns_;
};

/// What a log's entries about a session say about its end; nothing when they say nothing of one. Entries
/// come newest first; `kind` is "former" for the resumption that ended it.
struct SessionEntry {
  base::Uuid license{};
  std::int64_t at_ms = 0;
  std::string kind{};
  std::string detail{};
  std::int64_t slot = 0;   ///< 0: it has none
  std::int64_t fence = 0;  ///< of this session; 0: it has none
};
Ended EndOf(const std::vector<SessionEntry>& entries);

/// All that the log has of these sessions, in their order. Without locks.
std::vector<std::vector<SessionEntry>> LoadEntries(db::Transaction& tx,
                                                   const std::vector<base::Uuid>& sessions);

}  // namespace tenure::seats
