#include "messages/report.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "messages/change.hpp"
#include "messages_sql/queries.hpp"

namespace tenure::messages {
namespace {

/// What the store says of a message that is not in the hands of whoever reports.
struct Fate {
  std::int64_t fence = 0;
  std::int64_t lease_until_ms = 0;  // -1: it is dead
  DeathReason reason = DeathReason::kFailed;

  ReportOutcome For(std::int64_t claim_fence) const {
    if (lease_until_ms > 0 && fence == claim_fence) return ReportOutcome::kPassedOver;
    // Its own report may have been what buried it; a crash was counted against its will.
    const bool by_itself =
        lease_until_ms < 0 && fence == claim_fence && reason != DeathReason::kCrashes;
    return by_itself ? ReportOutcome::kGone : ReportOutcome::kStale;
  }
};

using Fates = std::map<MessageRef, Fate>;

Fates LoadFates(db::Transaction& tx, const std::set<MessageRef>& wanted) {
  const MessageColumns columns(wanted);
  Fates fates;
  for (const auto row : tx.Run(sql::kLoadFates, columns.ids, columns.tenants))
    // One that lives comes first, whatever the dead letters remember of it.
    fates.try_emplace(columns.At(row.ordinal()),
                      Fate{row.Int(0), row.Int(1), static_cast<DeathReason>(row.Int(2))});
  return fates;
}

MessageRef RefOf(const ReportRequest& request, const Report& report) {
  return {report.id, request.tenant};
}

/// Of one that was not to be had: it is not there, it is in other hands, or it is in these and was
/// passed over, because some transaction has it locked.
ReportOutcome OutcomeFor(const Fates& fates, const ReportRequest& request, const Report& report) {
  const auto found = fates.find(RefOf(request, report));
  return found == fates.end() ? ReportOutcome::kGone : found->second.For(report.fence);
}

/// Adds to an answer; what was passed over is noted, to be asked again. Whoever waited for the lock
/// has it: one who is passed over all the same named a fence that was given out meanwhile.
void Add(ReportOutcome outcome, Locked locked, const ReportRequest& request, const Report& report,
         ReportResult& result) {
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

/// For those who wait: all that they ask for is locked by this transaction, or not there.
void Await(db::Transaction& tx, const std::set<MessageRef>& wanted) {
  const MessageColumns columns(wanted);
  tx.Queue(sql::kAwaitMessages, columns.ids, columns.tenants);
}

}  // namespace

void AckHandler::WriteItems(db::Transaction& tx, Items items) {
  // Of one claim's message the first to acknowledge is the one; another one in this batch comes
  // later, and finds nothing.
  struct First {
    const Report* report = nullptr;
    bool done = false;
    Finished finished{};
  };
  std::map<std::pair<MessageRef, std::int64_t>, First> firsts;
  for (const auto* item : items)
    for (const Report& report : item->request.reports)
      firsts.try_emplace({RefOf(item->request, report), report.fence}, First{&report});
  if (locked_ == Locked::kAwait) {
    std::set<MessageRef> wanted;
    for (const auto& [key, first] : firsts) wanted.insert(key.first);
    Await(tx, wanted);
  }
  const auto clock = tx.QueueClock();
  std::vector<base::Uuid> ids;
  std::vector<std::int64_t> fences;
  std::vector<std::string_view> tenants, outputs;
  std::vector<First*> order;
  for (auto& [key, first] : firsts) {
    ids.push_back(key.first.first);
    fences.push_back(key.second);
    tenants.push_back(key.first.second);
    outputs.push_back(first.report->output);
    order.push_back(&first);
  }
  const std::int64_t now_ms = tx.TakeClock(clock);
  for (const auto row : tx.Run(sql::kFinishMessages, ids, fences, tenants, outputs, now_ms)) {
    First& first = *order[row.ordinal()];
    first.done = true;
    first.finished = {std::string(row.Text(0)), row.Int(1), row.Int(2), row.Int(3),
                      std::string(row.Text(4))};
  }
  std::set<MessageRef> missing;
  for (const auto& [key, first] : firsts)
    if (!first.done) missing.insert(key.first);
  const auto fates = LoadFates(tx, missing);
  for (auto* item : items) {
    ReportResult& result = item->reply.emplace();
    result.now_ms = now_ms;
    for (const Report& report : item->request.reports) {
      First& first = firsts.at({RefOf(item->request, report), report.fence});
      const bool is_first = first.report == &report;
      if (first.done && is_first) result.finished.push_back(std::move(first.finished));
      const ReportOutcome outcome = !first.done ? OutcomeFor(fates, item->request, report)
                                    : is_first  ? ReportOutcome::kDone
                                                : ReportOutcome::kGone;
      Add(outcome, locked_, item->request, report, result);
    }
  }
}

void AckHandler::DoneItems(Items items) {
  for (const auto* item : items) {
    probe_.Reported(item->request, item->reply->reply);
    for (const Finished& each : item->reply->finished)
      probe_.Handled(item->reply->now_ms - each.claimed_ms, item->reply->now_ms - each.enqueued_ms);
  }
}

namespace {

/// Decides one report on the message as it is now, and notes the change. A second report on the
/// same message of this batch sees what the first one made of it.
class Judge {
 public:
  Judge(std::int64_t now_ms, Changes& changes) : now_ms_(now_ms), changes_(changes) {}

