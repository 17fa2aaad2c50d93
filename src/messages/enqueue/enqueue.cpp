#include "messages/enqueue/enqueue.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "messages/rules.hpp"
#include "messages_sql/queries.hpp"

namespace tenure::messages {
/// A message on its way in.
struct Enqueuer::Arrival {
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
  std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  // Now the transaction is open in the store, which gives it up when we are paused: what is still
  // known is right until it ends (topic_cache.hpp, 1). Otherwise the rows are read again.
  if (!StillKnown()) {
    topic_ids_.clear();
    OpenTopics(tx, requests);
    now_ms = tx.TakeClock(tx.QueueClock());
  }
  std::vector<EnqueueReply> replies(requests.size());
  std::vector<Arrival> arrivals;
  bool keyed = false;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    replies[i].is_list = requests[i]->is_list;
    replies[i].messages.resize(requests[i]->messages.size());
    for (std::size_t j = 0; j < requests[i]->messages.size(); ++j) {
      EnqueuedMessage& answer = replies[i].messages[j];
      answer.id =
          requests[i]->messages[j].id ? *requests[i]->messages[j].id : base::Uuid::V7(now_ms);
      arrivals.push_back({&requests[i]->tenant, &requests[i]->messages[j], &answer});
      keyed |= !requests[i]->messages[j].dedup_key.empty();
    }
  }
  if (keyed) FindDuplicates(tx, arrivals, now_ms);
  Insert(tx, arrivals, now_ms);
  return replies;
}

/// Whether the numbers that came from memory are those that it has now.
bool Enqueuer::StillKnown() const {
  return std::ranges::all_of(remembered_, [&](const auto& each) {
    const auto& [topic, bits] = each;
    return topic_cache_.IdOf(topic.first, topic.second, bits) == topic_ids_.at(topic);
  });
}

/// Nearly always everything is known already, and nothing is sent.
void Enqueuer::OpenTopics(db::Transaction& tx, std::span<const EnqueueRequest* const> requests) {
  std::map<TopicName, std::int64_t> wanted;
  for (const EnqueueRequest* request : requests)
    for (const NewMessage& message : request->messages)
      wanted[{request->tenant, message.topic}] |= LinesOf(message.priority);
  using Unknown = decltype(wanted)::value_type;
  std::vector<const Unknown*> unknown;
  remembered_.clear();
  const std::int64_t as_of_boot_ms = topic_cache_.clock().BootMs();
  for (const Unknown& each : wanted) {
    const auto& [topic, bits] = each;
    if (const auto id = topic_cache_.IdOf(topic.first, topic.second, bits)) {
      topic_ids_[topic] = *id;
      remembered_.insert(each);
    } else {
      unknown.push_back(&each);
    }
  }
  const auto topics =
      db::Columns(unknown, db::Inside(&Unknown::first, &TopicName::first, &TopicName::second));
  tx.Queue(sql::kOpenTopics, topics, db::Columns(unknown, &Unknown::second));
  for (const auto row : tx.Run(sql::kLoadTopics, topics)) {
    const TopicName& topic = unknown[row.ordinal()]->first;
    topic_ids_[topic] = row.Int(0);
    effect_.opened.push_back({std::string(topic.first), std::string(topic.second), row.Int(0),
                              row.Int(1), as_of_boot_ms});
  }
}

