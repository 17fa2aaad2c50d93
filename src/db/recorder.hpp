#pragma once

#include <span>
#include <vector>

#include "base/caller.hpp"
#include "db/operation.hpp"
#include "db/transaction.hpp"

namespace tenure::db {

/// What was done, and who answers for it. Views an operation.
struct Act {
  const base::Actor* actor = nullptr;
  const AuditEvent* event = nullptr;
};

/// Puts acts on record inside the transaction that carries them out. audit/ has the real one. Used
/// by several lanes at once: it keeps no state of a batch.
///
/// 1. There is no act without its row and no row without its act, whatever crashes: both are of one
///    transaction. A batch that is run again starts without audit events (Operation::Reset).
/// 2. What cannot be put on record does not happen: the fault is the transaction's.
/// 3. The lane asks it last, when the handler has all its locks; it takes none that anybody waits
///    for. A batch without audit events never gets here.
class Recorder {
 public:
  virtual ~Recorder() = default;

  /// Queues the rows of all acts of a batch.
  virtual void Record(Transaction& tx, std::span<const Act> acts) = 0;
  /// After COMMIT: the place to count. Must not throw.
  virtual void Recorded(std::span<const Act> acts) = 0;
};

/// What the handler of a batch said that was done. Nearly always nothing, and then it is one look
/// at each operation.
inline std::vector<Act> ActsOf(std::span<Operation* const> operations) {
  std::vector<Act> acts;
  for (const Operation* operation : operations)
    if (operation->audit_event()) acts.push_back({operation->actor(), operation->audit_event()});
  return acts;
}

}  // namespace tenure::db
