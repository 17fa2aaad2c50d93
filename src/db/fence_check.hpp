#pragma once

#include <span>
#include <vector>

#include "base/caller.hpp"
#include "db/operation.hpp"
#include "db/transaction.hpp"

namespace tenure::db {

/// Tells live fences from stale ones inside a transaction that is about to change something
/// (docs/leases.md). leases/ has the real one. Used by several lanes at once: it
/// keeps no state.
///
/// Order of locks. The lane asks it before the batch's handler takes any lock, so a transaction
/// that waits here holds nothing but other fences. They come in ascending order, and their locks
/// are shared: two guarded transactions never wait for each other here. Whoever changes a fence (a
/// takeover, a break) must not wait for guarded rows: it skips them. So nobody waits for a guarded
/// transaction, and a cycle cannot close.
class FenceCheck {
 public:
  virtual ~FenceCheck() = default;

  /// For each fence whether it is of a live grant, which then cannot be taken over by another
  /// transaction until this one ends. `fences` are ascending, each once.
  virtual std::vector<bool> Check(Transaction& tx, std::span<const base::Fence> fences) = 0;
};

/// An operation that must not be carried out, and the first of its fences that is stale.
struct StaleOperation {
  const Operation* operation = nullptr;
  base::Fence fence{};
};

/// A batch, divided by what the fence check says.
struct Sifted {
  std::vector<Operation*> live;  // in their order; those without fences among them
  std::vector<StaleOperation> stale;
};

/// Asks the fence check about all fences of the operations at once; nothing when there are none.
/// Without one (null) there are no leases, and no fence is live.
Sifted SiftByFences(Transaction& tx, FenceCheck* check, std::span<Operation* const> operations);

}  // namespace tenure::db
