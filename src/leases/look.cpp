#include "leases/look.hpp"

#include <algorithm>

#include "leases_sql/queries.hpp"

namespace tenure::leases {
namespace {

LeaseState StateOf(const LeaseView& view, bool has_term, bool is_broken) {
  if (!has_term || view.expires_at_ms <= view.now_ms) return LeaseState::kFree;
  return is_broken ? LeaseState::kBroken : LeaseState::kHeld;
}

/// Of a grant that is over only the fence and the end are told; the rest is history.
LeaseView ReadView(const db::Rows::Row& row, std::int64_t now_ms) {
  LeaseView view;
  view.now_ms = now_ms;
  view.name = row.Text(0);
  view.fence = row.Int(1);
  view.expires_at_ms = row.Int(8);
  view.state = StateOf(view, !row.IsNull(2), !row.IsNull(9));
  view.waiters = row.Int(10);
  if (view.state == LeaseState::kFree) return view;
  view.term = row.Uuid(2).ToString();
  view.holder = row.Text(3);
  view.metadata = row.Text(4);
  view.ttl = Milliseconds(row.Int(5));
  view.granted_at_ms = row.Int(6);
  view.renewed_at_ms = row.Int(7);
  if (!row.IsNull(9)) view.break_reason = row.Text(9);
  return view;
}

PastGrant ReadPast(const db::Rows::Row& row) {
  PastGrant past;
  past.fence = row.Int(0);
  past.term = row.Uuid(1).ToString();
  past.holder = row.Text(2);
  past.granted_at_ms = row.Int(3);
  past.ended_at_ms = row.Int(4);
  past.reason = static_cast<LossReason>(row.Int(5));
  past.detail = row.Text(6);
  return past;
}

/// The first text behind all that begin with `prefix`; empty when there is none. Names are ASCII.
std::string BehindPrefix(std::string prefix) {
  if (!prefix.empty()) ++prefix.back();
  return prefix;
}

}  // namespace

void FindHandler::ReadItems(db::Transaction& tx, Items items) {
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  std::vector<LeaseKey> keys;
  for (const auto* item : items) keys.push_back(item->request.key);
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  std::vector<std::string> tenants;
  std::vector<std::string> names;
  for (const LeaseKey& key : keys) {
    tenants.push_back(key.tenant);
    names.push_back(key.name);
  }
  const auto found = tx.Queue(sql::kFindLease, tenants, names, now_ms);
  std::vector<db::Transaction::Pending> histories;
  for (const auto* item : items)
    histories.push_back(tx.Queue(sql::kListHistory, std::string_view(item->request.key.tenant),
                                 std::string_view(item->request.key.name), item->request.history));
  std::vector<std::optional<LeaseView>> views(keys.size());
  for (const auto row : tx.Take(found)) views[row.ordinal()] = ReadView(row, now_ms);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto at = std::lower_bound(keys.begin(), keys.end(), items[i]->request.key);
    FindReply reply{views[static_cast<std::size_t>(at - keys.begin())]};
    for (const auto row : tx.Take(histories[i]))
      if (reply.lease) reply.lease->history.push_back(ReadPast(row));
    items[i]->reply = std::move(reply);
  }
}

void ListHandler::ReadItems(db::Transaction& tx, Items items) {
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  for (auto* item : items) {
    const ListRequest& list = item->request.list;
    // Behind a name comes, first of all texts, that name with the smallest character added.
    const std::string first = list.after.empty() ? list.prefix : list.after + '\x01';
    const std::string end = BehindPrefix(list.prefix);
    const std::int64_t state = list.state ? static_cast<std::int64_t>(*list.state) : -1;
    const auto limit = static_cast<std::int64_t>(list.limit);
    // One more than asked for tells whether there is another page.
    const db::Rows rows =
        tx.Run(sql::kListLeases, std::string_view(item->request.tenant), std::string_view(first),
               std::string_view(end), std::string_view(list.holder), state, now_ms, limit + 1);
    PageReply reply;
    for (const auto row : rows) reply.leases.push_back(ReadView(row, now_ms));
    if (reply.leases.size() > list.limit) {
      reply.leases.pop_back();
      reply.has_more = true;
    }
    item->reply = std::move(reply);
  }
}

void CountHandler::ReadItems(db::Transaction& tx, Items items) {
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  const std::int64_t active = tx.Run(sql::kCountActive, now_ms)[0].Int(0);
  for (auto* item : items) item->reply = CountReply{active};
}

}  // namespace tenure::leases
