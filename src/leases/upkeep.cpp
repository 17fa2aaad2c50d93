#include "leases/upkeep.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "leases_sql/queries.hpp"

namespace tenure::leases {
namespace {

/// How many rows one transaction looks at or deletes.
constexpr std::int64_t kTidyBatch = 500;
/// Dead tickets stay for a while: their process may only have been paused, and gets its place back.
constexpr std::int64_t kDeadTicketMs = 600'000;

RefreshReply FreeOf(db::Transaction& tx, const RefreshRequest& request, std::int64_t now_ms) {
  std::set<LeaseKey> keys;
  for (const TicketRef& ticket : request.tickets) keys.insert(ticket.key);
  std::vector<std::string> tenants;
  std::vector<std::string> names;
  for (const LeaseKey& key : keys) {
    tenants.push_back(key.tenant);
    names.push_back(key.name);
  }
  RefreshReply reply;
  for (const auto row : tx.Run(sql::kFindFree, tenants, names, now_ms))
    reply.free.push_back({tenants[row.ordinal()], names[row.ordinal()]});
  return reply;
}

}  // namespace

void RefreshHandler::WriteItems(db::Transaction& tx, Items items) {
  // The clock before the locks is right here: a ticket's life is only shortened by a wait.
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  for (auto* item : items) {
    std::vector<std::string> tenants;
    std::vector<std::string> names;
    std::vector<base::Uuid> terms;
    for (const TicketRef& ticket : item->request.tickets) {
      tenants.push_back(ticket.key.tenant);
      names.push_back(ticket.key.name);
      terms.push_back(ticket.term);
    }
    tx.Queue(sql::kRefreshTickets, tenants, names, terms, now_ms + kTicketMs);
    item->reply = FreeOf(tx, item->request, now_ms);
  }
}

void FreeHandler::ReadItems(db::Transaction& tx, Items items) {
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  for (auto* item : items) item->reply = FreeOf(tx, item->request, now_ms);
}

void TidyHandler::WriteItems(db::Transaction& tx, Items items) {
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  for (auto* item : items) {
    const TidyRequest& request = item->request;
    TidyReply reply;
    const auto forgotten =
        tx.Run(sql::kForgetHistory, now_ms - request.history_ms, kTidyBatch).size();
    const auto tickets = tx.Run(sql::kForgetTickets, now_ms - kDeadTicketMs, kTidyBatch).size();
    const db::Rows page =
        tx.Run(sql::kFindIdle, std::string_view(request.after.tenant),
               std::string_view(request.after.name), now_ms - request.retention_ms, kTidyBatch);
    std::map<std::string, std::int64_t> floors;
    std::vector<std::string> tenants;
    std::vector<std::string> names;
    for (const auto row : page) {
      reply.after = {std::string(row.Text(0)), std::string(row.Text(1))};
      if (row.Int(3) == 0) continue;
      auto& floor = floors[reply.after.tenant];
      floor = std::max(floor, row.Int(2));
      tenants.push_back(reply.after.tenant);
      names.push_back(reply.after.name);
    }
    std::vector<std::string> floor_tenants;
    std::vector<std::int64_t> floor_fences;
    for (const auto& [tenant, fence] : floors) {
      floor_tenants.push_back(tenant);
      floor_fences.push_back(fence);
    }
    tx.Queue(sql::kRaiseFloors, floor_tenants, floor_fences);
    tx.Queue(sql::kDeleteNames, tenants, names);
    reply.rows = static_cast<std::int64_t>(forgotten + tickets + names.size());
    reply.has_more = static_cast<std::int64_t>(forgotten) >= kTidyBatch ||
                     static_cast<std::int64_t>(page.size()) >= kTidyBatch;
    item->reply = std::move(reply);
  }
}

}  // namespace tenure::leases
