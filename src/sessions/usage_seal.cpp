#include "sessions/usage_seal.hpp"

#include "sessions_sql/queries.hpp"

namespace tenure::sessions {

void LockSeal(db::Transaction& tx) { tx.Queue(sql::kLockSeal); }

void RaiseSeal(db::Transaction& tx, std::int64_t sealed_ms) {
  tx.Queue(sql::kRaiseSeal, sealed_ms);
}

UsageSeal ReadUsageSeal(db::Transaction& tx) {
  const db::Rows rows = tx.Run(sql::kReadBounds);
  return {rows[0].Int(0), rows[0].Int(1), rows[0].Int(2)};
}

UsageSeal LockUsageSeal(db::Transaction& tx) {
  tx.Queue(sql::kLockBounds);
  return ReadUsageSeal(tx);
}

void SetSettled(db::Transaction& tx, std::int64_t settled_ms) {
  tx.Queue(sql::kSetSettled, settled_ms);
}

void RaiseRemoved(db::Transaction& tx, std::int64_t removed_ms) {
  tx.Queue(sql::kRaiseRemoved, removed_ms);
}

}  // namespace tenure::sessions
