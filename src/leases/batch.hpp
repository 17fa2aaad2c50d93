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
/// locks (spec 05, Time). All of it is one flush on PostgreSQL.
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
  struct Columns {
    std::vector<std::string> tenants;
    std::vector<std::string> names;
    void Add(const LeaseKey& key) {
      tenants.push_back(key.tenant);
      names.push_back(key.name);
    }
  };
  struct Wanted {
    std::set<base::Uuid> new_terms{};     // of those who acquire
    std::set<base::Uuid> holder_terms{};  // of those who renew or release
    bool may_grant = false;
  };
  /// Terms whose end is looked up.
  struct TermColumns {
    void Add(const LeaseKey& key, const base::Uuid& term) {
      names.Add(key);
      keys.push_back(key);
      terms.push_back(term);
    }
    db::Transaction::Pending Queue(db::Transaction& tx) const;
    void Take(db::Transaction& tx, db::Transaction::Pending pending,
              std::map<LeaseKey, Ledger::Loaded>& loaded) const;

    Columns names;
    std::vector<LeaseKey> keys;
    std::vector<base::Uuid> terms;
  };

  void LoadEndedHolders(db::Transaction& tx, std::map<LeaseKey, Ledger::Loaded>& loaded);

  void ApplyRows(db::Transaction& tx);
  void ApplyHistory(db::Transaction& tx);
  void ApplyTickets(db::Transaction& tx);
  void ApplyTurns(db::Transaction& tx);

  const std::string process_;
  std::map<LeaseKey, Wanted> wanted_;  // ascending: the order of the columns

  Columns names_;
  Columns granting_;
  std::vector<LeaseKey> granting_keys_;
  TermColumns new_terms_;

  std::int64_t now_ms_ = 0;
  std::int64_t longest_ttl_ms_ = 0;
  std::map<LeaseKey, Ledger> ledgers_;
  std::vector<std::string> own_turns_;
};

}  // namespace tenure::leases
