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

void WriteFields(JsonWriter& json, const EventRow& event) {
  json.Field("event_id", event.event_id)
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
  json.Key("headers").Raw(base::ObjectOrEmpty(event.headers));
}

void WriteEvent(JsonWriter& json, const EventRow& event) {
  WriteFields(json.BeginObject(), event);
  json.EndObject();
}

void WriteWay(JsonWriter& json, const Way& way) {
  json.BeginObject()
      .Field("bot", way.bot)
      .Field("message_id", way.message_id)
      .Field("state", ToText(way.state));
  if (way.session)
    json.Field("key", way.key)
        .Field("name", way.name)
        .Field("session", *way.session)
        .Field("sequence", way.sequence);
  if (!way.copy.empty()) json.Field("copy", way.copy);
  if (way.is_replay) json.Field("replay", true);
  json.EndObject();
}

/// Its hooks, and how many signatures were refused: of all processes, seconds old.
void WriteSeen(JsonWriter& json, std::string_view source, const HooksReply& seen) {
  std::int64_t refused = 0;
  for (const SourceRefusals& each : seen.refused)
    if (each.source == source) refused = each.count;
  json.Field("refused", refused).Key("hooks").BeginArray();
  for (const Hook& hook : seen.hooks) {
    if (hook.source != source) continue;
    json.BeginObject().Field("hook", hook.hook).Key("last_delivery_at");
    json.TimeOrNull(hook.delivered_ms).Key("last_ping_at").TimeOrNull(hook.pinged_ms).EndObject();
  }
  json.EndArray();
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

std::string FoundJson(const FindReply& found) {
  std::string out;
  JsonWriter json(out);
  WriteFields(json.BeginObject(), *found.event);
  json.Key("ways").BeginArray();
  for (const Way& way : found.ways) WriteWay(json, way);
  json.EndArray().EndObject();
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
  // Its members, without their braces.
  const std::string file =
      bots ? bots::ToJson(bots->file) : std::string(R"({"sources":[],"bots":[]})");
  json.Raw(std::string_view(file).substr(1, file.size() - 2)).EndObject();
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

std::string SourcesJson(const bots::File& file, const SecretKeeper& secrets,
                        const HooksReply& seen) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject().Key("items").BeginArray();
  for (const bots::Source& source : file.sources) {
    json.BeginObject()
        .Field("name", source.name)
        .Field("provider", "github")
        .Field("host", source.host)
        .Field("secrets", source.secrets.size())
        .Field("secrets_loaded", secrets.Of(source.name)->size());
    WriteSeen(json, source.name, seen);
    json.EndObject();
  }
  json.EndArray().EndObject();
  return out;
}

std::optional<base::StoredAnswer> ReplayAnswer(const ReplayReply& reply) {
  if (reply.kind == ReplayReply::Kind::kNoBot) return std::nullopt;
  return base::StoredAnswer{200, ReplayedJson(reply)};
}

std::string ReplayedJson(const ReplayReply& reply) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject().Field("found", reply.found).Field("changed", reply.changed);
  WriteTextOrNull(json, "next_cursor", reply.after > 0 ? std::to_string(reply.after) : "");
  json.EndObject();
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
