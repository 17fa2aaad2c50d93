#include "webhooks/fan_out.hpp"

#include <fmt/format.h>

#include "base/json_writer.hpp"
#include "webhooks/event_columns.hpp"
#include "webhooks/rules/route.hpp"
#include "webhooks_sql/queries.hpp"

namespace tenure::webhooks {

void FanOut::Begin(const EventRow& row, const rules::Event& event, std::int64_t now_ms) {
  row_ = &row;
  event_ = &event;
  now_ms_ = now_ms;
  requests_.push_back({.tenant = row.tenant, .messages = {}});
}

std::int64_t FanOut::Give(const bots::Bot& bot) {
  if (bot.routing.scope != rules::Scope::kNone) return GiveSessions(bot);
  GiveTopic(bot);
  return 1;
}

std::string FanOut::TopicMessages() const {
  std::string out;
  base::JsonWriter json(out);
  json.BeginObject();
  for (const messages::NewMessage& message : requests_.back().messages)
    json.Field(BotOf(message.topic), *message.id);
  json.EndObject();
  return out;
}

void FanOut::GiveTopic(const bots::Bot& bot) {
  if (full_.Has(row_->tenant, bot.name))
    throw base::Fault(base::FaultKind::kStatement, std::string(kQueueFull) + bot.name);
  const std::string_view json = event_->payload.json();
  const bool fits = json.size() <= inline_payload_bytes_ && !event_->payload.is_deep();
  messages::NewMessage& message = requests_.back().messages.emplace_back();
  message.id = base::Uuid::V7(now_ms_);
  message.topic = TopicOf(bot.name);
  message.payload =
      EnvelopeJson(*row_, {.bot = bot.name, .copy = {}, .ordered = false, .processed_ms = now_ms_},
                   fits ? json : std::string_view());
  message.correlation_id = row_->event_id.ToString();
  message.trace = row_->trace;
  references_.push_back({row_->event_id, *message.id});
}

/// They refer to the event, which is stored once.
std::int64_t FanOut::GiveSessions(const bots::Bot& bot) {
  const rules::Routed routed = rules::Route(bot.routing, *event_);
  if (routed.fell_back) fallbacks_.push_back(row_->event);
  queues::SendRequest& send = sends_.emplace_back();
  send.tenant = row_->tenant;
  send.queue = bot.name;
  const std::size_t copies = routed.places.size();
  for (std::size_t i = 0; i < copies; ++i) {
    const rules::Place& place = routed.places[i];
    queues::NewMessage& message = send.messages.emplace_back();
    message.key = place.key;
    message.name = place.name;
    message.entity = place.type;
    message.share = routed.share;
    message.event_id = row_->event_id;
    message.payload_bytes = static_cast<std::int64_t>(event_->payload.json().size());
    message.correlation_id = row_->event_id.ToString();
    message.trace = row_->trace;
    if (copies > 1) message.copy = fmt::format("{}/{}", i + 1, copies);
  }
  return static_cast<std::int64_t>(copies);
}

void FanOut::Send(db::Transaction& tx) {
  if (!references_.empty())
    tx.Queue(sql::kInsertReferences,
             db::Columns(references_, &Reference::event_id, &Reference::message_id));
  std::vector<const messages::EnqueueRequest*> requests;
  for (const messages::EnqueueRequest& request : requests_)
    if (!request.messages.empty()) requests.push_back(&request);
  if (!requests.empty()) enqueuer_.Add(tx, requests);
  SendSessions(tx);
}

void FanOut::SendSessions(db::Transaction& tx) {
  std::vector<const queues::SendRequest*> sends;
  for (const queues::SendRequest& send : sends_) sends.push_back(&send);
  if (sends.empty()) return;
  const std::vector<queues::SendReply> replies = ordered_.Add(tx, sends);
  for (std::size_t i = 0; i < sends.size(); ++i) {
    if (replies[i].kind == queues::SendReply::Kind::kSent) continue;
    // Of the statement, not of a lock: a batch is divided until the one that does not fit stands
    // alone, and the others of its repository are tried without it.
    if (replies[i].kind == queues::SendReply::Kind::kFull)
      throw base::Fault(base::FaultKind::kStatement, std::string(kQueueFull) + sends[i]->queue);
    throw base::Fault(base::FaultKind::kStatement,
                      fmt::format("the queue {} is not as its bot's file has it", sends[i]->queue));
  }
}

}  // namespace tenure::webhooks
