#include "messages/topics/topics.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/json_writer.hpp"
#include "messages/message.hpp"
#include "messages/topics/change_topic.hpp"
#include "messages_sql/queries.hpp"

namespace tenure::messages {
namespace {

using base::JsonWriter;

TopicRow Changed(TopicRow topic, const TopicChange& change) {
  for (const TopicSetting& setting : kTopicSettings)
    if (const auto value = change.*setting.change)
      topic.settings.*setting.value =
          *value == kDefaultOfTopic ? TopicSettings().*setting.value : *value;
  if (change.paused) {
    topic.paused_ms = *change.paused ? 1 : 0;
    topic.paused_reason = change.paused_reason;
  }
  return topic;
}

/// Of `topic` what `other` has otherwise.
void WriteDifferences(JsonWriter& json, const TopicRow& topic, const TopicRow& other) {
  json.BeginObject();
  for (const TopicSetting& each : kTopicSettings)
    if (topic.settings.*each.value != other.settings.*each.value)
      json.Field(each.name, topic.settings.*each.value);
  if ((topic.paused_ms > 0) != (other.paused_ms > 0)) json.Field("paused", topic.paused_ms > 0);
  if (topic.paused_reason != other.paused_reason)
    json.Field("reason", std::string_view(topic.paused_reason));
  json.EndObject();
}

/// Old and new values of what is different afterwards; nothing when all is as before.
std::optional<db::AuditEvent> AuditEventOf(const TopicChange& change, const TopicRow& before) {
  const TopicRow after = Changed(before, change);
  db::AuditEvent event{change.name, ""};
  JsonWriter json(event.detail);
  WriteDifferences(json.BeginObject().Key("old"), before, after);
  WriteDifferences(json.Key("new"), after, before);
  json.EndObject();
  if (event.detail == R"({"old":{},"new":{}})") return std::nullopt;
  return event;
}

}  // namespace

TopicRow ReadTopic(const db::Rows::Row& row, std::size_t first) {
  TopicRow topic;
  topic.topic_id = row.Int(first);
  topic.lines = row.Int(first + 1) & kAllLines;  // others do not exist
  std::size_t column = first + 2;
  for (const TopicSetting& setting : kTopicSettings) {
    const std::int64_t value = row.Int(column++);
    // Negative: the default. What no request could have set is bounded as if one had.
    if (value >= 0) topic.settings.*setting.value = std::clamp(value, setting.least, setting.most);
  }
  topic.paused_ms = row.Int(column);
  topic.paused_reason = row.Text(column + 1);
  topic.asked_ms = row.Int(column + 2);
  return topic;
}

db::Transaction::Pending QueueTopics(db::Transaction& tx, const TopicsRequest& request,
                                     std::int64_t rows) {
  return tx.Queue(sql::kListTopics, std::string_view(request.tenant),
                  std::string_view(request.name), std::string_view(request.after), rows,
                  kMaxCounted);
}

void FindTopics(db::Transaction& tx, db::Items<FindTopicsRequest, FoundTopics> items) {
  for (auto* item : items) {
    const FindTopicsRequest& request = item->request;
    FoundTopics found;
    for (const auto row : tx.Run(sql::kFindTopics, std::string_view(request.tenant),
                                 std::string_view(request.prefix), request.limit))
      if (std::string name(row.Text(0)); name.starts_with(request.prefix))
        found.topics.push_back({std::move(name), row.Int(1) > 0});
    item->reply = std::move(found);
  }
}

TopicView ReadTopicView(const db::Rows::Row& row, std::int64_t now_ms) {
  TopicView view;
  view.name = row.Text(0);
  view.row = ReadTopic(row, 1);
  db::ReadInto(view, row, 13, &TopicView::ready, &TopicView::claimed, &TopicView::dead,
               &TopicView::oldest_ms);
  view.now_ms = now_ms;
  return view;
}

TopicChangeReply ChangeTopic(db::Transaction& tx, const TopicChange& wish, std::int64_t now_ms) {
  const TopicChange* const change[] = {&wish};
  const auto setting = [](std::optional<std::int64_t> TopicChange::*member) {
    return [member](const TopicChange* each) { return (each->*member).value_or(-2); };
  };
  const auto paused = [now_ms](const TopicChange* each) {
    return !each->paused ? std::int64_t{-1} : *each->paused ? now_ms : 0;
  };
  const auto topic = db::Columns(change, &TopicChange::tenant, &TopicChange::name);
  tx.Queue(sql::kOpenTopics, topic, std::vector<std::int64_t>{0});
  const db::Rows before = tx.Run(sql::kLockTopics, topic);
  tx.Queue(
      sql::kWriteTopics, topic,
      db::Columns(change, setting(&TopicChange::max_attempts), setting(&TopicChange::max_crashes),
                  setting(&TopicChange::lease_ms), setting(&TopicChange::retention_ms),
                  setting(&TopicChange::backoff_ms), setting(&TopicChange::backoff_max_ms),
                  setting(&TopicChange::dedup_ms), paused, &TopicChange::paused_reason));
  TopicChangeReply reply;
  if (!before.empty()) reply.event = AuditEventOf(wish, ReadTopic(before[0]));
  return reply;
}

Notifications TopicChangeHandler::WriteItems(db::Transaction& tx, Items items) {
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  Notifications notifications;
  // One statement each: two changes of one topic in a batch are applied one after the other.
  for (auto* item : items) {
    TopicChangeReply reply = ChangeTopic(tx, item->request, now_ms);
    if (item->actor() && reply.event) item->Did(*reply.event);
    if (item->request.paused == false)
      notifications.Add(item->request.tenant, item->request.name, now_ms, now_ms);
    item->reply = std::move(reply);
  }
  notifications.Tell(tx, process_, now_ms);
  return notifications;
}

void TouchTopics(db::Transaction& tx, db::Items<TouchRequest, TouchReply> items) {
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  std::set<TopicKey> topics;
  for (auto* item : items) {
    topics.insert(item->request.topics.begin(), item->request.topics.end());
    item->reply = TouchReply{};
  }
  tx.Queue(sql::kTouchTopics, db::Columns(topics, kTopicColumns), now_ms);
}

}  // namespace tenure::messages
