#pragma once

#include "db/guard.hpp"

namespace tenure::leases {

/// Fences on any write of the server (`Tenure-Fence`): true for the fence of a live grant. On
/// PostgreSQL it holds the lease's row FOR KEY SHARE, as tenure.check_fence does: renewals pass, a
/// takeover is told `guarded` until the transaction ends. On SQLite the write transaction itself
/// keeps everybody else out. The clock is read after the locks (spec 05, Time).
class FenceGuard final : public db::Guard {
 public:
  std::vector<bool> Check(db::Transaction& tx, std::span<const base::Fence> fences) override;
};

}  // namespace tenure::leases
