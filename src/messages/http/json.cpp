#include "messages/http/json.hpp"

#include <algorithm>

#include "base/base64.hpp"
#include "base/json_text.hpp"
#include "base/json_writer.hpp"
#include "messages/explain.hpp"

namespace tenure::messages {
namespace {

using base::JsonWriter;

/// Only where there is something to say.
void WriteText(JsonWriter& json, std::string_view field, const std::string& text) {
  if (!text.empty()) json.Field(field, std::string_view(text));
}

/// JSON as the text that came. It was checked then, but somebody may have written it past us: what
/// is no JSON is handed out as the bytes that it is.
void WritePayload(JsonWriter& json, PayloadKind kind, const std::string& payload) {
  if (kind == PayloadKind::kJson && base::IsJson(payload))
    json.Key("payload").Raw(payload);
  else
    json.Field("payload_base64", std::string_view(base::EncodeBase64(payload)));
}

/// What travels with a message.
template <class Message>
void WriteLuggage(JsonWriter& json, const Message& message) {
  WriteText(json, "correlation_id", message.correlation_id);
  if (!message.headers.empty()) json.Key("headers").Raw(base::ObjectOrEmpty(message.headers));
  WriteText(json, "traceparent", message.trace);
}

void WriteDelivery(JsonWriter& json, const ClaimedMessage& message) {
  json.BeginObject()
      .Field("id", message.id)
      .Field("fence", message.fence)
      .Field("topic", std::string_view(message.topic));
  WritePayload(json, message.kind, message.payload);
  json.Field("priority", message.priority)
      .Field("attempt", message.attempts + 1)
      .Field("crashes", message.crashes);
  json.Key("enqueued_at").Time(message.enqueued_ms);
  json.Key("due_at").Time(message.due_ms);
  json.Key("lease_expires_at").Time(message.lease_until_ms);
  WriteLuggage(json, message);
  json.EndObject();
}

void WriteHolder(JsonWriter& json, const MessageView& message) {
  WriteText(json, "owner", message.owner);
  if (message.state != MessageState::kClaimed) return;
  json.Key("claimed_at").Time(message.claimed_ms);
  // Of an owner with a heartbeat: until when its last one lasts.
  json.Key("lease_expires_at")
      .Time(message.worker_until_ms > 0 ? message.worker_until_ms : message.lease_until_ms);
}

void WriteEnd(JsonWriter& json, const MessageView& message) {
  if (message.state == MessageState::kDead) {
    json.Key("died_at").Time(message.ended_ms);
    json.Field("reason", ToText(message.reason.value_or(DeathReason::kFailed)));
  } else if (message.state == MessageState::kDone) {
    json.Key("finished_at").Time(message.ended_ms);
    if (!message.output.empty()) json.Key("output").Stored(message.output);
  }
}

/// REQUIRES: the object is begun.
void WriteMessage(JsonWriter& json, const MessageView& message) {
  json.Field("id", message.id)
      .Field("state", ToText(message.state))
      .Field("why", std::string_view(Why(message)))
      .Field("topic", std::string_view(message.topic));
  // Of a finished one neither is kept.
  if (message.state != MessageState::kDone) {
    json.Field("priority", message.priority);
    WritePayload(json, message.kind, message.payload);
  }
  json.Field("fence", message.fence)
      .Field("attempts", message.attempts)
      .Field("crashes", message.crashes);
  json.Key("enqueued_at").Time(message.enqueued_ms);
  if (message.due_ms > 0) json.Key("due_at").Time(message.due_ms);
  WriteHolder(json, message);
  WriteEnd(json, message);
  WriteText(json, "last_error", message.error);
  WriteLuggage(json, message);
  json.EndObject();
}

void WriteTopic(JsonWriter& json, const TopicView& topic) {
  json.BeginObject()
      .Field("name", std::string_view(topic.name))
      .Field("ready", topic.ready)
      .Field("claimed", topic.claimed)
      .Field("dead", topic.dead);
  json.Key("oldest_at").TimeOrNull(topic.oldest_ms);
  json.Field("oldest_age_ms",
             topic.oldest_ms > 0 ? std::max<std::int64_t>(0, topic.now_ms - topic.oldest_ms) : 0);
  json.Key("asked_at").TimeOrNull(topic.row.asked_ms);
  json.Field("paused", topic.row.paused_ms > 0);
  if (topic.row.paused_ms > 0) {
    json.Key("paused_at").Time(topic.row.paused_ms);
    WriteText(json, "paused_reason", topic.row.paused_reason);
  }
  json.Key("settings").BeginObject();
  for (const TopicSetting& setting : kTopicSettings)
    json.Field(setting.name, topic.row.settings.*setting.value);
  json.EndObject().EndObject();
}

void WriteLetter(JsonWriter& json, const DeadLetter& letter) {
  json.BeginObject()
      .Field("id", letter.id)
      .Field("topic", std::string_view(letter.topic))
      .Field("reason", ToText(letter.reason))
      .Field("attempts", letter.attempts)
      .Field("crashes", letter.crashes)
      .Field("payload_bytes", letter.payload_bytes);
  json.Key("enqueued_at").Time(letter.enqueued_ms);
  json.Key("died_at").Time(letter.died_ms);
  WriteText(json, "last_error", letter.error);
  WriteText(json, "correlation_id", letter.correlation_id);
  json.EndObject();
}

void WriteListed(JsonWriter& json, const ListedMessage& message) {
  json.BeginObject()
      .Field("id", message.place.id)
      .Field("topic", std::string_view(message.topic))
      .Field("state", ToText(message.state()))
      .Field("priority", PriorityOf(message.place.line))
      .Field("fence", message.fence)
      .Field("attempts", message.attempts)
      .Field("crashes", message.crashes)
      .Field("payload_bytes", message.payload_bytes);
  json.Key("enqueued_at").Time(message.enqueued_ms);
  json.Key("due_at").Time(message.place.due_ms);
  WriteText(json, "owner", message.owner);
  if (message.state() == MessageState::kClaimed) {
    json.Key("claimed_at").Time(message.claimed_ms);
    json.Key("lease_expires_at")
        .Time(message.worker_until_ms > 0 ? message.worker_until_ms : message.lease_until_ms);
  }
  WriteText(json, "last_error", message.error);
  WriteText(json, "correlation_id", message.correlation_id);
  json.EndObject();
}

void WriteIds(JsonWriter& json, std::string_view field, const std::vector<base::Uuid>& ids) {
  json.Key(field).BeginArray();
  for (const base::Uuid& id : ids) json.Value(id);
  json.EndArray();
}

bool AllDuplicates(const EnqueueReply& reply) {
  return std::ranges::all_of(reply.messages, &EnqueuedMessage::duplicate);
}

}  // namespace

std::string EnqueuedJson(const EnqueueReply& reply) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject();
  if (!reply.is_list) {
    json.Field("id", reply.messages.front().id);
    if (reply.messages.front().duplicate) json.Field("duplicate", true);
    json.EndObject();
    return out;
  }
  std::vector<base::Uuid> ids, duplicates;
  for (const EnqueuedMessage& each : reply.messages) {
    ids.push_back(each.id);
    if (each.duplicate) duplicates.push_back(each.id);
  }
  WriteIds(json, "ids", ids);
  if (!duplicates.empty()) WriteIds(json, "duplicates", duplicates);
  json.EndObject();
  return out;
}

