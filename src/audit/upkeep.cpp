#include "audit/upkeep.hpp"

#include "audit_sql/queries.hpp"

namespace tenure::audit {
namespace {

constexpr std::int64_t kForgetBatch = 500;

}  // namespace

void ForgetHandler::WriteItems(db::Transaction& tx, Items items) {
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  for (auto* item : items) {
    const std::int64_t before_ms = now_ms - item->request.retention_ms;
    tx.Queue(sql::kRaiseKeptFrom, before_ms);
    const auto rows =
        static_cast<std::int64_t>(tx.Run(sql::kForgetEntries, before_ms, kForgetBatch).size());
    item->reply = ForgetReply{rows, rows == kForgetBatch};
  }
}

}  // namespace tenure::audit
