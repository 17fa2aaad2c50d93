#include "webhooks/reads.hpp"

#include "webhooks/event_columns.hpp"
#include "webhooks_sql/queries.hpp"

namespace tenure::webhooks {
namespace {

constexpr std::int64_t kForgottenTogether = 500;
/// Bodies are large.
constexpr std::int64_t kEventsForgottenTogether = 50;

constexpr auto kStoredColumns =
    db::Members(kEventColumns, &EventRow::received_ms, &EventRow::number);

}  // namespace

db::Transaction::Pending QueueEvents(db::Transaction& tx, const ListRequest& request,
                                     std::int64_t rows) {
  const auto text = [](const std::string& value) { return std::string_view(value); };
  return tx.Queue(sql::kListEvents, text(request.tenant), request.below, text(request.delivery_id),
                  text(request.event), text(request.action), text(request.repository),
                  text(request.entity_type), text(request.entity_id), request.since_ms,
                  request.until_ms, rows);
}

EventRow ReadEvent(const db::Rows::Row& row) { return db::ReadAs<EventRow>(row, kStoredColumns); }

void FindEvents(db::Transaction& tx, db::Items<FindRequest, FindReply> items) {
  for (auto* item : items) {
    item->reply.emplace();
    for (const auto row :
         tx.Run(sql::kFindEvent, std::string_view(item->request.tenant), item->request.event_id))
      item->reply->event = ReadEvent(row);
  }
}

void ReadPayloads(db::Transaction& tx, db::Items<FindRequest, PayloadReply> items) {
  for (auto* item : items) {
    PayloadReply reply;
    for (const auto row :
         tx.Run(sql::kReadPayload, std::string_view(item->request.tenant), item->request.event_id))
      reply = {true, std::string(row.Text(0)), std::string(row.Text(1)), std::string(row.Text(2))};
    item->reply = std::move(reply);
  }
}

void ReadInForce(db::Transaction& tx, db::Items<InForceRequest, InForceReply> items) {
  const std::int64_t revision = tx.Run(sql::kReadRevision)[0].Int(0);
  SnapshotPtr bots;
  for (auto* item : items) {
    item->reply.emplace();
    if (item->request.known == revision) continue;
    if (!bots) bots = LoadSnapshot(tx);
    item->reply->bots = bots;
  }
}

db::Swept ForgetDeliveries(db::Transaction& tx, const ForgetRequest& request, std::int64_t now_ms) {
  const auto rows = tx.Run(sql::kForgetDeliveries, now_ms - request.keep_ms, kForgottenTogether);
  return {static_cast<std::int64_t>(rows.size()), rows.size() == kForgottenTogether};
}

db::Swept ForgetEvents(db::Transaction& tx, const ForgetRequest& request, std::int64_t now_ms) {
  const auto rows = tx.Run(sql::kForgetEvents, now_ms - request.keep_ms, kEventsForgottenTogether);
  std::vector<base::Uuid> ids;
  for (const auto row : rows) ids.push_back(row.Uuid(0));
  tx.Queue(sql::kForgetPayloads, ids);
  return {static_cast<std::int64_t>(rows.size()), rows.size() == kEventsForgottenTogether};
}

}  // namespace tenure::webhooks
