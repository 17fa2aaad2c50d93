#include "usage/refused.hpp"

#include "usage_sql/queries.hpp"

namespace tenure::usage {

void RefusedHandler::ReadItems(db::Transaction& tx, Items items) {
  std::vector<db::Transaction::Pending> pages;
  for (const auto* item : items)
    pages.push_back(tx.Queue(sql::kListRefused, item->request.after.number,
                             std::string_view(item->request.after.chunk), item->request.limit + 1));
  for (std::size_t i = 0; i < items.size(); ++i) {
    RefusedReply reply;
    const db::Rows rows = tx.Take(pages[i]);
    for (const auto row : rows)
      reply.refused.push_back({{row.Int(0), std::string(row.Text(1))},
                               row.Uuid(2),
                               row.Int(3),
                               std::string(row.Text(4))});
    if (reply.refused.size() > static_cast<std::size_t>(items[i]->request.limit)) {
      reply.refused.pop_back();
      reply.has_more = true;
    }
    items[i]->reply = std::move(reply);
  }
}

}  // namespace tenure::usage
