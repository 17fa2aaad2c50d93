#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "db/transaction.hpp"
#include "messages/change.hpp"
#include "messages/message.hpp"

namespace tenure::messages {

/// What the store says of a message that is not in the hands of whoever reports.
struct Fate {
  std::int64_t fence = 0;
  std::int64_t lease_until_ms = 0;  ///< -1: it is dead
  DeathReason reason = DeathReason::kFailed;

  ReportOutcome For(std::int64_t claim_fence) const;
};
using Fates = std::map<MessageRef, Fate>;

/// Those that are neither to be done nor dead are not in the result.
Fates LoadFates(db::Transaction& tx, const std::set<MessageRef>& wanted);

/// What its former holder is told.
ReportOutcome OutcomeFor(const Fates& fates, const MessageRef& message, std::int64_t claim_fence);

}  // namespace tenure::messages
