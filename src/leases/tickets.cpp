#include "leases/tickets.hpp"

#include "db/keys.hpp"
#include "leases_sql/queries.hpp"

namespace tenure::leases {
namespace {

RefreshReply FreeOf(db::Transaction& tx, const RefreshRequest& request, std::int64_t now_ms) {
  std::vector<LeaseKey> wanted;
  for (const TicketRef& ticket : request.tickets) wanted.push_back(ticket.key);
  const db::UniqueKeys keys(std::move(wanted));
  RefreshReply reply;
  for (const auto row : tx.Run(sql::kFindFree, db::Columns(keys, kKeyColumns), now_ms))
    reply.free.push_back(keys[row.ordinal()]);
  return reply;
}

}  // namespace

void RefreshHandler::WriteItems(db::Transaction& tx, Items items) {
  // The clock before the locks is right here: a ticket's life is only shortened by a wait.
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  for (auto* item : items) {
    tx.Queue(sql::kRefreshTickets,
             db::Columns(item->request.tickets, db::Inside(&TicketRef::key, kKeyColumns),
                         &TicketRef::term),
             now_ms + kTicketMs);
    item->reply = FreeOf(tx, item->request, now_ms);
  }
}

void FreeHandler::ReadItems(db::Transaction& tx, Items items) {
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  for (auto* item : items) item->reply = FreeOf(tx, item->request, now_ms);
}

}  // namespace tenure::leases
