#include "webhooks/apply.hpp"

#include <algorithm>
#include <map>

#include "base/json_writer.hpp"
#include "messages/topics/change_topic.hpp"
#include "queues/declare.hpp"
#include "webhooks/event_columns.hpp"
#include "webhooks_sql/queries.hpp"

namespace tenure::webhooks {
namespace {

/// Older revisions are for looking at.
constexpr std::int64_t kKeptRevisions = 100;

/// A source's name is the store's: the address of a webhook has no tenant.
std::string TakenSource(const Snapshot& snapshot, const bots::File& file) {
  for (const bots::Source& source : file.sources) {
    const Snapshot::Door door = snapshot.FindSource(source.name);
    if (door.source && door.bots->tenant != file.tenant) return source.name;
  }
  return {};
}

ApplyReply Judge(const Snapshot& snapshot, const ApplyRequest& request) {
  ApplyReply reply;
  const TenantBots* const before = snapshot.OfTenant(request.file.tenant);
  reply.revision = before ? before->revision : 0;
  if (request.revision && *request.revision != reply.revision) {
    reply.kind = ApplyReply::Kind::kMoved;
    return reply;
  }
  reply.name = TakenSource(snapshot, request.file);
  if (!reply.name.empty()) {
    reply.kind = ApplyReply::Kind::kSourceTaken;
    return reply;
  }
  reply.changes = bots::Compare(before ? before->file : bots::File{}, request.file);
  return reply;
}

std::string DetailOf(const ApplyReply& reply) {
  std::string out;
  base::JsonWriter json(out);
  json.BeginObject().Field("revision", reply.revision).Key("changes").BeginArray();
  for (const bots::Change& change : reply.changes)
    json.BeginObject().Field("what", ToText(change.what)).Field("name", change.name).EndObject();
  json.EndArray().EndObject();
  return out;
}

queues::QueueSettings SettingsOf(const bots::Bot& bot) {
  const bots::Limits& limits = bot.limits;
  constexpr std::int64_t kMegabyte = 1 << 20;
  return {.scope = static_cast<queues::Scope>(bot.routing.scope),
          .max_concurrent_sessions = limits.max_concurrent_sessions,
          .session_timeout_ms = limits.session_timeout_ms,
          .idle_timeout_ms = limits.session_idle_timeout_ms,
          .max_duration_ms = limits.session_max_duration_ms,
          .max_messages = limits.session_max_messages,
          .max_delivery_count = limits.max_delivery_count,
          .backoff_ms = limits.retry_backoff_ms,
          .backoff_max_ms = limits.retry_backoff_max_ms,
          .on_dead_letter = static_cast<queues::DeadLetterPolicy>(limits.on_dead_letter),
          .ttl_ms = limits.default_message_ttl_ms,
          .depth_threshold = limits.queue_depth_threshold,
          .max_bytes = limits.max_size_in_megabytes * kMegabyte,
          .dedup_ms = limits.duplicate_detection_window_ms,
          .history_ms = limits.history_ms};
}

/// The topics of bots without order are opened here, so that no webhook waits for a topic's row.
void DeclareTopics(db::Transaction& tx, const bots::File& file,
                   const std::vector<bots::Change>& changes, std::int64_t now_ms) {
  std::map<std::string, const bots::Bot*> topics;  // in ascending order, as they are locked
  for (const bots::Bot& bot : file.bots)
    if (bot.routing.scope == rules::Scope::kNone &&
        std::ranges::find(changes, bot.name, &bots::Change::name) != changes.end())
      topics.emplace(TopicOf(bot.name), &bot);
  for (const auto& [name, bot] : topics) {
    const std::int64_t budget = bot->limits.max_delivery_count;
    messages::TopicChange change;
    change.tenant = file.tenant;
    change.name = name;
    change.max_attempts = budget;
    change.max_crashes = budget;
    change.backoff_ms = bot->limits.retry_backoff_ms;
    change.backoff_max_ms = bot->limits.retry_backoff_max_ms;
    change.dedup_ms = bot->limits.duplicate_detection_window_ms;
    messages::ChangeTopic(tx, change, now_ms);
  }
}

/// What the queues of the file's bots are from now on; those of bots that are gone drain.
messages::Notifications Declare(db::Transaction& tx, const bots::File& file,
                                const std::vector<bots::Change>& changes) {
  messages::Notifications notifications;
  const auto declare = [&](queues::DeclareRequest request) {
    queues::Declare(tx, request);
    notifications.Add(request.tenant, queues::QueueTopic(request.name), 0, 0);
  };
  for (const bots::Bot& bot : file.bots)
    declare({.tenant = file.tenant,
             .name = bot.name,
             .wish = {.settings = SettingsOf(bot), .key_rule = bots::KeyRuleOf(bot.routing)}});
  for (const bots::Change& change : changes)
    if (change.what == bots::Change::What::kBotRemoved)
      declare({.tenant = file.tenant, .name = change.name, .wish = {.is_removed = true}});
  return notifications;
}

}  // namespace

/// One at a time: the next one compares with what this one made.
messages::Notifications ApplyHandler::WriteItems(db::Transaction& tx, Items items) {
  auto& item = *items.front();
  messages::Notifications notifications;
  const ApplyRequest& request = item.request;
  tx.Run(sql::kLockBots);
  const SnapshotPtr snapshot = LoadSnapshot(tx);
  const std::int64_t highest = tx.Run(sql::kReadRevision)[0].Int(0);
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  ApplyReply reply = Judge(*snapshot, request);
  reply.kept = request.only_first && snapshot->OfTenant(request.file.tenant);
  const bool changes =
      reply.kind == ApplyReply::Kind::kDone && (!reply.changes.empty() || reply.revision == 0);
  if (changes && !request.dry_run && !reply.kept) {
    reply.revision = highest + 1;
    tx.Queue(sql::kAddBots, reply.revision, std::string_view(request.file.tenant),
             std::string_view(request.content), now_ms, std::string_view(request.person));
    tx.Queue(sql::kForgetBots, std::string_view(request.file.tenant), kKeptRevisions);
    DeclareTopics(tx, request.file, reply.changes, now_ms);
    notifications = Declare(tx, request.file, reply.changes);
    notifications.Tell(tx, process_, now_ms);
    item.Did({"bots", DetailOf(reply)});
  }
  item.reply = std::move(reply);
  return notifications;
}

}  // namespace tenure::webhooks
