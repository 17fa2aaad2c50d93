#include "audit/look.hpp"

#include <algorithm>

#include "audit_sql/queries.hpp"

namespace tenure::audit {
namespace {

/// An object has few entries, a person more; an act or a tenant may have most of them.
const db::Query& QueryFor(const ListRequest& request) {
  if (!request.object.empty()) return sql::kListByObject;
  if (!request.person.empty()) return sql::kListByPerson;
  if (!request.act.empty()) return sql::kListByAct;
  if (!request.tenant.empty()) return sql::kListByTenant;
  return sql::kListAll;
}

Entry ReadEntry(const db::Rows::Row& row) {
  Entry entry;
  entry.sequence = row.Int(0);
  entry.at_ms = row.Int(1);
  entry.tenant = row.Text(2);
  entry.person = row.Text(3);
  entry.address = row.Text(4);
  entry.request_id = row.Text(5);
  entry.act = row.Text(6);
  entry.object = row.Text(7);
  entry.detail = row.Text(8);
  return entry;
}

}  // namespace

void ListHandler::ReadItems(db::Transaction& tx, Items items) {
  tx.Queue(sql::kWalkIndex);
  std::vector<db::Transaction::Pending> pages;
  for (const auto* item : items) {
    const ListRequest& request = item->request;
    // Sequences begin at 1: nothing of `to_ms` itself lies before this.
    const Place end{request.to_ms, 0};
    const Place before = request.before ? std::min(*request.before, end) : end;
    // One more than asked for tells whether there is another page.
    pages.push_back(tx.Queue(QueryFor(request), std::string_view(request.tenant),
                             std::string_view(request.person), std::string_view(request.act),
                             std::string_view(request.object), request.from_ms, before.at_ms,
                             before.sequence, request.limit + 1));
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    ListReply reply;
    const db::Rows page = tx.Take(pages[i]);
    for (const auto row : page) reply.entries.push_back(ReadEntry(row));
    if (reply.entries.size() > static_cast<std::size_t>(items[i]->request.limit)) {
      reply.entries.pop_back();
      reply.has_more = true;
    }
    items[i]->reply = std::move(reply);
  }
}

}  // namespace tenure::audit
