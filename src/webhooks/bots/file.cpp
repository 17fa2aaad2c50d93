#include "webhooks/bots/file.hpp"

#include <array>

#include "base/json_writer.hpp"
#include "base/time_text.hpp"

namespace tenure::webhooks::bots {
namespace {

using base::JsonWriter;
using rules::Scope;

template <class Patterns>
void WritePatterns(JsonWriter& json, std::string_view key, const Patterns& patterns) {
  json.Key(key).BeginArray();
  for (const auto& pattern : patterns) json.Value(pattern.text);
  json.EndArray();
}

void WriteSource(JsonWriter& json, const Source& source) {
  json.BeginObject()
      .Field("name", source.name)
      .Field("provider", "github")
      .Field("host", source.host)
      .Key("secrets")
      .BeginArray();
  for (const SecretPlace& place : source.secrets)
    json.BeginObject()
        .Field(place.kind == SecretPlace::Kind::kFile ? "file" : "env", place.name)
        .EndObject();
  json.EndArray();
  if (!source.allow_from.empty()) {
    json.Key("allow_from").BeginArray();
    for (const base::IpBlock& block : source.allow_from) json.Value(block.ToString());
    json.EndArray();
  }
  if (source.rate.limits()) json.Field("rate", base::RateText(source.rate));
  json.EndObject();
}

void WriteRoutes(JsonWriter& json, const std::vector<rules::Override>& routes) {
  json.Key("routes").BeginArray();
  for (const rules::Override& rule : routes) {
    json.BeginObject();
    WritePatterns(json, "events", rule.events);
    if (const auto* const kind = std::get_if<rules::Kind>(&rule.key))
      json.Field("entity", rules::ToText(*kind));
    else
      json.Field("key", std::get<rules::KeyTemplate>(rule.key).text());
    json.EndObject();
  }
  json.EndArray();
}

/// What decides the keys, and nothing else.
void WriteKeyRule(JsonWriter& json, const rules::Routing& routing) {
  json.Field("ordering_scope", rules::ToText(routing.scope));
  if (routing.scope == Scope::kNone) return;
  if (routing.session_key) json.Field("session_key", routing.session_key->text());
  if (!routing.routes.empty()) WriteRoutes(json, routing.routes);
  json.Field("checks", routing.checks_to_pull_requests ? "pull_requests" : "self");
}

void WriteBot(JsonWriter& json, const Bot& bot) {
  const rules::Routing& routing = bot.routing;
  const Limits& limits = bot.limits;
  const auto count = [&](std::string_view key, std::int64_t value) {
    if (value > 0) json.Field(key, value);
  };
  const auto span = [&](std::string_view key, std::int64_t ms) {
    json.Field(key, base::DurationText(ms));
  };
  json.BeginObject().Field("name", bot.name);
  WritePatterns(json, "events", routing.events);
  if (!routing.sources.empty()) {
    json.Key("sources").BeginArray();
    for (const std::string& source : routing.sources) json.Value(source);
    json.EndArray();
  }
  if (!routing.repositories.empty()) WritePatterns(json, "repositories", routing.repositories);
  WriteKeyRule(json, routing);
  if (routing.scope != Scope::kNone) {
    json.Field("fair_by", rules::ToText(routing.fair_by));
    count("max_concurrent_sessions", limits.max_concurrent_sessions);
    span("session_timeout", limits.session_timeout_ms);
    span("session_idle_timeout", limits.session_idle_timeout_ms);
    span("session_max_duration", limits.session_max_duration_ms);
    count("session_max_messages", limits.session_max_messages);
  }
  count("max_delivery_count", limits.max_delivery_count);
  span("retry_backoff", limits.retry_backoff_ms);
  span("retry_backoff_max", limits.retry_backoff_max_ms);
  json.Field("on_dead_letter", ToText(limits.on_dead_letter));
  if (limits.default_message_ttl_ms > 0) span("default_message_ttl", limits.default_message_ttl_ms);
  count("queue_depth_threshold", limits.queue_depth_threshold);
  count("max_size_in_megabytes", limits.max_size_in_megabytes);
  span("duplicate_detection_window", limits.duplicate_detection_window_ms);
  span("history", limits.history_ms);
  json.EndObject();
}

}  // namespace

std::string_view ToText(OnDeadLetter policy) {
  constexpr std::array<std::string_view, 3> kWords = {"park", "skip", "stop"};
  return kWords.at(static_cast<std::size_t>(policy));
}

std::string ToJson(const File& file) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject().Field("tenant", file.tenant).Key("sources").BeginArray();
  for (const Source& source : file.sources) WriteSource(json, source);
  json.EndArray().Key("bots").BeginArray();
  for (const Bot& bot : file.bots) WriteBot(json, bot);
  json.EndArray().EndObject();
  return out;
}

std::string KeyRuleOf(const rules::Routing& routing) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject();
  WriteKeyRule(json, routing);
  json.EndObject();
  return out;
}

}  // namespace tenure::webhooks::bots
