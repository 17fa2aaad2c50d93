#include "inbox/inbox.hpp"

#include <algorithm>
#include <map>

#include "db/keys.hpp"
#include "inbox_sql/queries.hpp"

namespace tenure::inbox {
namespace {

constexpr std::int64_t kStuckMs = 300'000;

}  // namespace

void FindEntries(db::Transaction& tx, db::Items<FindRequest, FindReply> items) {
  const auto keys = db::KeysOf(items, &FindRequest::key);
  const auto loading = tx.Queue(sql::kLoadEntries, db::Columns(keys, kKeyColumns));
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  std::vector<MessageRow> rows(keys.size());
  for (const auto row : tx.Take(loading))
    db::ReadInto(rows[row.ordinal()], row, 0, kMessageColumns);
  for (auto* item : items) {
    const MessageRow& row = rows[keys.IndexOf(item->request.key)];
    FindReply reply;
    reply.now_ms = now_ms;
    if (row.state != State::kNew) reply.entry = row;
    item->reply = std::move(reply);
  }
}

std::int64_t CountStuckEntries(db::Transaction& tx, std::int64_t now_ms) {
  return tx.Run(sql::kCountStuck, now_ms - kStuckMs)[0].Int(0);
}

db::Swept Tidy(db::Transaction& tx, const TidyRequest& request, std::int64_t now_ms) {
  const db::Rows removed =
      tx.Run(sql::kForgetEntries, now_ms - request.retention_ms, now_ms, db::kSweepRows);
  using Floors = std::map<std::string_view, std::int64_t>;  // by tenant
  Floors floors;
  for (const auto row : removed) {
    auto& floor = floors[row.Text(0)];
    floor = std::max(floor, row.Int(1));
  }
  tx.Queue(sql::kRaiseFloors,
           db::Columns(floors, &Floors::value_type::first, &Floors::value_type::second));
  return db::Swept().Add(removed.size());
}

}  // namespace tenure::inbox
