#include "messages/report.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "messages/change.hpp"
#include "messages/fates.hpp"
#include "messages_sql/queries.hpp"

namespace tenure::messages {
namespace {

MessageRef RefOf(const ReportRequest& request, const Report& report) {
  return {report.id, request.tenant};
}

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
  if (locked_ == Locked::kAwait) AwaitMessages(tx, wanted);
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
      const ReportOutcome outcome =
          found != held.end() ? judge.Decide(item->request, report, found->second)
                              : OutcomeFor(fates, RefOf(item->request, report), report.fence);
      AddOutcome(outcome, locked_, item->request, report, result);
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
