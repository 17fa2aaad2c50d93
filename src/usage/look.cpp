#include "usage/look.hpp"

#include "sessions/bounds.hpp"
#include "usage_sql/queries.hpp"

namespace tenure::usage {

void WindowsHandler::ReadItems(db::Transaction& tx, Items items) {
  std::vector<db::Transaction::Pending> pages;
  for (const auto* item : items)
    pages.push_back(tx.Queue(sql::kListWindows, item->request.before, item->request.limit + 1));
  for (std::size_t i = 0; i < items.size(); ++i) {
    WindowsReply reply;
    const db::Rows rows = tx.Take(pages[i]);
    for (const auto row : rows) reply.windows.push_back({ReadWindow(row), row.Int(9), row.Int(10)});
    if (reply.windows.size() > static_cast<std::size_t>(items[i]->request.limit)) {
      reply.windows.pop_back();
      reply.has_more = true;
    }
    items[i]->reply = std::move(reply);
  }
}

void UnsentHandler::ReadItems(db::Transaction& tx, Items items) {
  const auto counted = tx.Queue(sql::kCountUnsent);
  const auto clock = tx.QueueClock();
  const db::Rows rows = tx.Take(counted);
  const UnsentReply reply{rows[0].Int(0), rows[0].Int(1), rows[0].Int(2), tx.TakeClock(clock)};
  for (auto* item : items) item->reply = reply;
}

void SpanHandler::ReadItems(db::Transaction& tx, Items items) {
  for (auto* item : items) {
    const SpanRequest& request = item->request;
    const auto from =
        request.from ? tx.Queue(sql::kFindWindow, *request.from) : tx.Queue(sql::kReadFirstWindow);
    const auto to =
        request.to ? tx.Queue(sql::kFindWindow, *request.to) : tx.Queue(sql::kReadLastWindow);
    const auto factors = tx.Queue(sql::kLoadFactors);
    const std::int64_t removed_ms = sessions::ReadBounds(tx).removed_ms;
    item->reply = SpanReply{ReadWindow(tx.Take(from)), ReadWindow(tx.Take(to)),
                            TakeFactors(tx.Take(factors)), removed_ms};
  }
}

}  // namespace tenure::usage
