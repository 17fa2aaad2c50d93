#include "leases/retention.hpp"

#include <algorithm>
#include <map>

#include "leases_sql/queries.hpp"

namespace tenure::leases {
namespace {

/// Dead tickets stay for a while: their process may only have been paused, and gets its place back.
constexpr std::int64_t kDeadTicketMs = 600'000;

using Floors = std::map<std::string, std::int64_t>;  // by tenant

}  // namespace

TidyReply TidyHandler::Sweep(db::Transaction& tx, const TidyRequest& request, std::int64_t now_ms) {
  TidyReply reply;
  reply.Add(tx.Run(sql::kForgetHistory, now_ms - request.history_ms, db::kSweepRows).size());
  reply.Add(tx.Run(sql::kForgetTickets, now_ms - kDeadTicketMs, db::kSweepRows).size());
  const db::Rows page =
      tx.Run(sql::kFindIdle, std::string_view(request.after.tenant),
             std::string_view(request.after.name), now_ms - request.retention_ms, db::kSweepRows);
  reply.has_more |= static_cast<std::int64_t>(page.size()) >= db::kSweepRows;
  Floors floors;
  std::vector<LeaseKey> names;
  for (const auto row : page) {
    reply.after = db::ReadAs<LeaseKey>(row, kKeyColumns);
    if (row.Int(3) == 0) continue;
    auto& floor = floors[reply.after.tenant];
    floor = std::max(floor, row.Int(2));
    names.push_back(reply.after);
  }
  reply.rows += static_cast<std::int64_t>(names.size());
  tx.Queue(sql::kRaiseFloors,
           db::Columns(floors, &Floors::value_type::first, &Floors::value_type::second));
  tx.Queue(sql::kDeleteNames, db::Columns(names, kKeyColumns));
  return reply;
}

}  // namespace tenure::leases
