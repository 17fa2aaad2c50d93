#include "webhooks/receive.hpp"

#include <deque>
#include <functional>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "queues/enqueue.hpp"
#include "webhooks/event_columns.hpp"
#include "webhooks/rules/route.hpp"
#include "webhooks_sql/queries.hpp"

namespace tenure::webhooks {

using rules::Scope;

/// One transaction's worth of deliveries.
class ReceiveHandler::Batch {
 public:
  Batch(db::Transaction& tx, ReceiveHandler& handler, Items items)
      : tx_(tx), handler_(handler), items_(items) {}

  ReceiveEffect Store() {
    LockAndLoad();
    for (ItemType* item : items_) Decide(*item);
    Write();
    return {enqueuer_.effect(), ordered_.notifications(), learnt_ ? bots_ : nullptr};
  }

 private:
  using Key = std::tuple<std::string_view, std::string_view, std::string_view>;
  struct Known {
    base::Uuid event_id{};
    std::int64_t received_ms = 0;  // 0: it was not received, or too long ago
    bool is_new = false;
  };
  using Keyed = std::map<Key, Known>::value_type;
  /// An event that is new.
  struct Fresh {
    EventRow row;
    const Delivery* delivery;
  };

  static Key KeyOf(const Delivery& delivery) {
    return {delivery.source, delivery.hook, delivery.delivery_id};
  }

  void LockAndLoad() {
    for (const auto* item : items_) keys_.try_emplace(KeyOf(*item->request.delivery));
    std::vector<Keyed*> keys;
    for (Keyed& each : keys_) keys.push_back(&each);
    const auto columns = db::Columns(keys, kKey);
    tx_.Queue(sql::kShareBots);
    tx_.Queue(sql::kLockDeliveries, columns);
    const auto loaded = tx_.Queue(sql::kLoadDeliveries, columns);
    const auto revision = tx_.Queue(sql::kReadRevision);
    const auto clock = tx_.QueueClock();
    for (const auto row : tx_.Take(loaded)) {
      Known& known = keys[row.ordinal()]->second;
      known.event_id = row.Uuid(0);
      known.received_ms = row.Int(1);
    }
    bots_ = handler_.bots_.Get();
    const std::int64_t in_force = tx_.Take(revision)[0].Int(0);
    now_ms_ = tx_.TakeClock(clock);
    if (in_force != bots_->revision) {
      bots_ = LoadSnapshot(tx_);
      learnt_ = true;
    }
    // A key that stands in the store since the window is over is as good as none.
    for (Keyed& each : keys_)
      if (each.second.received_ms + handler_.options_.dedup_ms <= now_ms_)
        each.second.received_ms = 0;
  }

  void Decide(ItemType& item) {
    const Delivery& delivery = *item.request.delivery;
    const Snapshot::Door door = bots_->FindSource(delivery.source);
    ReceiveReply reply;
    if (!door.source) {
      reply.kind = ReceiveReply::Kind::kNoSource;
      item.reply = reply;
      return;
    }
    Known& known = keys_.at(KeyOf(delivery));
    if (known.received_ms > 0) {
      reply.event_id = known.event_id;
      reply.duplicate = true;
      item.reply = reply;
      return;
    }
    known = {base::Uuid::V7(now_ms_), now_ms_, true};
    const rules::Origin origin = delivery.OriginAt(door.source->host);
    const rules::Event event(origin, *delivery.payload);
    EventRow row = RowOf(delivery, event, door.bots->tenant);
    row.event_id = known.event_id;
    row.received_ms = now_ms_;
    messages::EnqueueRequest request{.tenant = row.tenant, .messages = {}};
    for (const bots::Bot& bot : door.bots->file.bots) {
      if (!rules::Matches(bot.routing, event).matches) continue;
      if (bot.routing.scope == Scope::kNone)
        Give(bot, row, delivery, request);
      else
        row.messages += GiveInOrder(bot, row, event);
    }
    row.messages += static_cast<std::int64_t>(request.messages.size());
    reply.event_id = row.event_id;
    reply.messages = row.messages;
    item.reply = reply;
    requests_.push_back(std::move(request));
    fresh_.push_back({std::move(row), &delivery});
  }

  /// A bot whose messages keep no order: they are messages of its topic.
  void Give(const bots::Bot& bot, const EventRow& row, const Delivery& delivery,
            messages::EnqueueRequest& request) const {
    const std::string_view json = delivery.payload->json();
    const bool fits = json.size() <= handler_.options_.inline_payload_bytes;
    messages::NewMessage message;
    message.topic = TopicOf(bot.name);
    message.payload =
        EnvelopeJson(row, {.bot = bot.name, .copy = {}, .ordered = false, .processed_ms = now_ms_},
                     fits ? json : std::string_view());
    message.correlation_id = row.event_id.ToString();
    message.trace = row.trace;
    request.messages.push_back(std::move(message));
  }

