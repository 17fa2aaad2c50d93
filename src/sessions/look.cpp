#include "sessions/look.hpp"

#include <algorithm>

#include "sessions_sql/queries.hpp"

namespace tenure::sessions {

void FindHandler::ReadItems(db::Transaction& tx, Items items) {
  std::vector<base::Uuid> ids;
  ids.reserve(items.size());
  for (const auto* item : items) ids.push_back(item->request.id);
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());

  const auto rows = tx.Queue(sql::kFind, ids);
  const auto clock = tx.QueueClock();
  std::vector<std::optional<Session>> found(ids.size());
  const db::Rows result = tx.Take(rows);
  for (const auto row : result) found[row.ordinal()] = ReadSession(row);
  const std::int64_t now_ms = tx.TakeClock(clock);
  for (auto* item : items) {
    const auto at = std::lower_bound(ids.begin(), ids.end(), item->request.id) - ids.begin();
    item->reply = FindReply{found[static_cast<std::size_t>(at)], now_ms};
  }
}

void ListHandler::ReadItems(db::Transaction& tx, Items items) {
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  std::vector<db::Transaction::Pending> pages;
  for (const auto* item : items) {
    const ListRequest& request = item->request;
    const db::Query& query = request.user     ? sql::kListByUser
                             : request.tenant ? sql::kListByTenant
                                              : sql::kListAll;
    std::optional<std::int64_t> active;
    if (request.active) active = *request.active ? 1 : 0;
    // One more than asked for tells whether there is another page.
    pages.push_back(tx.Queue(query, request.user, request.tenant, request.capacity, active, now_ms,
                             request.after, request.limit + 1));
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    ListReply reply;
    reply.now_ms = now_ms;
    const db::Rows page = tx.Take(pages[i]);
    for (const auto row : page) reply.sessions.push_back(ReadSession(row));
    if (reply.sessions.size() > static_cast<std::size_t>(items[i]->request.limit)) {
      reply.sessions.pop_back();
      reply.has_more = true;
    }
    items[i]->reply = std::move(reply);
  }
}

void CountHandler::ReadItems(db::Transaction& tx, Items items) {
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  const std::int64_t active = tx.Run(sql::kCountActive, now_ms)[0].Int(0);
  for (auto* item : items) item->reply = CountReply{active};
}

}  // namespace tenure::sessions
