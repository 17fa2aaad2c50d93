#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "db/transaction.hpp"
#include "messages/change.hpp"
#include "messages/message.hpp"
#include "messages/report.hpp"

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

/// What whoever reports is told of a message that was not to be had: it is not there, it is in
/// other hands, or it is in these and was passed over, because some transaction has it locked.
ReportOutcome OutcomeFor(const Fates& fates, const MessageRef& message, std::int64_t claim_fence);

/// Adds to an answer; what was passed over is noted, to be asked again. Whoever waited for the lock
/// has it: one who is passed over all the same named a fence that was given out meanwhile
/// (kContended).
void AddOutcome(ReportOutcome outcome, Locked locked, const ReportRequest& request,
                const Report& report, ReportResult& result);

/// For those who wait: all that they ask for is locked by this transaction, or not there.
void AwaitMessages(db::Transaction& tx, const std::set<MessageRef>& wanted);

}  // namespace tenure::messages
