#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "db/operation.hpp"

namespace tenure::db {

/// A page of a list.
template <class Row>
struct Page {
  std::vector<Row> rows{};
  bool has_more = false;    ///< another page follows, behind the last row
  std::int64_t now_ms = 0;  ///< the store's time
};

/// The first `limit` rows of a query that was asked for one more: that one tells whether another
/// page follows. `read` makes a Row of a row of the store.
template <class Row, class ReadRow>
Page<Row> TakePage(const Rows& rows, std::int64_t limit, std::int64_t now_ms, ReadRow read) {
  Page<Row> page{{}, rows.size() > static_cast<std::size_t>(limit), now_ms};
  const std::size_t count = std::min(rows.size(), static_cast<std::size_t>(limit));
  page.rows.reserve(count);
  for (std::size_t i = 0; i < count; ++i) page.rows.push_back(read(rows[i]));
  return page;
}

/// Answers requests for pages. Each is a query of its own; the batch shares the flush. `Request`
/// has a `limit`.
template <class Request, class Row>
class ListHandler : public LookHandler<Request, Page<Row>> {
 public:
  using Items = typename LookHandler<Request, Page<Row>>::Items;

 protected:
  /// Queues the query of a page of at most `rows` rows.
  virtual Transaction::Pending QueuePage(Transaction& tx, const Request& request, std::int64_t rows,
                                         std::int64_t now_ms) = 0;
  virtual Row ReadRow(const Rows::Row& row, std::int64_t now_ms) = 0;

 private:
  static std::int64_t LimitOf(const Item<Request, Page<Row>>& item) {
    return static_cast<std::int64_t>(item.request.limit);
  }
  void ReadItems(Transaction& tx, Items items) final {
    const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
    std::vector<Transaction::Pending> pages;
    pages.reserve(items.size());
    for (const auto* item : items)
      pages.push_back(QueuePage(tx, item->request, LimitOf(*item) + 1, now_ms));
    for (std::size_t i = 0; i < items.size(); ++i)
      items[i]->reply = TakePage<Row>(tx.Take(pages[i]), LimitOf(*items[i]), now_ms,
                                      [&](const Rows::Row& row) { return ReadRow(row, now_ms); });
  }
};

}  // namespace tenure::db