int EnqueuedStatus(const EnqueueReply& reply) { return AllDuplicates(reply) ? 200 : 201; }

std::optional<base::StoredAnswer> EnqueueAnswer(const EnqueueReply& reply) {
  return base::StoredAnswer{EnqueuedStatus(reply), EnqueuedJson(reply)};
}

std::string ClaimJson(const ClaimReply& reply) {
  std::size_t bytes = 64;
  for (const ClaimedMessage& each : reply.messages)
    bytes += 512 + each.payload.size() * 4 / 3 + each.headers.size();
  std::string out;
  out.reserve(bytes);
  JsonWriter json(out);
  json.BeginObject().Key("messages").BeginArray();
  for (const ClaimedMessage& each : reply.messages) WriteDelivery(json, each);
  json.EndArray();
  if (!reply.paused.empty()) {
    json.Key("paused").BeginArray();
    for (const std::string& topic : reply.paused) json.Value(std::string_view(topic));
    json.EndArray();
  }
  json.EndObject();
  return out;
}

std::string SettleJson(const std::vector<Settlement>& settlements,
                       const std::vector<SettleOutcome>& outcomes) {
  std::vector<base::Uuid> done, stale, gone;
  for (std::size_t i = 0; i < settlements.size(); ++i) {
    auto& list = outcomes[i] == SettleOutcome::kDone    ? done
                 : outcomes[i] == SettleOutcome::kStale ? stale
                                                        : gone;
    list.push_back(settlements[i].id);
  }
  std::string out;
  JsonWriter json(out);
  json.BeginObject();
  WriteIds(json, "done", done);
  WriteIds(json, "stale", stale);
  WriteIds(json, "gone", gone);
  json.EndObject();
  return out;
}

