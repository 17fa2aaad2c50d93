#include "messages/new_message.hpp"

#include "http/reply.hpp"
#include "telemetry/trace.hpp"

namespace tenure::messages {
namespace {

using http::JsonFields;
using http::JsonObject;

constexpr std::int64_t kMaxDelayMs = 100LL * 365 * 86'400'000;

void ReadPayload(JsonObject& object, std::size_t most, NewMessage& message) {
  const bool has_json = object.Has("payload");
  const bool has_bytes = object.Has("payload_base64");
  if (has_json) message.payload = object.OptionalJson("payload", most).value_or("");
  if (has_bytes) {
    message.kind = PayloadKind::kBytes;
    message.payload = object.OptionalBytes("payload_base64", most).value_or("");
  }
  if (has_json && has_bytes)
    object.Refuse("payload_base64", "must not be given together with payload");
  if (!has_json && !has_bytes)
    object.Refuse("payload", "is missing; any JSON value, or payload_base64, is expected");
}

void ReadDue(JsonObject& object, bool must, NewMessage& message) {
  message.due_at_ms = object.OptionalTime("due_at");
  message.delay_ms = object.OptionalInteger("delay_ms", 0, kMaxDelayMs);
  const bool has_time = object.Has("due_at");
  const bool has_delay = object.Has("delay_ms");
  if (has_time && has_delay) object.Refuse("delay_ms", "must not be given together with due_at");
  if (must && !has_time && !has_delay)
    object.Refuse("due_at", "is missing; a time, or delay_ms, is expected");
}

std::string TraceOf(const JsonObject& object, const NewMessageRules& rules) {
  std::string own = object.TextInside("headers", "traceparent");
  return telemetry::ParseTraceParent(own) ? own : rules.trace;
}

NewMessage ReadMessage(JsonObject& object, const NewMessageRules& rules) {
  NewMessage message;
  message.topic = RequiredText(object, "topic", kMaxTopicBytes);
  ReadPayload(object, rules.payload_max, message);
  ReadDue(object, rules.is_timer, message);
  message.priority = static_cast<int>(
      object.OptionalInteger("priority", 0, kPriorities - 1).value_or(kDefaultPriority));
  message.correlation_id = object.OptionalText("correlation_id", kMaxCorrelationBytes).value_or("");
  message.headers = object.OptionalObject("headers", kMaxHeadersBytes).value_or("");
  message.trace = TraceOf(object, rules);
  if (!rules.is_timer && object.Has("dedup_key"))
    message.dedup_key = RequiredText(object, "dedup_key", kMaxDedupKeyBytes);
  return message;
}

}  // namespace

std::string RequiredText(JsonObject& object, std::string_view name, std::size_t max_bytes) {
  if (!object.Has(name)) return object.Text(name, max_bytes);
  const auto text = object.OptionalText(name, max_bytes);
  if (text && text->empty()) object.Refuse(name, "must not be empty");
  return text.value_or("");
}

EnqueueRequest ReadEnqueue(const http::ExchangePtr& exchange, std::string_view list,
                           const NewMessageRules& rules) {
  EnqueueRequest request;
  request.tenant = http::TenantOf(exchange);
  JsonFields fields(exchange->request().body);
  request.is_list = fields.Has(list);
  if (request.is_list) {
    fields.Objects(list, kMaxBatch, [&](JsonObject& object) {
      request.messages.push_back(ReadMessage(object, rules));
    });
  } else {
    request.messages.push_back(ReadMessage(fields, rules));
  }
  fields.Finish();
  if (request.messages.empty())
    throw http::ProblemError(http::InvalidRequest({{std::string(list), "must not be empty"}}));
  return request;
}

}  // namespace tenure::messages
