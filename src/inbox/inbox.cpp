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

db::Transaction::Pending QueueEntries(db::Transaction& tx, const EntriesRequest& request,
                                      std::int64_t rows) {
  // Of one source: from its first message on. Of any: up to the last character of all.
  const bool from_source = !request.source.empty() && request.after.source.empty();
  const std::string_view first = from_source ? request.source : request.after.source;
  const std::string_view last =
      request.source.empty() ? std::string_view("\xF4\x8F\xBF\xBF") : request.source;
  return tx.Queue(sql::kListEntries, std::string_view(request.tenant), first,
                  std::string_view(request.after.message_id), last,
                  request.state ? static_cast<std::int64_t>(*request.state) : std::int64_t{-1},
                  rows);
}

Entry ReadEntry(const db::Rows::Row& row) {
  Entry entry{{{}, std::string(row.Text(0)), std::string(row.Text(1))}, {}};
  db::ReadInto(entry.row, row, 2, kMessageColumns);
  return entry;
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
