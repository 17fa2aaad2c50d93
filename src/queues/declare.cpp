#include "queues/declare.hpp"

#include "base/json_writer.hpp"
#include "queues/columns.hpp"
#include "queues_sql/queries.hpp"

namespace tenure::queues {
namespace {

std::optional<QueueRow> LoadQueue(db::Transaction& tx, const std::string& tenant,
                                  const std::string& name) {
  const std::vector<std::string> tenants{tenant}, names{name};
  const db::Rows rows = tx.Run(sql::kLoadQueues, tenants, names);
  if (rows.empty()) return std::nullopt;
  return ReadQueue(rows[0]);
}

}  // namespace

Change ChangeOf(const QueueRow* old, const Wish& wish) {
  if (!old) {
    Change made{{.key_rule = wish.key_rule, .settings = wish.settings}, Changed::kMade};
    return made;
  }
  Change change{*old, Changed::kNothing};
  if (wish.is_removed) {
    if (old->state == QueueState::kActive) {
      change.row.state = QueueState::kDraining;
      change.what = Changed::kDraining;
    }
    return change;
  }
  if (old->settings != wish.settings) change.what = Changed::kSettings;
  if (old->state != QueueState::kActive) change.what = Changed::kResumed;
  change.row.state = QueueState::kActive;
  change.row.settings = wish.settings;
  change.row.key_rule = wish.key_rule;
  if (old->settings.scope != wish.settings.scope || old->key_rule != wish.key_rule) {
    ++change.row.generation;
    change.what = Changed::kGeneration;
  }
  return change;
}

DeclareReply Declare(db::Transaction& tx, const DeclareRequest& request) {
  tx.Queue(sql::kLockBots);
  const auto old = LoadQueue(tx, request.tenant, request.name);
  if (!old && request.wish.is_removed) return {};
  Change change = ChangeOf(old ? &*old : nullptr, request.wish);
  if (change.what == Changed::kNothing) return {std::move(change.row), change.what};
  const QueueRow& row = change.row;
  const QueueSettings& set = row.settings;
  const auto number = [](auto value) { return static_cast<std::int64_t>(value); };
  tx.Queue(sql::kPutQueue, std::string_view(request.tenant), std::string_view(request.name),
           number(row.state), row.generation, row.oldest, std::string_view(row.key_rule),
           number(set.scope), set.max_concurrent_sessions, set.session_timeout_ms,
           set.idle_timeout_ms, set.max_duration_ms, set.max_messages, set.max_delivery_count,
           set.backoff_ms, set.backoff_max_ms, number(set.on_dead_letter), set.ttl_ms,
           set.depth_threshold, set.max_bytes, set.dedup_ms, set.history_ms);
  tx.Queue(sql::kOpenGate, std::string_view(request.tenant), std::string_view(request.name));
  return {LoadQueue(tx, request.tenant, request.name), change.what};
}

messages::Notifications DeclareHandler::WriteItems(db::Transaction& tx, Items items) {
  messages::Notifications notifications;
  for (auto* item : items) {
    item->reply = Declare(tx, item->request);
    if (item->reply->changed != Changed::kNothing)
      item->Did({item->request.name,
                 R"({"generation":)" + std::to_string(item->reply->queue->generation) + "}"});
    notifications.Add(item->request.tenant, QueueTopic(item->request.name), 0, 0);
  }
  notifications.Tell(tx, process_, tx.TakeClock(tx.QueueClock()));
  return notifications;
}

messages::Notifications PauseHandler::WriteItems(db::Transaction& tx, Items items) {
  messages::Notifications notifications;
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  for (auto* item : items) {
    const PauseRequest& request = item->request;
    PauseReply reply{LoadQueue(tx, request.tenant, request.name)};
    if (reply.queue && reply.queue->paused() != request.paused) {
      reply.queue->paused_ms = request.paused ? now_ms : 0;
      reply.queue->paused_reason = request.paused ? request.reason : "";
      tx.Queue(sql::kPauseQueue, reply.queue->id, reply.queue->paused_ms,
               std::string_view(reply.queue->paused_reason));
      std::string detail;
      base::JsonWriter(detail)
          .BeginObject()
          .Field("paused", request.paused)
          .Field("reason", std::string_view(request.reason))
          .EndObject();
      item->Did({request.name, std::move(detail)});
      if (!request.paused)
        notifications.Add(request.tenant, QueueTopic(request.name), now_ms, now_ms);
    }
    item->reply = std::move(reply);
  }
  notifications.Tell(tx, process_, now_ms);
  return notifications;
}

}  // namespace tenure::queues
