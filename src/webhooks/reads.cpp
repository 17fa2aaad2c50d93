#include "webhooks/reads.hpp"

#include <array>

#include "base/json_view.hpp"
#include "queues/session.hpp"
#include "webhooks/event_columns.hpp"
#include "webhooks/rules/form.hpp"
#include "webhooks_sql/queries.hpp"

namespace tenure::webhooks {
namespace {

constexpr std::int64_t kForgottenTogether = 500;
/// Bodies are large.
constexpr std::int64_t kEventsForgottenTogether = 50;

constexpr auto kStoredColumns =
    db::Members(kEventColumns, &EventRow::received_ms, &EventRow::number);

}  // namespace

db::Transaction::Pending QueueEvents(db::Transaction& tx, const ListRequest& request,
                                     std::int64_t rows) {
  const auto text = [](const std::string& value) { return std::string_view(value); };
  return tx.Queue(sql::kListEvents, text(request.tenant), request.below, text(request.delivery_id),
                  text(request.event), text(request.action), text(request.repository),
                  text(request.entity_type), text(request.entity_id), request.since_ms,
                  request.until_ms, request.correlation_id ? std::int64_t{0} : std::int64_t{1},
                  request.correlation_id.value_or(base::Uuid()), rows);
}

EventRow ReadEvent(const db::Rows::Row& row) { return db::ReadAs<EventRow>(row, kStoredColumns); }

namespace {

/// Of a bot whose messages keep no order: its topic has them, or is done with them.
void FindTopicWays(db::Transaction& tx, FindReply& reply) {
  const auto named = base::JsonView::Parse(reply.event->topic_messages);
  if (!named) db::ThrowBadRow("topic_messages of an event are no JSON");
  std::vector<base::Uuid> ids;
  for (const auto& [bot, text] : named->Members()) {
    const auto id = base::Uuid::Parse(text.Text().value_or(""));
    if (!id) db::ThrowBadRow("topic_messages of an event name no message");
    ids.push_back(*id);
    Way& way = reply.ways.emplace_back();
    way.bot = bot;
    way.message_id = *id;
  }
  for (const auto row : tx.Run(sql::kLookTopicMessages, ids))
    reply.ways[row.ordinal()].state = static_cast<Way::State>(row.Int(0));
}

/// By the row of its session: what lies below the head is history.
Way::State StateOf(std::int64_t sequence, std::int64_t state, std::int64_t head,
                   std::int64_t handed, std::int64_t dead) {
  if (dead >= 0) return Way::State::kDead;
  if (sequence < head) return Way::State::kDone;
  const auto session = static_cast<queues::State>(state);
  if (session == queues::State::kParked && sequence == head) return Way::State::kParked;
  if (session == queues::State::kHeld && sequence <= handed) return Way::State::kHeld;
  return Way::State::kWaiting;
}

void FindSessionWays(db::Transaction& tx, const std::string& tenant, FindReply& reply) {
  for (const auto row :
       tx.Run(sql::kListSessionWays, reply.event->event_id, std::string_view(tenant), kMaxWays)) {
    Way& way = reply.ways.emplace_back();
    way.bot = row.Text(0);
    way.key = row.Text(1);
    way.name = row.Text(2);
    way.session = row.Uuid(3);
    way.sequence = row.Int(4);
    way.message_id = row.Uuid(5);
    way.copy = row.Text(6);
    way.state = StateOf(way.sequence, row.Int(7), row.Int(8), row.Int(9), row.Int(10));
    way.is_replay = row.Int(11) != 0;
  }
}

}  // namespace

std::string_view ToText(Way::State state) {
  constexpr std::array<std::string_view, 5> kWords = {"waiting", "held", "dead", "done", "parked"};
  return kWords.at(static_cast<std::size_t>(state));
}

void FindEvents(db::Transaction& tx, db::Items<FindRequest, FindReply> items) {
  for (auto* item : items) {
    item->reply.emplace();
    for (const auto row :
         tx.Run(sql::kFindEvent, std::string_view(item->request.tenant), item->request.event_id))
      item->reply->event = ReadEvent(row);
    if (!item->reply->event) continue;
    FindTopicWays(tx, *item->reply);
    FindSessionWays(tx, item->request.tenant, *item->reply);
  }
}

namespace {

/// The signature is of the form's bytes.
void TakeOutOfForm(PayloadReply& reply) {
  if (!IsForm(reply.content_type)) return;
  reply = {true, rules::PayloadOfForm(reply.body).value_or(""), "application/json", {}};
}

}  // namespace

void ReadPayloads(db::Transaction& tx, db::Items<FindRequest, PayloadReply> items) {
  for (auto* item : items) {
    PayloadReply reply;
    for (const auto row :
         tx.Run(sql::kReadPayload, std::string_view(item->request.tenant), item->request.event_id))
      reply = {true, std::string(row.Text(0)), std::string(row.Text(1)), std::string(row.Text(2))};
    if (item->request.as_json) TakeOutOfForm(reply);
    item->reply = std::move(reply);
  }
}

void ReadInForce(db::Transaction& tx, db::Items<InForceRequest, InForceReply> items) {
  const std::int64_t revision = tx.Run(sql::kReadRevision)[0].Int(0);
  SnapshotPtr bots;
  for (auto* item : items) {
    item->reply.emplace();
    if (item->request.known == revision) continue;
    if (!bots) bots = LoadSnapshot(tx);
    item->reply->bots = bots;
  }
}

db::Swept ForgetDeliveries(db::Transaction& tx, const ForgetRequest& request, std::int64_t now_ms) {
  const auto rows = tx.Run(sql::kForgetDeliveries, now_ms - request.keep_ms, kForgottenTogether);
  return {static_cast<std::int64_t>(rows.size()), rows.size() == kForgottenTogether};
}

db::Swept ForgetEvents(db::Transaction& tx, const ForgetRequest& request, std::int64_t now_ms) {
  const auto rows = tx.Run(sql::kForgetEvents, now_ms - request.keep_ms, kEventsForgottenTogether);
  std::vector<base::Uuid> ids;
  for (const auto row : rows) ids.push_back(row.Uuid(0));
  tx.Queue(sql::kForgetPayloads, ids);
  tx.Queue(sql::kForgetReferences, ids);
  return {static_cast<std::int64_t>(rows.size()), rows.size() == kEventsForgottenTogether};
}

}  // namespace tenure::webhooks
