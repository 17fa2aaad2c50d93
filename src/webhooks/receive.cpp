#include "webhooks/receive.hpp"

#include <functional>
#include <map>
#include <tuple>

#include "webhooks/event_columns.hpp"
#include "webhooks/fan_out.hpp"
#include "webhooks/rules/route.hpp"
#include "webhooks_sql/queries.hpp"

namespace tenure::webhooks {

/// One transaction's worth of deliveries.
class ReceiveHandler::Batch {
 public:
  Batch(db::Transaction& tx, ReceiveHandler& handler, Items items)
      : tx_(tx), handler_(handler), items_(items) {}

  ReceiveEffect Store() {
    LockAndLoad();
    for (ItemType* item : items_) Decide(*item);
    Write();
    return {fan_out_.sent(), fan_out_.ordered(), learnt_ ? bots_ : nullptr, fan_out_.fallbacks()};
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

  /// Whether its source was another one when it was let in.
  bool IsOutdated(const Delivery& delivery, const bots::Source& source) const {
    if (!delivery.judged_by || delivery.judged_by->revision == bots_->revision) return false;
    const Snapshot::Door then = delivery.judged_by->FindSource(delivery.source);
    return !then.source || *then.source != source;
  }

  void Decide(ItemType& item) {
    const Delivery& delivery = *item.request.delivery;
    const Snapshot::Door door = bots_->FindSource(delivery.source);
    ReceiveReply reply;
    if (!door.source || IsOutdated(delivery, *door.source)) {
      reply.kind = door.source ? ReceiveReply::Kind::kJudgeAgain : ReceiveReply::Kind::kNoSource;
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
    fan_out_.Begin(row, event, now_ms_);
    for (const bots::Bot& bot : door.bots->file.bots)
      if (rules::Matches(bot.routing, event).matches) row.messages += fan_out_.Give(bot);
    row.topic_messages = fan_out_.TopicMessages();
    reply.event_id = row.event_id;
    reply.messages = row.messages;
    item.reply = reply;
    fresh_.push_back({std::move(row), &delivery});
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
    fan_out_.Send(tx_);
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
  FanOut fan_out_{handler_.topics_, handler_.process_, handler_.options_.inline_payload_bytes,
                  handler_.full_};
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
