#include "messages/fates.hpp"

#include "messages_sql/queries.hpp"

namespace tenure::messages {

ReportOutcome Fate::For(std::int64_t claim_fence) const {
  // Its own report may have been what buried it; a crash was counted against its will.
  const bool by_itself =
      lease_until_ms < 0 && fence == claim_fence && reason != DeathReason::kCrashes;
  return by_itself ? ReportOutcome::kGone : ReportOutcome::kStale;
}

Fates LoadFates(db::Transaction& tx, const std::set<MessageRef>& wanted) {
  const MessageColumns columns(wanted);
  Fates fates;
  for (const auto row : tx.Run(sql::kLoadFates, columns.ids, columns.tenants))
    // One that lives comes first, whatever the dead letters remember of it.
    fates.try_emplace(columns.At(row.ordinal()),
                      Fate{row.Int(0), row.Int(1), static_cast<DeathReason>(row.Int(2))});
  return fates;
}

ReportOutcome OutcomeFor(const Fates& fates, const MessageRef& message, std::int64_t claim_fence) {
  const auto found = fates.find(message);
  return found == fates.end() ? ReportOutcome::kGone : found->second.For(claim_fence);
}

}  // namespace tenure::messages
