#include "webhooks/json.hpp"

#include "base/json_text.hpp"
#include "base/json_writer.hpp"

namespace tenure::webhooks {
namespace {

using base::JsonWriter;

void WriteTextOrNull(JsonWriter& json, std::string_view key, std::string_view text) {
  json.Key(key);
  if (text.empty())
    json.Null();
  else
    json.Value(text);
}

void WriteEvent(JsonWriter& json, const EventRow& event) {
  json.BeginObject()
      .Field("event_id", event.event_id)
      .Field("number", event.number)
      .Field("source", event.source)
      .Field("hook", event.hook)
      .Field("delivery_id", event.delivery_id)
      .Field("event", event.event);
  WriteTextOrNull(json, "action", event.action);
  WriteTextOrNull(json, "repository", event.repository);
  json.Key("entity").BeginObject().Field("type", event.entity_type).Field("id", event.entity_id);
  if (!event.entity_previous.empty()) json.Field("previous", event.entity_previous);
  json.EndObject();
  WriteTextOrNull(json, "sender", event.sender);
  WriteTextOrNull(json, "organization", event.organization);
  WriteTextOrNull(json, "installation_id", event.installation_id);
  json.Key("received_at").Time(event.received_ms);
  json.Field("bytes", event.bytes).Field("messages", event.messages);
  WriteTextOrNull(json, "traceparent", event.trace);
  json.Key("headers").Raw(base::ObjectOrEmpty(event.headers)).EndObject();
}

void WritePlaces(JsonWriter& json, const rules::Routed& routed) {
  json.Key("sessions").BeginArray();
  for (const rules::Place& place : routed.places) {
    if (place.key.empty()) continue;  // its messages keep no order
    json.BeginObject()
        .Field("key", place.key)
        .Field("name", place.name)
        .Field("entity_type", place.type)
        .EndObject();
  }
  json.EndArray();
}

}  // namespace

std::string EventJson(const EventRow& event) {
  std::string out;
  JsonWriter json(out);
  WriteEvent(json, event);
  return out;
}

std::string EventsJson(const db::Page<EventRow>& page) {
  return base::PageJson(page.rows, page.has_more, WriteEvent,
                        [](const EventRow& last) { return std::to_string(last.number); });
}

std::string BotsJson(const TenantBots* bots) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject().Field("revision", bots ? bots->revision : 0).Key("applied_at");
  json.TimeOrNull(bots ? bots->applied_ms : 0);
  WriteTextOrNull(json, "applied_by", bots ? bots->person : "");
  json.Key("file").Raw(bots ? bots::ToJson(bots->file) : R"({"sources":[],"bots":[]})").EndObject();
  return out;
}

std::string AppliedJson(const ApplyReply& reply, const std::vector<std::string>& warnings) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject().Field("revision", reply.revision).Key("changes").BeginArray();
  for (const bots::Change& change : reply.changes)
    json.BeginObject()
        .Field("what", bots::ToText(change.what))
        .Field("name", change.name)
        .Field("detail", change.detail)
        .EndObject();
  json.EndArray().Key("warnings").BeginArray();
  for (const std::string& warning : warnings) json.Value(warning);
  json.EndArray().EndObject();
  return out;
}

std::string SourcesJson(const TenantBots* bots, const SecretKeeper& secrets) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject().Key("items").BeginArray();
  if (bots)
    for (const bots::Source& source : bots->file.sources)
      json.BeginObject()
          .Field("name", source.name)
          .Field("provider", "github")
          .Field("host", source.host)
          .Field("secrets", source.secrets.size())
          .Field("secrets_loaded", secrets.Of(source.name)->size())
          .EndObject();
  json.EndArray().EndObject();
  return out;
}

std::string ExplainedJson(const rules::Event& event, const TenantBots* bots) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject().Field("event", event.origin.event);
  WriteTextOrNull(json, "action", event.action);
  WriteTextOrNull(json, "repository", event.repository);
  json.Key("entity")
      .BeginObject()
      .Field("type", event.entity.type)
      .Field("id", event.entity.id)
      .EndObject()
      .Key("bots")
      .BeginArray();
  if (bots)
    for (const bots::Bot& bot : bots->file.bots) {
      const rules::Match match = rules::Matches(bot.routing, event);
      json.BeginObject()
          .Field("bot", bot.name)
          .Field("matched", match.matches)
          .Field("why", match.why);
      if (match.matches) {
        const rules::Routed routed = rules::Route(bot.routing, event);
        json.Field("rule", routed.rule).Field("fell_back", routed.fell_back);
        WriteTextOrNull(json, "share", routed.share);
        WritePlaces(json, routed);
      }
      json.EndObject();
    }
  json.EndArray().EndObject();
  return out;
}

}  // namespace tenure::webhooks
