#pragma once

#include "db/evidence.hpp"
#include "db/fence_check.hpp"

namespace tenure::leases {

/// Fences on any write of the server (`Tenure-Fence`): true for the fence of a live grant. On
/// PostgreSQL it holds the lease's row FOR KEY SHARE, as tenure.check_fence does: renewals pass, a
/// takeover is told `guarded` until the transaction ends. On SQLite the write transaction itself
/// keeps everybody else out. The clock is read after the locks (docs/ground.md, Time).
class LeaseFenceCheck final : public db::FenceCheck {
 public:
  /// `evidence` is told of fences that were never given; null: nobody is.
  explicit LeaseFenceCheck(db::ForgottenEvidence* evidence = nullptr) : evidence_(evidence) {}
  std::vector<bool> Check(db::Transaction& tx, std::span<const base::Fence> fences) override;

 private:
  void LookForEvidence(db::Transaction& tx, const std::vector<base::Fence>& stale) const;

  db::ForgottenEvidence* const evidence_;
};

}  // namespace tenure::leases
