#include "inbox/look.hpp"

#include <algorithm>

#include "inbox/batch.hpp"
#include "inbox_sql/queries.hpp"

namespace tenure::inbox {
namespace {

constexpr std::int64_t kStuckMs = 300'000;

}  // namespace

void FindHandler::ReadItems(db::Transaction& tx, Items items) {
  std::vector<MessageKey> keys;
  for (const auto* item : items) keys.push_back(item->request.key);
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  KeyColumns columns;
  for (const MessageKey& key : keys) columns.Add(key);
  const auto loading =
      tx.Queue(sql::kLoadEntries, columns.tenants, columns.sources, columns.message_ids);
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  std::vector<EntryRow> rows(keys.size());
  for (const auto row : tx.Take(loading)) rows[row.ordinal()] = ReadEntry(row);
  for (auto* item : items) {
    const auto at = std::lower_bound(keys.begin(), keys.end(), item->request.key);
    const EntryRow& row = rows[static_cast<std::size_t>(at - keys.begin())];
    FindReply reply;
    reply.now_ms = now_ms;
    if (row.state != State::kNew) reply.entry = row;
    item->reply = std::move(reply);
  }
}

void CountHandler::ReadItems(db::Transaction& tx, Items items) {
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  const std::int64_t stuck = tx.Run(sql::kCountStuck, now_ms - kStuckMs)[0].Int(0);
  for (auto* item : items) item->reply = CountReply{stuck};
}

}  // namespace tenure::inbox