  /// A bot whose messages have sessions. They refer to the event, which is stored once. Returns how
  /// many they are.
  std::int64_t GiveInOrder(const bots::Bot& bot, const EventRow& row, const rules::Event& event) {
    const rules::Routed routed = rules::Route(bot.routing, event);
    queues::SendRequest& send = sends_.emplace_back();
    send.tenant = row.tenant;
    send.queue = bot.name;
    const std::size_t copies = routed.places.size();
    for (std::size_t i = 0; i < copies; ++i) {
      const rules::Place& place = routed.places[i];
      queues::NewMessage& message = send.messages.emplace_back();
      message.key = place.key;
      message.name = place.name;
      message.entity = place.type;
      message.share = routed.share;
      message.event_id = row.event_id;
      message.payload_bytes = static_cast<std::int64_t>(event.payload.json().size());
      message.correlation_id = row.event_id.ToString();
      message.trace = row.trace;
      if (copies > 1) message.copy = fmt::format("{}/{}", i + 1, copies);
    }
    return static_cast<std::int64_t>(copies);
  }

  /// All or nothing: what one full queue refuses is refused for all bots, and nothing of it is
  /// stored. A batch is divided until the one that does not fit stands alone.
  void SendInOrder() {
    std::vector<const queues::SendRequest*> sends;
    for (const queues::SendRequest& send : sends_) sends.push_back(&send);
    if (sends.empty()) return;
    const std::vector<queues::SendReply> replies = ordered_.Add(tx_, sends);
    for (std::size_t i = 0; i < sends.size(); ++i) {
      if (replies[i].kind == queues::SendReply::Kind::kSent) continue;
      if (replies[i].kind == queues::SendReply::Kind::kFull)
        throw base::Fault(base::FaultKind::kContended, std::string(kQueueFull) + sends[i]->queue);
      throw base::Fault(
          base::FaultKind::kStatement,
          fmt::format("the queue {} is not as its bot's file has it", sends[i]->queue));
    }
  }

  void Write() {
    std::vector<const Fresh*> fresh;
    for (const Fresh& each : fresh_) fresh.push_back(&each);
    std::vector<Keyed*> changed;
    for (Keyed& each : keys_)
      if (each.second.is_new) changed.push_back(&each);
    const auto body = [](const Fresh* each) { return db::BytesView{each->delivery->body}; };
    tx_.Queue(sql::kWriteDeliveries,
              db::Columns(changed, kKey, db::Inside(&Keyed::second, &Known::event_id)), now_ms_);
    tx_.Queue(sql::kInsertEvents, db::Columns(fresh, db::Inside(&Fresh::row, kEventColumns)),
              now_ms_);
    tx_.Queue(sql::kInsertPayloads,
              db::Columns(fresh, db::Inside(&Fresh::row, &EventRow::event_id), body));
    std::vector<const messages::EnqueueRequest*> requests;
    for (const messages::EnqueueRequest& request : requests_) requests.push_back(&request);
    enqueuer_.Add(tx_, requests);
    SendInOrder();
  }

  static constexpr auto kKey =
      db::Members([](const Keyed* each) { return std::get<0>(each->first); },
                  [](const Keyed* each) { return std::get<1>(each->first); },
                  [](const Keyed* each) { return std::get<2>(each->first); });

  db::Transaction& tx_;
  ReceiveHandler& handler_;
  const Items items_;
  SnapshotPtr bots_;
  bool learnt_ = false;
  std::int64_t now_ms_ = 0;
  std::map<Key, Known> keys_;
  std::vector<Fresh> fresh_;
  std::vector<messages::EnqueueRequest> requests_;
  std::deque<queues::SendRequest> sends_;
  queues::Enqueuer ordered_{handler_.process_};
  messages::Enqueuer enqueuer_{handler_.topics_, handler_.process_};
};

std::size_t ReceiveHandler::KeyHash(const ReceiveRequest& request) const {
  const Delivery& delivery = *request.delivery;
  const auto repository = delivery.payload->Id("repository.id");
  return std::hash<std::string>()(repository ? *repository : delivery.hook);
}

ReceiveEffect ReceiveHandler::WriteItems(db::Transaction& tx, Items items) {
  return Batch(tx, *this, items).Store();
}

}  // namespace tenure::webhooks
