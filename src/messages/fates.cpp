#include "messages/fates.hpp"

#include "base/error.hpp"
#include "messages_sql/queries.hpp"

namespace tenure::messages {

ReportOutcome Fate::For(std::int64_t claim_fence) const {
  if (lease_until_ms > 0 && fence == claim_fence) return ReportOutcome::kPassedOver;
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

void AddOutcome(ReportOutcome outcome, Locked locked, const ReportRequest& request,
                const Report& report, ReportResult& result) {
  result.reply.outcomes.push_back(outcome);
  if (outcome != ReportOutcome::kPassedOver) return;
  if (locked == Locked::kAwait)
    throw base::Fault(base::FaultKind::kContended, "another transaction has the message locked");
  ReportRequest& again = result.passed_over;
  again.tenant = request.tenant;
  again.verdict = request.verdict;
  again.lease_ms = request.lease_ms;
  again.reports.push_back(report);
}

void AwaitMessages(db::Transaction& tx, const std::set<MessageRef>& wanted) {
  const MessageColumns columns(wanted);
  tx.Queue(sql::kAwaitMessages, columns.ids, columns.tenants);
}

}  // namespace tenure::messages
