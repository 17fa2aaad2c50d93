#include "messages/settle/locked_messages.hpp"

#include "messages_sql/queries.hpp"

namespace tenure::messages {

std::map<MessageRef, Held> LockMessages(db::Transaction& tx, const MessageRefs& wanted) {
  std::map<MessageRef, Held> held;
  for (const auto row : tx.Run(sql::kLockMessages, db::Columns(wanted, kMessageRefColumns))) {
    Held& message = held[wanted[row.ordinal()]];
    db::ReadInto(message, row, 0, &Held::fence, &Held::lease_until_ms, &Held::worker, &Held::line,
                 &Held::attempts, &Held::crashes, &Held::claimed_ms, &Held::enqueued_ms,
                 &Held::trace, &Held::tenant, &Held::topic_name);
    message.topic = ReadTopic(row, 11);
    message.is_followed = row.Int(23) != 0;
  }
  return held;
}

MessageRefs MissingIn(const std::map<MessageRef, Held>& held, const MessageRefs& wanted) {
  std::vector<MessageRef> missing;
  for (const MessageRef& each : wanted)
    if (!held.contains(each)) missing.push_back(each);
  return MessageRefs(std::move(missing));
}

void AwaitMessages(db::Transaction& tx, const MessageRefs& wanted) {
  tx.Queue(sql::kAwaitMessages, db::Columns(wanted, kMessageRefColumns));
}

SettleOutcome Whereabouts::For(std::int64_t claim_fence) const {
  if (lease_until_ms > 0 && fence == claim_fence) return SettleOutcome::kPassedOver;
  // Its own settlement may have been what buried it; a crash was counted against its will.
  const bool by_itself =
      lease_until_ms < 0 && fence == claim_fence && reason != DeathReason::kCrashes;
  return by_itself ? SettleOutcome::kGone : SettleOutcome::kStale;
}

WhereaboutsOf LoadWhereabouts(db::Transaction& tx, const MessageRefs& wanted) {
  WhereaboutsOf whereabouts;
  for (const auto row : tx.Run(sql::kLoadWhereabouts, db::Columns(wanted, kMessageRefColumns)))
    // One that lives comes first, whatever the dead letters remember of it.
    whereabouts.try_emplace(
        wanted[row.ordinal()],
        db::ReadAs<Whereabouts>(row, &Whereabouts::fence, &Whereabouts::lease_until_ms,
                                &Whereabouts::reason));
  return whereabouts;
}

SettleOutcome OutcomeFor(const WhereaboutsOf& whereabouts, const MessageRef& message,
                         std::int64_t claim_fence) {
  const auto found = whereabouts.find(message);
  return found == whereabouts.end() ? SettleOutcome::kGone : found->second.For(claim_fence);
}

void LookForEvidence(db::ForgottenEvidence& evidence, const MessageRef& message,
                     std::int64_t claim_fence, std::int64_t fence) {
  if (claim_fence > fence) evidence.Look("message " + message.first.ToString(), claim_fence, fence);
}

void Changes::PutBack(const base::Uuid& id, const Held& message, std::int64_t due_ms,
                      std::string error) {
  back_.push_back({id, &message, due_ms, std::move(error)});
}

void Changes::Bury(const base::Uuid& id, const Held& message, DeathReason reason,
                   std::string error) {
  buried_.push_back({id, &message, reason, std::move(error)});
}

void Changes::Extend(const base::Uuid& id, std::int64_t lease_until_ms) {
  extended_.push_back({id, lease_until_ms});
}

void Changes::Apply(db::Transaction& tx, std::int64_t now_ms) {
  for (const Back& back : back_)
    notifications_.Add(back.message->tenant, back.message->topic_name, back.due_ms, now_ms);
  const auto line = [](const Back& back) {
    return LineOf(PriorityOf(back.message->line), back.message->crashes);
  };
  tx.Queue(sql::kPutBack,
           db::Columns(back_, &Back::id, line, &Back::due_ms,
                       db::Inside(&Back::message, &Held::attempts, &Held::crashes), &Back::error),
           now_ms);
  tx.Queue(sql::kBuryMessages,
           db::Columns(
               buried_, &Buried::id, db::Inside(&Buried::message, &Held::tenant), &Buried::reason,
               db::Inside(&Buried::message, &Held::attempts, &Held::crashes), &Buried::error),
           now_ms);
  tx.Queue(sql::kExtendMessages, db::Columns(extended_, &Extended::id, &Extended::lease_until_ms));
  std::vector<ReturnedMessage> returned;
  for (const Back& each : back_)
    if (each.message->is_followed && each.message->attempts + each.message->crashes > 0)
      returned.push_back({each.id, each.message->claimed_ms});
  followers_.Returned(tx, returned);
  std::vector<EndedMessage> ended;
  for (const Buried& each : buried_)
    if (each.message->is_followed)
      ended.push_back({.id = each.id,
                       .dead = true,
                       .claimed_ms = each.message->claimed_ms,
                       .worker = each.message->worker,
                       .attempts = each.message->attempts,
                       .crashes = each.message->crashes,
                       .error = each.error});
  followers_.Ended(tx, ended, now_ms, notifications_);
  notifications_.Tell(tx, process_, now_ms);
}

}  // namespace tenure::messages
