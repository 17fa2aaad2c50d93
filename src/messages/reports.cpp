#include "messages/reports.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "db/submit.hpp"

namespace tenure::messages {
namespace {

bool ChangedSomething(const ReportResult& result) {
  return std::ranges::find(result.reply.outcomes, ReportOutcome::kDone) !=
         result.reply.outcomes.end();
}

/// The fault of the second transaction, as one of both.
base::Fault FaultAfter(const ReportResult& first, const base::Fault& fault) {
  if (!ChangedSomething(first)) return fault;
  return {base::FaultKind::kOutcomeUnknown,
          std::string("some of the messages are done; of the others: ") + fault.what()};
}

/// Puts what was found out the second time into the places that were left open.
void Complete(ReportResult& first, ReportResult second) {
  auto next = second.reply.outcomes.begin();
  for (ReportOutcome& outcome : first.reply.outcomes)
    if (outcome == ReportOutcome::kPassedOver) outcome = *next++;
  std::ranges::move(second.finished, std::back_inserter(first.finished));
  first.now_ms = second.now_ms;
}

}  // namespace

Reports::Reports(db::Store& store, std::size_t lane, Directory& directory, std::string_view process,
                 wake::Registry& wake, Probe& probe)
    : store_(store),
      lane_(lane),
      ack_("messages.ack", Locked::kPassOver, directory, probe),
      ack_locked_("messages.ack_locked", Locked::kAwait, directory, probe),
      report_("messages.report", Locked::kPassOver, process, wake, probe),
      report_locked_("messages.report_locked", Locked::kAwait, process, wake, probe) {}

void Reports::Submit(ReportRequest request, base::Caller caller, Callback done) {
  auto then = [this, caller, done = std::move(done)](db::Result<ReportResult> result) mutable {
    if (!result.ok() || result.value().passed_over.reports.empty()) return done(std::move(result));
    AskAgain(std::move(result.value()), std::move(caller), std::move(done));
  };
  SubmitTo(store_.WriteLane(lane_), Locked::kPassOver, std::move(request), std::move(caller),
           std::move(then));
}

void Reports::AskAgain(ReportResult first, base::Caller caller, Callback done) {
  ReportRequest again = std::exchange(first.passed_over, {});
  auto then = [first = std::move(first),
               done = std::move(done)](db::Result<ReportResult> second) mutable {
    if (!second.ok()) return done(FaultAfter(first, second.fault()));
    Complete(first, std::move(second.value()));
    done(std::move(first));
  };
  SubmitTo(store_.KeyLane(), Locked::kAwait, std::move(again), std::move(caller), std::move(then));
}

void Reports::SubmitTo(db::Lane& lane, Locked locked, ReportRequest request, base::Caller caller,
                       Callback done) {
  const std::size_t hash =
      request.reports.empty() ? 0 : std::hash<base::Uuid>()(request.reports.front().id);
  const bool waits = locked == Locked::kAwait;
  if (request.verdict == Verdict::kDone)
    db::SubmitTo(lane, waits ? ack_locked_ : ack_, std::move(caller), hash, std::move(request),
                 std::move(done));
  else
    db::SubmitTo(lane, waits ? report_locked_ : report_, std::move(caller), hash,
                 std::move(request), std::move(done));
}

}  // namespace tenure::messages
