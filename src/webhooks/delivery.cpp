#include "webhooks/delivery.hpp"

#include "base/json_text.hpp"
#include "base/json_writer.hpp"
#include "base/time_text.hpp"

namespace tenure::webhooks {
namespace {

using base::JsonWriter;

/// Digits, as a number.
void WriteId(JsonWriter& json, std::string_view key, std::string_view digits) {
  json.Key(key);
  if (digits.empty())
    json.Null();
  else
    json.Raw(digits);
}

void WriteNameOrNull(JsonWriter& json, std::string_view key, std::string_view name) {
  json.Key(key);
  if (name.empty())
    json.Null();
  else
    json.Value(name);
}

}  // namespace

EventRow RowOf(const Delivery& delivery, const rules::Event& event, std::string_view tenant) {
  EventRow row;
  row.tenant = tenant;
  row.source = delivery.source;
  row.hook = delivery.hook;
  row.delivery_id = delivery.delivery_id;
  row.event = delivery.event;
  row.action = event.action;
  row.repository_id = event.repository_id;
  row.repository = event.repository;
  row.entity_type = event.entity.type;
  row.entity_id = event.entity.id;
  row.entity_previous = event.entity.previous;
  row.sender_id = event.sender_id;
  row.sender = event.sender;
  row.organization = event.organization;
  row.installation_id = event.installation_id;
  row.content_type = delivery.content_type;
  row.signature = delivery.signature;
  row.headers = delivery.headers;
  row.trace = delivery.trace;
  row.bytes = static_cast<std::int64_t>(delivery.body.size());
  return row;
}

std::string PayloadUrl(const EventRow& row) {
  return "/api/v1/webhooks/events/" + row.event_id.ToString() +
         (IsForm(row.content_type) ? "/payload?as=json" : "/payload");
}

std::string EnvelopeJson(const EventRow& row, const MessageContext& context,
                         std::string_view payload) {
  std::string out;
  out.reserve(payload.size() + 2'048);
  JsonWriter json(out);
  json.BeginObject().Field("event_id", row.event_id).Field("event_type", row.event).Key("action");
  if (row.action.empty())
    json.Null();
  else
    json.Value(row.action);
  json.Key("repository");
  if (row.repository_id.empty()) {
    json.Null();
  } else {
    json.BeginObject();
    WriteId(json, "id", row.repository_id);
    json.Field("full_name", row.repository).EndObject();
  }
  json.Key("entity").BeginObject().Field("type", row.entity_type).Field("id", row.entity_id);
  if (!row.entity_previous.empty()) json.Field("previous", row.entity_previous);
  json.EndObject().Key("sender");
  if (row.sender_id.empty()) {
    json.Null();
  } else {
    json.BeginObject();
    WriteId(json, "id", row.sender_id);
    json.Field("login", row.sender).EndObject();
  }
  WriteNameOrNull(json, "organization", row.organization);
  WriteId(json, "installation_id", row.installation_id);
  json.Key("received_at").Time(row.received_ms);
  if (!context.copy.empty()) json.Field("copy", context.copy);
  json.Key("properties")
      .BeginObject()
      .Field("event_type", row.event)
      .Field("repository", row.repository)
      .Field("entity_type", row.entity_type)
      .Field("session_scope", context.ordered ? "ordered" : "unordered")
      .Field("trace_id",
             row.trace.size() > 35 ? std::string_view(row.trace).substr(3, 32) : std::string_view())
      .Field("correlation_id", row.event_id)
      .Key("processed_at")
      .Time(context.processed_ms)
      .Field("github_delivery_id", row.delivery_id)
      .EndObject();
  json.Key("headers").Raw(base::ObjectOrEmpty(row.headers)).Key("payload");
  if (payload.empty())
    json.Null().Field("payload_url", PayloadUrl(row));
  else
    json.Raw(payload);
  json.EndObject();
  return out;
}

}  // namespace tenure::webhooks
