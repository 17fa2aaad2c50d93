#include "db/beat.hpp"

#include <algorithm>

#include "db_sql/queries.hpp"

namespace tenure::db {
namespace {

/// A row that is so old is of a process that has ended.
constexpr std::int64_t kForgetMs = 86'400'000;

}  // namespace

void BeatHandler::WriteItems(Transaction& tx, Items items) {
  const auto freeze = tx.Queue(sql::kReadFreeze);
  BeatReply reply;
  reply.now_ms = tx.TakeClock(tx.QueueClock());
  const Rows rows = tx.Take(freeze);
  if (const std::int64_t since_ms = rows[0].Int(0); since_ms > 0)
    reply.frozen_until_ms = since_ms + std::max(rows[0].Int(1), rows[0].Int(2));
  if (reply.frozen_until_ms <= reply.now_ms) reply.frozen_until_ms = 0;
  for (auto* item : items) {
    tx.Queue(sql::kBeat, std::string_view(item->request.process), reply.now_ms);
    item->reply = reply;
  }
  tx.Queue(sql::kForgetProcesses, reply.now_ms - kForgetMs);
}

void FreezeHandler::ReadItems(Transaction& tx, Items items) {
  FreezeReply reply;
  for (const auto row : tx.Run(sql::kReadFrozenUntil)) reply.frozen_until_ms = row.Int(0);
  for (auto* item : items) item->reply = reply;
}

}  // namespace tenure::db
