#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "db/transaction.hpp"
#include "leases/ledger.hpp"

namespace tenure::leases {

/// The ledgers of the names that one transaction changes. Locks first, then what is there, then the
/// clock: each a statement of its own, so that what is read and the time are not older than the
/// locks (docs/ground.md, Time). All of it is one flush on PostgreSQL.
///
///   Ledgers ledgers("host:pid:random");
///   ledgers.Want(key, term, Ledgers::Use::kMayGrant);  // for every command
///   auto opening = ledgers.Queue(tx);                   // other queries may be queued here
///   ledgers.Open(tx, opening);
///   ledgers.At(key).Acquire(command);
///   ledgers.Apply(tx);                                  // goes out with COMMIT
class Ledgers {
 public:
  enum class Use {
    kHolder,    ///< renews or releases: the fence stays
    kMayGrant,  ///< may move the fence: guards are looked for
  };

  explicit Ledgers(std::string process) : process_(std::move(process)) {}

  void Want(const LeaseKey& key, const base::Uuid* term, Use use);

  struct Opening {
    db::Transaction::Pending fences;
    db::Transaction::Pending rows;
    db::Transaction::Pending ended;
    db::Transaction::Pending tickets;
    db::Transaction::Pending limits;
    db::Transaction::PendingClock clock;
  };
  Opening Queue(db::Transaction& tx);
  void Open(db::Transaction& tx, const Opening& opening);

  Ledger& At(const LeaseKey& key);
  std::int64_t now_ms() const { return now_ms_; }

  /// Queues the net change of all ledgers, and a notification for each other process whose turn has
  /// come.
  void Apply(db::Transaction& tx);

  /// The names for which somebody of this process waits who should ask now; after COMMIT.
  const std::vector<std::string>& own_turns() const { return own_turns_; }
  /// How many grants this transaction ended for that reason.
  std::int64_t CountEnded(LossReason reason) const;

 private:
  struct Wanted {
    std::set<base::Uuid> new_terms{};     // of those who acquire
    std::set<base::Uuid> holder_terms{};  // of those who renew or release
    bool may_grant = false;
  };
  /// A term whose end is looked up.
  struct KeyedTerm {
    const LeaseKey* key;
    base::Uuid term;
  };
  using LoadedByKey = std::map<LeaseKey, Ledger::Loaded>;

  static db::Transaction::Pending QueueEnded(db::Transaction& tx,
                                             const std::vector<KeyedTerm>& terms);
  static void TakeEnded(db::Transaction& tx, db::Transaction::Pending pending,
                        const std::vector<KeyedTerm>& terms, LoadedByKey& loaded);
  void LoadEndedHolders(db::Transaction& tx, LoadedByKey& loaded);

  template <class Part>
  struct Keyed;
  template <class Part>
  std::vector<Keyed<Part>> All(const std::vector<Part>& (Ledger::*parts)() const) const;

  void ApplyRows(db::Transaction& tx);
  void ApplyHistory(db::Transaction& tx);
  void ApplyTickets(db::Transaction& tx);
  void ApplyTurns(db::Transaction& tx);

  const std::string process_;
  std::map<LeaseKey, Wanted> wanted_;  // ascending: the order of the columns

  std::vector<const LeaseKey*> granting_;  // of wanted_
  std::vector<KeyedTerm> new_terms_;

  std::int64_t now_ms_ = 0;
  std::int64_t longest_ttl_ms_ = 0;
  std::map<LeaseKey, Ledger> ledgers_;
  std::vector<std::string> own_turns_;
};

}  // namespace tenure::leases
