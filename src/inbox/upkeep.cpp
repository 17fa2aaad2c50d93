#include "inbox/upkeep.hpp"

#include <algorithm>
#include <map>

#include "inbox_sql/queries.hpp"

namespace tenure::inbox {
namespace {

/// How many entries one transaction removes.
constexpr std::int64_t kTidyBatch = 500;

}  // namespace

void TidyHandler::WriteItems(db::Transaction& tx, Items items) {
  // The clock before the locks is right here: what is over by it is over later too.
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  for (auto* item : items) {
    const db::Rows removed =
        tx.Run(sql::kForgetEntries, now_ms - item->request.retention_ms, now_ms, kTidyBatch);
    std::map<std::string, std::int64_t> floors;
    for (const auto row : removed) {
      auto& floor = floors[std::string(row.Text(0))];
      floor = std::max(floor, row.Int(1));
    }
    std::vector<std::string> tenants;
    std::vector<std::int64_t> fences;
    for (const auto& [tenant, fence] : floors) {
      tenants.push_back(tenant);
      fences.push_back(fence);
    }
    tx.Queue(sql::kRaiseFloors, tenants, fences);
    const auto rows = static_cast<std::int64_t>(removed.size());
    item->reply = TidyReply{rows, rows >= kTidyBatch};
  }
}

}  // namespace tenure::inbox
