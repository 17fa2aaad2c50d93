#include "sessions/sessions.hpp"

#include <algorithm>
#include <functional>

#include "db/behind.hpp"
#include "db/keys.hpp"
#include "sessions/usage_seal.hpp"
#include "sessions_sql/queries.hpp"

namespace tenure::sessions {

void FindSessions(db::Transaction& tx, db::Items<FindRequest, FindReply> items) {
  const auto ids = db::KeysOf(items, &FindRequest::id);
  const auto rows = tx.Queue(sql::kFind, db::Columns(ids, std::identity()));
  const auto clock = tx.QueueClock();
  std::vector<std::optional<Session>> found(ids.size());
  for (const auto row : tx.Take(rows)) found[row.ordinal()] = ReadSession(row);
  const std::int64_t now_ms = tx.TakeClock(clock);
  for (auto* item : items) item->reply = FindReply{found[ids.IndexOf(item->request.id)], now_ms};
}

db::Transaction::Pending QueueSessions(db::Transaction& tx, const ListRequest& request,
                                       std::int64_t rows, std::int64_t now_ms) {
  const bool newest_first = request.newest_first;
  const db::Query& query =
      request.user     ? (newest_first ? sql::kListByUserDescending : sql::kListByUser)
      : request.tenant ? (newest_first ? sql::kListByTenantDescending : sql::kListByTenant)
                       : (newest_first ? sql::kListAllDescending : sql::kListAll);
  std::optional<std::int64_t> active;
  if (request.active) active = *request.active ? 1 : 0;
  return tx.Queue(query, request.user, request.tenant, request.capacity, active, now_ms,
                  db::Behind(request.after, newest_first), rows);
}

std::int64_t CountActiveSessions(db::Transaction& tx, std::int64_t now_ms) {
  return tx.Run(sql::kCountActive, now_ms)[0].Int(0);
}

db::Swept Expire(db::Transaction& tx, const db::Nothing&, std::int64_t now_ms) {
  return db::Swept().Add(tx.Run(sql::kExpire, now_ms, db::kSweepRows).size());
}

db::Swept Remove(db::Transaction& tx, const RemoveRequest& request, std::int64_t now_ms) {
  const UsageSeal seal = LockUsageSeal(tx);
  const std::int64_t before_ms = std::min(now_ms - request.retention_ms, seal.settled_ms);
  const db::Rows removed = tx.Run(sql::kDeleteOld, before_ms, db::kSweepRows);
  std::vector<Key> touched;
  std::int64_t last_end_ms = 0;
  for (const auto row : removed) {
    touched.push_back(db::ReadAs<Key>(row, kKeyColumns));
    last_end_ms = std::max(last_end_ms, row.Int(2));
  }
  if (!removed.empty()) RaiseRemoved(tx, last_end_ms + 1);
  const db::UniqueKeys<Key> keys(std::move(touched));
  std::vector<Key> idle;
  for (const auto row : tx.Run(sql::kLockIdleKeys, db::Columns(keys, kKeyColumns)))
    idle.push_back(keys[row.ordinal()]);
  tx.Queue(sql::kDeleteIdleKeys, db::Columns(idle, kKeyColumns));
  return db::Swept().Add(removed.size());
}

}  // namespace tenure::sessions