/// Those whose key was used within its time get the earlier message's id; what is left is new.
/// Two of one key in a batch: the first is the earlier one.
void Enqueuer::FindDuplicates(db::Transaction& tx, std::vector<Arrival>& arrivals,
                              std::int64_t now_ms) {
  struct DedupKey {
    base::Uuid id{};
    std::int64_t expires_ms = 0;
    std::int64_t keep_ms = TopicSettings().dedup_ms;
    bool renewed = false;
  };
  using Key = std::tuple<std::string_view, std::string_view, std::string_view>;
  std::map<Key, DedupKey> keys;
  for (const Arrival& arrival : arrivals)
    if (!arrival.message->dedup_key.empty()) keys.try_emplace(arrival.Key());
  using Keyed = decltype(keys)::value_type;
  std::vector<Keyed*> known;
  for (Keyed& each : keys) known.push_back(&each);
  constexpr auto kKey = db::Members([](const Keyed* each) { return std::get<0>(each->first); },
                                    [](const Keyed* each) { return std::get<1>(each->first); },
                                    [](const Keyed* each) { return std::get<2>(each->first); });
  const auto names = db::Columns(known, kKey);
  tx.Queue(sql::kLockKeys, names);
  for (const auto row : tx.Run(sql::kLoadKeys, names)) {
    DedupKey& key = known[row.ordinal()]->second;
    db::ReadInto(key, row, 0, &DedupKey::id, &DedupKey::expires_ms);
    if (row.Int(2) >= 0) key.keep_ms = row.Int(2);
  }
  // The locks may have been waited for.
  now_ms = tx.TakeClock(tx.QueueClock());

  std::vector<Arrival> fresh;
  for (const Arrival& arrival : arrivals) {
    if (!arrival.message->dedup_key.empty()) {
      DedupKey& key = keys.find(arrival.Key())->second;
      if (key.expires_ms > now_ms) {
        *arrival.answer = {key.id, true};
        continue;
      }
      key.id = arrival.answer->id;
      key.expires_ms = now_ms + std::max<std::int64_t>(key.keep_ms, 1);
      key.renewed = true;
    }
    fresh.push_back(arrival);
  }
  std::erase_if(known, [](const Keyed* each) { return !each->second.renewed; });
  tx.Queue(
      sql::kWriteKeys,
      db::Columns(known, kKey, db::Inside(&Keyed::second, &DedupKey::id, &DedupKey::expires_ms)));
  arrivals = std::move(fresh);
}

void Enqueuer::Insert(db::Transaction& tx, const std::vector<Arrival>& arrivals,
                      std::int64_t now_ms) {
  const Arrival* told = nullptr;
  for (const Arrival& arrival : arrivals) {
    // Mostly one after the other says the same.
    const bool same = told != nullptr && arrival.tenant == told->tenant &&
                      arrival.message->topic == told->message->topic &&
                      arrival.DueMs(now_ms) == told->DueMs(now_ms);
    if (!same)
      effect_.notifications.Add(*arrival.tenant, arrival.message->topic, arrival.DueMs(now_ms),
                                now_ms);
    told = &arrival;
  }
  const auto topic_id = [&](const Arrival& arrival) {
    return topic_ids_.at({*arrival.tenant, arrival.message->topic});
  };
  const auto due_ms = [&](const Arrival& arrival) { return arrival.DueMs(now_ms); };
  const auto line = [](const NewMessage* message) { return LineOf(message->priority, 0); };
  const auto payload = [](const NewMessage* message) { return db::BytesView{message->payload}; };
  tx.Queue(sql::kInsertMessages,
           db::Columns(
               arrivals, db::Inside(&Arrival::answer, &EnqueuedMessage::id), topic_id,
               db::Inside(&Arrival::message, line), due_ms,
               db::Inside(&Arrival::message, &NewMessage::kind, payload,
                          &NewMessage::correlation_id, &NewMessage::headers, &NewMessage::trace)),
           now_ms);
  effect_.notifications.Tell(tx, process_, now_ms);
}

EnqueueEffect EnqueueHandler::WriteItems(db::Transaction& tx, Items items) {
  std::vector<const EnqueueRequest*> requests;
  for (const auto* item : items) requests.push_back(&item->request);
  Enqueuer enqueuer(topic_cache_, process_);
  auto replies = enqueuer.Add(tx, requests);
  for (std::size_t i = 0; i < items.size(); ++i) items[i]->reply = std::move(replies[i]);
  return enqueuer.effect();
}

void EnqueueHandler::DoneItems(Items items, const EnqueueEffect& effect) {
  effect.Publish(topic_cache_, wake_);
  for (const auto* item : items) probe_.Enqueued(item->request, *item->reply);
}

}  // namespace tenure::messages