std::string MessageJson(const MessageView& message) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject();
  WriteMessage(json, message);
  return out;
}

std::string TimerJson(const MessageView& message) {
  std::string out;
  JsonWriter json(out);
  // One that waits after a failure has fired before.
  const bool pending = message.state == MessageState::kWaiting && message.attempts == 0;
  json.BeginObject().Field("fired", !pending);
  WriteMessage(json, message);
  return out;
}

std::string TopicJson(const TopicView& topic) {
  std::string out;
  JsonWriter json(out);
  WriteTopic(json, topic);
  return out;
}

std::string MessagesJson(const MessagesReply& reply) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject().Key("items").BeginArray();
  for (const ListedMessage& message : reply.rows) WriteListed(json, message);
  json.EndArray().Key("next_cursor");
  reply.next ? json.Value(std::string_view(CursorOf(*reply.next, reply.which))) : json.Null();
  json.EndObject();
  return out;
}

std::string TopicsJson(const TopicsReply& reply) {
  return base::PageJson(reply.rows, reply.has_more, WriteTopic,
                        [](const TopicView& last) { return std::string_view(last.name); });
}

std::string DeadLettersJson(const DeadReply& reply) {
  return base::PageJson(reply.rows, reply.has_more, WriteLetter,
                        [](const DeadLetter& last) { return last.id; });
}

std::string DeadGroupsJson(const GroupsReply& reply) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject().Key("items").BeginArray();
  for (const DeadGroup& group : reply.groups) {
    json.BeginObject()
        .Field("topic", std::string_view(group.topic))
        .Field("reason", ToText(group.reason))
        .Field("error", std::string_view(group.error))
        .Field("count", group.count);
    json.Key("first_at").Time(group.first_ms).Key("last_at").Time(group.last_ms);
    json.Field("id", group.id).EndObject();
  }
  json.EndArray().Field("capped", reply.capped).EndObject();
  return out;
}

std::string DeadChangeJson(const DeadChangeReply& reply) {
  const bool redriven = reply.kind == DeadChangeRequest::Kind::kRedrive;
  std::string out;
  JsonWriter json(out);
  json.BeginObject()
      .Field(redriven ? "redriven" : "discarded", reply.dry_run ? 0 : reply.ids.size())
      .Field("found", reply.ids.size())
      .Field("has_more", reply.has_more);
  WriteIds(json, "ids", reply.ids);
  json.EndObject();
  return out;
}

std::optional<base::StoredAnswer> DeadChangeAnswer(const DeadChangeReply& reply) {
  return base::StoredAnswer{200, DeadChangeJson(reply)};
}

std::optional<base::StoredAnswer> TopicChangeAnswer(const TopicChangeReply&) {
  return base::StoredAnswer{.status = 200};
}

}  // namespace tenure::messages
