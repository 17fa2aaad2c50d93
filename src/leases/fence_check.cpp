#include "leases/fence_check.hpp"

#include "leases_sql/queries.hpp"

namespace tenure::leases {

std::vector<bool> LeaseFenceCheck::Check(db::Transaction& tx, std::span<const base::Fence> fences) {
  const auto holding =
      tx.Queue(sql::kHoldFences,
               db::Columns(fences, &base::Fence::tenant, &base::Fence::name, &base::Fence::fence));
  const auto clock = tx.QueueClock();
  const db::Rows held = tx.Take(holding);
  const std::int64_t now_ms = tx.TakeClock(clock);
  std::vector<bool> live(fences.size(), false);
  for (const auto row : held) live[row.ordinal()] = row.Int(0) > now_ms;
  std::vector<base::Fence> stale;
  for (std::size_t i = 0; i < fences.size(); ++i)
    if (!live[i]) stale.push_back(fences[i]);
  if (evidence_) LookForEvidence(tx, stale);
  return live;
}

void LeaseFenceCheck::LookForEvidence(db::Transaction& tx,
                                      const std::vector<base::Fence>& stale) const {
  for (const auto row :
       tx.Run(sql::kHighestFences, db::Columns(stale, &base::Fence::tenant, &base::Fence::name)))
    evidence_->Look("lease " + stale[row.ordinal()].name, stale[row.ordinal()].fence, row.Int(0));
}

}  // namespace tenure::leases