  ReportOutcome Decide(const ReportRequest& request, const Report& report, Held& message) {
    if (message.IsHeldUnder(report.fence)) {
      CarryOut(request, report, message);
      return ReportOutcome::kDone;
    }
    return message.is_buried && message.fence == report.fence ? ReportOutcome::kGone
                                                              : ReportOutcome::kStale;
  }

  void Apply(db::Transaction& tx) {
    for (const auto& [id, until_ms] : extended_) changes_.Extend(id, until_ms);
    changes_.Apply(tx, now_ms_);
  }

 private:
  void CarryOut(const ReportRequest& request, const Report& report, Held& message) {
    switch (request.verdict) {
      case Verdict::kExtend: {
        const std::int64_t lease_ms = request.lease_ms.value_or(message.topic.settings.lease_ms);
        // A shorter lease would end before the reaper looks.
        message.lease_until_ms = std::max(message.lease_until_ms, now_ms_ + lease_ms);
        extended_[report.id] = message.lease_until_ms;
        return;
      }
      case Verdict::kUntouched:
        return PutBack(report, message, now_ms_, "");
      case Verdict::kDead:
        return Bury(report, message, DeathReason::kFailed);
      case Verdict::kRetry:
      case Verdict::kDone:
        break;
    }
    ++message.attempts;
    if (const auto reason = AfterFailure(message.topic.settings, message.attempts))
      return Bury(report, message, *reason);
    const std::int64_t wait_ms = report.retry_after_ms.value_or(
        BackoffMs(message.topic.settings, message.attempts, report.id));
    PutBack(report, message, now_ms_ + wait_ms, report.error);
  }

  void PutBack(const Report& report, Held& message, std::int64_t due_ms, std::string error) {
    extended_.erase(report.id);
    message.lease_until_ms = 0;
    changes_.PutBack(report.id, message, due_ms, std::move(error));
  }
  void Bury(const Report& report, Held& message, DeathReason reason) {
    extended_.erase(report.id);
    message.lease_until_ms = 0;
    message.is_buried = true;
    changes_.Bury(report.id, message, reason, report.error);
  }

  const std::int64_t now_ms_;
  Changes& changes_;
  std::map<base::Uuid, std::int64_t> extended_;  // the last word of several extensions
};

}  // namespace

void ReportHandler::WriteItems(db::Transaction& tx, Items items) {
  std::set<MessageRef> wanted;
  for (const auto* item : items)
    for (const Report& report : item->request.reports) wanted.insert(RefOf(item->request, report));
  if (locked_ == Locked::kAwait) Await(tx, wanted);
  auto held = LockMessages(tx, MessageColumns(wanted));
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  std::set<MessageRef> missing;
  for (const MessageRef& each : wanted)
    if (!held.contains(each)) missing.insert(each);
  const Fates fates = LoadFates(tx, missing);

  Changes changes(process_);
  Judge judge(now_ms, changes);
  for (auto* item : items) {
    ReportResult& result = item->reply.emplace();
    result.now_ms = now_ms;
    for (const Report& report : item->request.reports) {
      const auto found = held.find(RefOf(item->request, report));
      const ReportOutcome outcome = found != held.end()
                                        ? judge.Decide(item->request, report, found->second)
                                        : OutcomeFor(fates, item->request, report);
      Add(outcome, locked_, item->request, report, result);
      if (outcome != ReportOutcome::kDone || item->request.verdict == Verdict::kExtend) continue;
      const Held& left = found->second;
      result.finished.push_back(
          {left.topic_name, left.claimed_ms, left.enqueued_ms, left.attempts, left.trace});
    }
  }
  judge.Apply(tx);
  items.front()->reply->news = changes.news();
}

void ReportHandler::DoneItems(Items items) {
  for (const auto* item : items) {
    item->reply->news.Signal(wake_);
    probe_.Reported(item->request, item->reply->reply);
  }
}

}  // namespace tenure::messages
