#include "usage/upkeep.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "sessions/bounds.hpp"
#include "usage_sql/queries.hpp"

namespace tenure::usage {
namespace {

/// The number of the first window that is not settled. REQUIRES: LockBounds was called.
std::int64_t Settle(db::Transaction& tx) {
  // sealed_ms first: a window that is closed between the two looks may be pending, and begins
  // there.
  const std::int64_t sealed_ms = sessions::ReadBounds(tx).sealed_ms;
  const db::Rows pending = tx.Run(sql::kFindSettled);
  sessions::SetSettled(tx, pending.empty() ? sealed_ms : std::min(sealed_ms, pending[0].Int(1)));
  return pending.empty() ? std::numeric_limits<std::int64_t>::max() : pending[0].Int(0);
}

}  // namespace

void SettleHandler::WriteItems(db::Transaction& tx, Items items) {
  sessions::LockBounds(tx);
  const std::int64_t first_pending = Settle(tx);
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  for (auto* item : items) {
    const auto rows =
        static_cast<std::int64_t>(tx.Run(sql::kForgetWindows, now_ms - item->request.retention_ms,
                                         first_pending, kForgetBatch)
                                      .size());
    item->reply = SettleReply{rows, rows >= kForgetBatch};
  }
}

void SendHandler::WriteItems(db::Transaction& tx, Items items) {
  const sessions::Bounds bounds = sessions::LockBounds(tx);
  for (auto* item : items) {
    const std::int64_t from = item->request.from;
    const SendReply reply{
        static_cast<std::int64_t>(tx.Run(sql::kReopenWindows, from, bounds.removed_ms).size())};
    if (reply.windows > 0)
      item->Did({std::to_string(from),
                 fmt::format(R"({{"from_window":{},"windows":{}}})", from, reply.windows)});
    item->reply = reply;
  }
  Settle(tx);
}

}  // namespace tenure::usage
