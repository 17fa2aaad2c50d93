#pragma once

#include <cstdint>

#include "db/operation.hpp"

namespace tenure::inbox {

struct TidyRequest {
  std::int64_t retention_ms = 0;  ///< how long an entry is kept after its last change
};
struct TidyReply {
  std::int64_t rows = 0;  ///< entries that were removed
  bool has_more = false;
};

/// One bounded batch of forgetting. This is the inbox's horizon: a message that is delivered again
/// after its entry was removed is processed again.
///
/// Why no fence repeats: an entry is removed only when no claim of it is live, under its row lock,
/// and its fence goes into the tenant's floor in the same transaction. A delivery that comes
/// meanwhile finds the row locked and is told to come back; one that comes after COMMIT makes a new
/// row and starts above the floor, which it reads in a later statement than the one that found the
/// row gone. So a worker that was paused for longer than the retention holds a fence that no later
/// claim of the message ever has.
class TidyHandler final : public db::TypedHandler<TidyRequest, TidyReply> {
 public:
  std::string_view name() const override { return "inbox.tidy"; }

 protected:
  void WriteItems(db::Transaction& tx, Items items) override;
};

}  // namespace tenure::inbox
