#include "sessions/expiry.hpp"

#include <algorithm>

#include "sessions/batch.hpp"
#include "sessions/bounds.hpp"
#include "sessions_sql/queries.hpp"

namespace tenure::sessions {
namespace {

BackgroundReply Counted(std::size_t rows) {
  const auto count = static_cast<std::int64_t>(rows);
  return {count, count >= kBackgroundBatch};
}

}  // namespace

void ExpireHandler::WriteItems(db::Transaction& tx, Items items) {
  // The clock before the locks is right here: it only has to have passed the end, and it never
  // un-passes.
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  for (auto* item : items)
    item->reply = Counted(tx.Run(sql::kExpire, now_ms, kBackgroundBatch).size());
}

void RemoveHandler::WriteItems(db::Transaction& tx, Items items) {
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  const Bounds bounds = LockBounds(tx);
  for (auto* item : items) {
    const std::int64_t before_ms = std::min(now_ms - item->request.retention_ms, bounds.settled_ms);
    const db::Rows removed = tx.Run(sql::kDeleteOld, before_ms, kBackgroundBatch);
    std::vector<Key> touched;
    std::int64_t last_end_ms = 0;
    for (const auto row : removed) {
      touched.push_back({row.Uuid(0), row.Uuid(1)});
      last_end_ms = std::max(last_end_ms, row.Int(2));
    }
    if (!removed.empty()) RaiseRemoved(tx, last_end_ms + 1);
    const BatchKeys keys(std::move(touched));
    std::vector<base::Uuid> users;
    std::vector<base::Uuid> capacities;
    const db::Rows locked = tx.Run(sql::kLockIdleKeys, keys.users(), keys.capacities());
    for (const auto row : locked) {
      users.push_back(keys.users()[row.ordinal()]);
      capacities.push_back(keys.capacities()[row.ordinal()]);
    }
    tx.Queue(sql::kDeleteIdleKeys, users, capacities);
    item->reply = Counted(removed.size());
  }
}

}  // namespace tenure::sessions
