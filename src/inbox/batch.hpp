#pragma once

#include <map>
#include <string>
#include <vector>

#include "db/transaction.hpp"
#include "inbox/entry.hpp"

namespace tenure::inbox {

/// Keys as columns of a query.
struct KeyColumns {
  std::vector<std::string> tenants{};
  std::vector<std::string> sources{};
  std::vector<std::string> message_ids{};

  void Add(const MessageKey& key) {
    tenants.push_back(key.tenant);
    sources.push_back(key.source);
    message_ids.push_back(key.message_id);
  }
};

EntryRow ReadEntry(const db::Rows::Row& row);

/// The entries of the messages that one transaction looks at or changes. Locks first, then what is
/// there, then the clock: each a statement of its own, so that what is read and the time are not
/// older than the locks (spec 05, Time). All of it is one flush on PostgreSQL.
///
///   Entries entries(budget);
///   entries.Want(key, Entries::Use::kBegin);  // for every command
///   entries.Open(tx);
///   entries.At(key).Begin(command);
///   entries.Apply(tx);                        // goes out with COMMIT
class Entries {
 public:
  enum class Use {
    kFinish,  ///< of something that is known
    kBegin,   ///< of something that may be new: it gets its row
  };

  explicit Entries(const Budget& budget) : budget_(budget) {}

  void Want(const MessageKey& key, Use use);

  /// For a transaction that changes entries.
  void Open(db::Transaction& tx);
  /// Without locks: every entry is as it is committed, and must not be changed.
  void Look(db::Transaction& tx);

  Entry& At(const MessageKey& key);

  /// Queues the net change of all entries.
  void Apply(db::Transaction& tx);

 private:
  struct Opening {
    db::Transaction::Pending rows;
    db::Transaction::Pending incarnation;
    db::Transaction::PendingClock clock;
  };
  Opening QueueLoad(db::Transaction& tx);
  void TakeLoad(db::Transaction& tx, const Opening& opening);

  const Budget budget_;
  std::map<MessageKey, Use> wanted_;  // ascending: the order of the columns

  KeyColumns columns_;
  std::vector<MessageKey> keys_;
  std::map<MessageKey, bool> locked_;
  std::map<MessageKey, Entry> entries_;
};

}  // namespace tenure::inbox
