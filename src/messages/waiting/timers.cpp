#include "messages/waiting/timers.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "db/keys.hpp"
#include "messages/settle/locked_messages.hpp"
#include "messages_sql/queries.hpp"

namespace tenure::messages {
namespace {

constexpr std::int64_t kPromoteBatch = 1'000;

constexpr std::int64_t kEver = std::numeric_limits<std::int64_t>::min();

std::optional<std::int64_t> NextDue(db::Transaction& tx, std::int64_t after_ms) {
  std::optional<std::int64_t> due_ms;
  for (const auto row : tx.Run(sql::kNextDue, after_ms)) due_ms = row.Int(0);
  return due_ms;
}

}  // namespace

void PromoteHandler::ReadItems(db::Transaction& tx, Items items) {
  const auto clock = tx.QueueClock();
  const auto next_due_ms = NextDue(tx, kEver);
  const std::int64_t now_ms = tx.TakeClock(clock);
  if (next_due_ms && *next_due_ms <= now_ms) return;
  PromoteReply nothing;
  nothing.now_ms = now_ms;
  nothing.next_due_ms = next_due_ms;
  for (auto* item : items) item->reply = nothing;
}

Notifications PromoteHandler::WriteItems(db::Transaction& tx, Items items) {
  PromoteReply reply;
  Notifications notifications;
  reply.now_ms = tx.TakeClock(tx.QueueClock());
  for (const auto row : tx.Run(sql::kPromoteMessages, reply.now_ms, kPromoteBatch)) {
    ++reply.rows;
    reply.late_ms = std::max(reply.late_ms, reply.now_ms - row.Int(2));
    notifications.Add(row.Text(0), row.Text(1), row.Int(2), reply.now_ms);
  }
  reply.has_more = reply.rows == kPromoteBatch;
  const auto first_due_ms = NextDue(tx, kEver);
  reply.has_locked = !reply.has_more && first_due_ms && *first_due_ms <= reply.now_ms;
  reply.next_due_ms = reply.has_locked ? NextDue(tx, reply.now_ms) : first_due_ms;
  notifications.Tell(tx, process_, reply.now_ms);
  for (auto* item : items) item->reply = PromoteReply{0, false, reply.now_ms, reply.next_due_ms};
  items.front()->reply = reply;
  return notifications;
}

void PromoteHandler::DoneItems(Items items, const Notifications& notifications) {
  notifications.Signal(wake_);
  for (const auto* item : items) probe_.Promoted(item->reply->rows, item->reply->late_ms);
}

void CancelHandler::WriteItems(db::Transaction& tx, Items items) {
  const auto messages = db::KeysOf(items, [](const CancelRequest& cancel) {
    return MessageRef{cancel.id, cancel.tenant};
  });
  const auto columns = db::Columns(messages, kMessageRefColumns);
  std::map<MessageRef, CancelOutcome> outcomes;
  for (const auto row : tx.Run(sql::kCancelTimers, columns))
    outcomes[messages[row.ordinal()]] = CancelOutcome::kCancelled;
  for (const auto row : tx.Run(sql::kLoadWhereabouts, columns))
    outcomes[messages[row.ordinal()]] = CancelOutcome::kFired;
  for (auto* item : items) {
    const auto found = outcomes.find({item->request.id, item->request.tenant});
    item->reply = CancelReply{found == outcomes.end() ? CancelOutcome::kUnknown : found->second};
    if (item->reply->outcome == CancelOutcome::kCancelled)
      item->Did({item->request.id.ToString(), "{}"});
  }
}

}  // namespace tenure::messages
