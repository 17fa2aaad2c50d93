#pragma once

#include <optional>
#include <vector>

#include "db/transaction.hpp"
#include "sessions/rules.hpp"

namespace tenure::sessions {

/// The keys of a batch: each once, ascending, as columns. Ascending is the order in which they are
/// locked.
class BatchKeys {
 public:
  explicit BatchKeys(std::vector<Key> keys);

  std::size_t size() const { return keys_.size(); }
  std::size_t IndexOf(const Key& key) const;
  const std::vector<base::Uuid>& users() const { return users_; }
  const std::vector<base::Uuid>& capacities() const { return capacities_; }

 private:
  std::vector<Key> keys_;
  std::vector<base::Uuid> users_;
  std::vector<base::Uuid> capacities_;
};

/// The latest session of each key and the store's time, in one flush.
struct Loaded {
  std::vector<std::optional<Session>> latest;  // by index of the key
  std::int64_t now_ms = 0;
};

Loaded LoadLatest(db::Transaction& tx, const BatchKeys& keys);

/// The ledgers of a batch's keys. Locks first (the seal, then the keys), then what is there, then
/// the clock: each a statement of its own, so that what is read and the time are not older than the
/// lock (spec 05, Time). Their time is never before the end of the last usage window that was
/// closed (bounds.hpp).
std::vector<Ledger> OpenLedgers(db::Transaction& tx, const BatchKeys& keys);

/// Queues the net change of all ledgers; it is sent together with COMMIT.
void ApplyChanges(db::Transaction& tx, const std::vector<Ledger>& ledgers);

}  // namespace tenure::sessions
