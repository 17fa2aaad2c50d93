#include "messages/enqueue.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "messages/rules.hpp"
#include "messages_sql/queries.hpp"

namespace tenure::messages {
/// A message on its way in.
struct Enqueuer::Entry {
  const std::string* tenant = nullptr;
  const NewMessage* message = nullptr;
  EnqueuedMessage* answer = nullptr;

  std::int64_t DueMs(std::int64_t now_ms) const {
    if (message->due_at_ms) return *message->due_at_ms;
    return now_ms + message->delay_ms.value_or(0);
  }
  std::tuple<std::string_view, std::string_view, std::string_view> Key() const {
    return {*tenant, message->topic, message->dedup_key};
  }
};

std::vector<EnqueueReply> Enqueuer::Add(db::Transaction& tx,
                                        std::span<const EnqueueRequest* const> requests) {
  OpenTopics(tx, requests);
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  std::vector<EnqueueReply> replies(requests.size());
  std::vector<Entry> entries;
  bool keyed = false;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    replies[i].is_list = requests[i]->is_list;
    replies[i].messages.resize(requests[i]->messages.size());
    for (std::size_t j = 0; j < requests[i]->messages.size(); ++j) {
      EnqueuedMessage& answer = replies[i].messages[j];
      answer.id = base::Uuid::V7(now_ms);
      entries.push_back({&requests[i]->tenant, &requests[i]->messages[j], &answer});
      keyed |= !requests[i]->messages[j].dedup_key.empty();
    }
  }
  if (keyed) FindDuplicates(tx, entries, now_ms);
  Insert(tx, entries, now_ms);
  return replies;
}

/// Nearly always everything is known already, and nothing is sent.
void Enqueuer::OpenTopics(db::Transaction& tx, std::span<const EnqueueRequest* const> requests) {
  std::map<TopicName, std::int64_t> wanted;
  for (const EnqueueRequest* request : requests)
    for (const NewMessage& message : request->messages)
      wanted[{request->tenant, message.topic}] |= LinesOf(message.priority);
  std::vector<std::string_view> tenants, topics;
  std::vector<std::int64_t> lines;
  for (const auto& [topic, bits] : wanted) {
    if (const auto id = directory_.IdOf(topic.first, topic.second, bits)) {
      topic_ids_[topic] = *id;
      continue;
    }
    tenants.push_back(topic.first);
    topics.push_back(topic.second);
    lines.push_back(bits);
  }
  tx.Queue(sql::kOpenTopics, tenants, topics, lines);
  for (const auto row : tx.Run(sql::kLoadTopics, tenants, topics)) {
    const std::size_t i = row.ordinal();
    topic_ids_[{tenants[i], topics[i]}] = row.Int(0);
    opened_.push_back({std::string(tenants[i]), std::string(topics[i]), row.Int(0), row.Int(1)});
  }
}

/// Those whose key was used within its time get the earlier message's id; what is left is new.
/// Two of one key in a batch: the first is the earlier one.
void Enqueuer::FindDuplicates(db::Transaction& tx, std::vector<Entry>& entries,
                              std::int64_t now_ms) {
  struct Known {
    base::Uuid id{};
    std::int64_t expires_ms = 0;
    std::int64_t keep_ms = TopicSettings().dedup_ms;
    bool renewed = false;
  };
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, Known> keys;
  for (const Entry& entry : entries)
    if (!entry.message->dedup_key.empty()) keys.try_emplace(entry.Key());
  std::vector<std::string_view> tenants, topics, names;
  std::vector<Known*> known;
  for (auto& [key, value] : keys) {
    tenants.push_back(std::get<0>(key));
    topics.push_back(std::get<1>(key));
    names.push_back(std::get<2>(key));
    known.push_back(&value);
  }
  tx.Queue(sql::kLockKeys, tenants, topics, names);
  for (const auto row : tx.Run(sql::kLoadKeys, tenants, topics, names)) {
    known[row.ordinal()]->id = row.Uuid(0);
    known[row.ordinal()]->expires_ms = row.Int(1);
    if (row.Int(2) >= 0) known[row.ordinal()]->keep_ms = row.Int(2);
  }
  // The locks may have been waited for.
  now_ms = tx.TakeClock(tx.QueueClock());

  std::vector<Entry> fresh;
  for (const Entry& entry : entries) {
    if (!entry.message->dedup_key.empty()) {
      Known& key = keys.find(entry.Key())->second;
      if (key.expires_ms > now_ms) {
        *entry.answer = {key.id, true};
        continue;
      }
      key.id = entry.answer->id;
      key.expires_ms = now_ms + std::max<std::int64_t>(key.keep_ms, 1);
      key.renewed = true;
    }
    fresh.push_back(entry);
  }
  std::vector<base::Uuid> ids;
  std::vector<std::int64_t> expires;
  std::vector<std::string_view> new_tenants, new_topics, new_names;
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (!known[i]->renewed) continue;
    new_tenants.push_back(tenants[i]);
    new_topics.push_back(topics[i]);
    new_names.push_back(names[i]);
    ids.push_back(known[i]->id);
    expires.push_back(known[i]->expires_ms);
  }
  tx.Queue(sql::kWriteKeys, new_tenants, new_topics, new_names, ids, expires);
  entries = std::move(fresh);
}

void Enqueuer::Insert(db::Transaction& tx, const std::vector<Entry>& entries, std::int64_t now_ms) {
  std::vector<base::Uuid> ids;
  std::vector<std::string_view> correlations, headers, traces;
  std::vector<std::int64_t> topic_ids, lines, due, kinds;
  std::vector<db::BytesView> payloads;
  for (const Entry& entry : entries) {
    const NewMessage& message = *entry.message;
    const std::int64_t due_ms = entry.DueMs(now_ms);
    ids.push_back(entry.answer->id);
    topic_ids.push_back(topic_ids_.at({*entry.tenant, message.topic}));
    lines.push_back(LineOf(message.priority, 0));
    due.push_back(due_ms);
    kinds.push_back(static_cast<std::int64_t>(message.kind));
    payloads.push_back({message.payload});
    correlations.push_back(message.correlation_id);
    headers.push_back(message.headers);
    traces.push_back(message.trace);
    news_.Add(*entry.tenant, message.topic, due_ms, now_ms);
  }
  tx.Queue(sql::kInsertMessages, ids, topic_ids, lines, due, kinds, payloads, correlations, headers,
           traces, now_ms);
  news_.Tell(tx, process_, now_ms);
}

void EnqueueHandler::WriteItems(db::Transaction& tx, Items items) {
  std::vector<const EnqueueRequest*> requests;
  for (const auto* item : items) requests.push_back(&item->request);
  Enqueuer enqueuer(directory_, process_);
  auto replies = enqueuer.Add(tx, requests);
  for (std::size_t i = 0; i < items.size(); ++i)
    items[i]->reply = EnqueueResult{std::move(replies[i])};
  items.front()->reply->news = enqueuer.news();
  items.front()->reply->opened = enqueuer.opened();
}

void EnqueueHandler::DoneItems(Items items) {
  for (const auto* item : items) {
    for (const Directory::Known& topic : item->reply->opened) directory_.Learn(topic);
    item->reply->news.Signal(wake_);
    probe_.Enqueued(item->request, item->reply->reply);
  }
}

}  // namespace tenure::messages
