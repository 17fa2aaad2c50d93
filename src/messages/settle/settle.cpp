#include "messages/settle/settle.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.hpp"
#include "messages/settle/locked_messages.hpp"
#include "messages_sql/queries.hpp"

namespace tenure::messages {
namespace {

MessageRef RefOf(const SettleRequest& request, const Settlement& settlement) {
  return {settlement.id, request.tenant};
}

/// Decides one settlement on the message as it is now, and notes the change. A second one on the same
/// message of this batch sees what the first one made of it.
class Judge {
 public:
  Judge(std::int64_t now_ms, Changes& changes) : now_ms_(now_ms), changes_(changes) {}

  SettleOutcome Decide(const SettleRequest& request, const Settlement& settlement, Held& message) {
    if (message.IsHeldUnder(settlement.fence)) {
      CarryOut(request, settlement, message);
      return SettleOutcome::kDone;
    }
    return message.is_buried && message.fence == settlement.fence ? SettleOutcome::kGone
                                                                  : SettleOutcome::kStale;
  }

  void Apply(db::Transaction& tx) {
    for (const auto& [id, until_ms] : extended_) changes_.Extend(id, until_ms);
    changes_.Apply(tx, now_ms_);
  }

 private:
  void CarryOut(const SettleRequest& request, const Settlement& settlement, Held& message) {
    switch (request.disposition) {
      case Disposition::kExtend: {
        const std::int64_t lease_ms = request.lease_ms.value_or(message.topic.settings.lease_ms);
        // A shorter lease would end before the reaper looks.
        message.lease_until_ms = std::max(message.lease_until_ms, now_ms_ + lease_ms);
        extended_[settlement.id] = message.lease_until_ms;
        return;
      }
      case Disposition::kUntouched:
        return PutBack(settlement, message, now_ms_, "");
      case Disposition::kDead:
        return Bury(settlement, message, DeathReason::kFailed);
      case Disposition::kRetry:
      case Disposition::kDone:
        break;
    }
    ++message.attempts;
    if (const auto reason = AfterFailure(message.topic.settings, message.attempts))
      return Bury(settlement, message, *reason);
    const std::int64_t wait_ms = settlement.retry_after_ms.value_or(
        BackoffMs(message.topic.settings, message.attempts, settlement.id));
    PutBack(settlement, message, now_ms_ + wait_ms, settlement.error);
  }

  void PutBack(const Settlement& settlement, Held& message, std::int64_t due_ms,
               std::string error) {
    extended_.erase(settlement.id);
    message.lease_until_ms = 0;
    changes_.PutBack(settlement.id, message, due_ms, std::move(error));
  }
  void Bury(const Settlement& settlement, Held& message, DeathReason reason) {
    extended_.erase(settlement.id);
    message.lease_until_ms = 0;
    message.is_buried = true;
    changes_.Bury(settlement.id, message, reason, settlement.error);
  }

  const std::int64_t now_ms_;
  Changes& changes_;
  std::map<base::Uuid, std::int64_t> extended_;  // the last word of several extensions
};

}  // namespace

void AddOutcome(SettleOutcome outcome, Locked locked, const SettleRequest& request,
                const Settlement& settlement, SettleResult& result) {
  result.reply.outcomes.push_back(outcome);
  if (outcome != SettleOutcome::kPassedOver) return;
  if (locked == Locked::kAwait)
    throw base::Fault(base::FaultKind::kContended, "another transaction has the message locked");
  SettleRequest& again = result.passed_over;
  again.tenant = request.tenant;
  again.disposition = request.disposition;
  again.lease_ms = request.lease_ms;
  again.settlements.push_back(settlement);
}

Notifications SettleHandler::WriteItems(db::Transaction& tx, Items items) {
  std::vector<MessageRef> named;
  for (const auto* item : items)
    for (const Settlement& settlement : item->request.settlements)
      named.push_back(RefOf(item->request, settlement));
  const MessageRefs wanted(std::move(named));
  if (locked_ == Locked::kAwait) AwaitMessages(tx, wanted);
  auto held = LockMessages(tx, wanted);
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  const WhereaboutsOf whereabouts = LoadWhereabouts(tx, MissingIn(held, wanted));

  Changes changes(process_, followers_);
  Judge judge(now_ms, changes);
  for (auto* item : items) {
    SettleResult& result = item->reply.emplace();
    result.now_ms = now_ms;
    for (const Settlement& settlement : item->request.settlements) {
      const MessageRef ref = RefOf(item->request, settlement);
      const auto found = held.find(ref);
      const auto elsewhere = whereabouts.find(ref);
      if (found != held.end())
        LookForEvidence(evidence_, ref, settlement.fence, found->second.fence);
      else if (elsewhere != whereabouts.end())
        LookForEvidence(evidence_, ref, settlement.fence, elsewhere->second.fence);
      const SettleOutcome outcome = found != held.end()
                                        ? judge.Decide(item->request, settlement, found->second)
                                        : OutcomeFor(whereabouts, ref, settlement.fence);
      AddOutcome(outcome, locked_, item->request, settlement, result);
      if (outcome != SettleOutcome::kDone || item->request.disposition == Disposition::kExtend)
        continue;
      const Held& left = found->second;
      result.finished.push_back(
          {left.topic_name, left.claimed_ms, left.enqueued_ms, left.attempts, left.trace});
    }
  }
  judge.Apply(tx);
  return changes.notifications();
}

void SettleHandler::DoneItems(Items items, const Notifications& notifications) {
  notifications.Signal(wake_);
  for (const auto* item : items) probe_.Settled(item->request, item->reply->reply);
}

}  // namespace tenure::messages
