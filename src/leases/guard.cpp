#include "leases/guard.hpp"

#include <string>

#include "leases_sql/queries.hpp"

namespace tenure::leases {

std::vector<bool> FenceGuard::Check(db::Transaction& tx, std::span<const base::Fence> fences) {
  std::vector<std::string> tenants;
  std::vector<std::string> names;
  std::vector<std::int64_t> numbers;
  for (const base::Fence& fence : fences) {
    tenants.push_back(fence.tenant);
    names.push_back(fence.name);
    numbers.push_back(fence.fence);
  }
  const auto holding = tx.Queue(sql::kHoldFences, tenants, names, numbers);
  const auto clock = tx.QueueClock();
  const db::Rows held = tx.Take(holding);
  const std::int64_t now_ms = tx.TakeClock(clock);
  std::vector<bool> live(fences.size(), false);
  for (const auto row : held) live[row.ordinal()] = row.Int(0) > now_ms;
  return live;
}

}  // namespace tenure::leases
