#include "jobs/fields.hpp"

#include "base/json_writer.hpp"
#include "base/time_text.hpp"

namespace tenure::jobs {
namespace {

template <class Value>
std::string JsonOf(const Value& value) {
  std::string out;
  base::JsonWriter(out).Value(value);
  return out;
}

std::string TimeJson(std::int64_t ms) {
  std::string out;
  base::JsonWriter(out).TimeOrNull(ms);
  return out;
}

std::string TextOrNull(std::string_view text) { return text.empty() ? "null" : JsonOf(text); }

}  // namespace

std::vector<std::pair<std::string_view, std::string>> FieldsOf(const Definition& definition) {
  const std::string every =
      definition.every_ms > 0 ? base::DurationText(definition.every_ms) : std::string();
  return {{"topic", JsonOf(std::string_view(definition.topic))},
          {"cron", TextOrNull(definition.cron)},
          {"every", TextOrNull(every)},
          {"time_zone", JsonOf(std::string_view(definition.zone))},
          {"priority", JsonOf(definition.priority)},
          {"enabled", JsonOf(definition.enabled)},
          {"missed", JsonOf(ToText(definition.missed))},
          {"missed_window_ms", JsonOf(definition.missed_window_ms)},
          {"missed_cap", JsonOf(definition.missed_cap)},
          {"overlap", JsonOf(ToText(definition.overlap))},
          {"gap", JsonOf(ToText(definition.gap))},
          {"repeat", JsonOf(ToText(definition.repeat))},
          {"jitter_ms", JsonOf(definition.jitter_ms)},
          {"starts_at", TimeJson(definition.starts_ms)},
          {"ends_at", TimeJson(definition.ends_ms)},
          {"watch", JsonOf(definition.watch)}};
}

std::string DifferencesJson(const Definition& before, const Definition& after) {
  const auto old_fields = FieldsOf(before);
  const auto new_fields = FieldsOf(after);
  std::string out;
  base::JsonWriter json(out);
  json.BeginObject().Key("old").BeginObject();
  for (std::size_t i = 0; i < old_fields.size(); ++i)
    if (old_fields[i].second != new_fields[i].second)
      json.Key(old_fields[i].first).Raw(old_fields[i].second);
  json.EndObject().Key("new").BeginObject();
  for (std::size_t i = 0; i < old_fields.size(); ++i)
    if (old_fields[i].second != new_fields[i].second)
      json.Key(new_fields[i].first).Raw(new_fields[i].second);
  json.EndObject();
  if (before.payload != after.payload) json.Field("payload_bytes", after.payload.size());
  if (before.headers != after.headers) json.Field("headers_bytes", after.headers.size());
  json.EndObject();
  return out;
}

}  // namespace tenure::jobs
