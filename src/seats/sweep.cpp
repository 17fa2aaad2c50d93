#include "seats/sweep.hpp"

#include <algorithm>

#include "seats_sql/queries.hpp"

namespace tenure::seats {
namespace {

constexpr std::int64_t kPage = 200;
constexpr std::int64_t kDayMs = 86'400'000;

}  // namespace

void FindDue(db::Transaction& tx, db::Items<DueRequest, DueReply> items) {
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  for (auto* item : items) {
    DueReply reply{{}, now_ms};
    for (const auto row : tx.Run(sql::kFindDue, item->request.after, now_ms, kPage))
      reply.licenses.push_back(row.Uuid(0));
    item->reply = std::move(reply);
  }
}

OldestLook ReadOldestLook(db::Transaction& tx, std::int64_t now_ms) {
  const db::Rows rows = tx.Run(sql::kOldestLook);
  OldestLook oldest{std::nullopt, now_ms};
  if (!rows.empty() && !rows[0].IsNull(0)) oldest.look_ms = rows[0].Int(0);
  return oldest;
}

db::Swept ForgetTickets(db::Transaction& tx, const ForgetTicketsRequest&, std::int64_t now_ms) {
  return db::Swept().Add(
      tx.Run(sql::kForgetTickets, now_ms - kDeadTicketMs, db::kSweepRows).size());
}

void FindLogEnds(db::Transaction& tx, db::Items<LogEndsRequest, LogEndsReply> items) {
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  for (auto* item : items) {
    LogEndsReply reply{{}, now_ms};
    for (const auto row :
         tx.Run(sql::kFindLogEnds, item->request.after, now_ms - item->request.retention_ms, kPage))
      reply.ends.push_back(db::ReadAs<LogEnd>(row, &LogEnd::license, &LogEnd::base,
                                              &LogEnd::base_ms, &LogEnd::checkpoint_ms,
                                              &LogEnd::old_checkpoint));
    item->reply = std::move(reply);
  }
}

db::Swept ForgetLog(db::Transaction& tx, const ForgetLogRequest& request, std::int64_t) {
  tx.Queue(sql::kRaiseLogBase, request.license, request.base);
  return db::Swept().Add(
      tx.Run(sql::kForgetLog, request.license, request.base, db::kSweepRows).size());
}

std::int64_t CheckpointIntervalMs(std::int64_t retention_ms) {
  return std::clamp<std::int64_t>(retention_ms / 10, 1, kDayMs);
}

}  // namespace tenure::seats
