#include "sessions/batch.hpp"

#include <algorithm>

#include "sessions_sql/queries.hpp"

namespace tenure::sessions {

BatchKeys::BatchKeys(std::vector<Key> keys) : keys_(std::move(keys)) {
  std::sort(keys_.begin(), keys_.end());
  keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
  users_.reserve(keys_.size());
  capacities_.reserve(keys_.size());
  for (const Key& key : keys_) {
    users_.push_back(key.user);
    capacities_.push_back(key.capacity);
  }
}

std::size_t BatchKeys::IndexOf(const Key& key) const {
  return static_cast<std::size_t>(std::lower_bound(keys_.begin(), keys_.end(), key) -
                                  keys_.begin());
}

Loaded LoadLatest(db::Transaction& tx, const BatchKeys& keys) {
  const auto rows = tx.Queue(sql::kLoadLatest, keys.users(), keys.capacities());
  const auto clock = tx.QueueClock();
  Loaded loaded;
  loaded.latest.resize(keys.size());
  const db::Rows found = tx.Take(rows);
  for (const auto row : found) loaded.latest[row.ordinal()] = ReadSession(row);
  loaded.now_ms = tx.TakeClock(clock);
  return loaded;
}

std::vector<Ledger> OpenLedgers(db::Transaction& tx, const BatchKeys& keys) {
  tx.Queue(sql::kLockSealShared);
  tx.Queue(sql::kLockKeys, keys.users(), keys.capacities());
  const auto bounds = tx.Queue(sql::kReadBounds);
  const Loaded loaded = LoadLatest(tx, keys);
  const std::int64_t now_ms = std::max(loaded.now_ms, tx.Take(bounds)[0].Int(0));
  std::vector<Ledger> ledgers;
  ledgers.reserve(keys.size());
  for (const auto& latest : loaded.latest) ledgers.emplace_back(latest, now_ms);
  return ledgers;
}

void ApplyChanges(db::Transaction& tx, const std::vector<Ledger>& ledgers) {
  struct {
    std::vector<base::Uuid> id;
    std::vector<std::int64_t> end_ms, end_reason;
  } ended;
  struct {
    std::vector<base::Uuid> id, tenant, user, capacity;
    std::vector<std::int64_t> turn, kind, start_ms, end_ms, end_reason;
  } started;
  for (const Ledger& ledger : ledgers) {
    if (const auto& session = ledger.ended()) {
      ended.id.push_back(session->id);
      ended.end_ms.push_back(session->end_ms);
      ended.end_reason.push_back(static_cast<std::int64_t>(*session->end_reason));
    }
    for (const Session& session : ledger.started()) {
      started.id.push_back(session.id);
      started.tenant.push_back(session.tenant);
      started.user.push_back(session.key.user);
      started.capacity.push_back(session.key.capacity);
      started.turn.push_back(session.turn);
      started.kind.push_back(static_cast<std::int64_t>(session.kind));
      started.start_ms.push_back(session.start_ms);
      started.end_ms.push_back(session.end_ms);
      started.end_reason.push_back(
          session.end_reason ? static_cast<std::int64_t>(*session.end_reason) : 0);
    }
  }
  tx.Queue(sql::kEndSessions, ended.id, ended.end_ms, ended.end_reason);
  tx.Queue(sql::kStartSessions, started.id, started.tenant, started.user, started.capacity,
           started.turn, started.kind, started.start_ms, started.end_ms, started.end_reason);
}

}  // namespace tenure::sessions
