#include "messages/deeds.hpp"

#include <algorithm>

#include "base/json_writer.hpp"

namespace tenure::messages {
namespace {

using base::JsonWriter;

constexpr std::size_t kMostNamed = 100;

/// What a topic is like for those who use it, as JSON values by name.
struct Shown {
  std::string_view name;
  std::string value;
};
std::string Json(std::string_view text) {
  std::string json;
  JsonWriter(json).Value(text);
  return json;
}
std::vector<Shown> Show(const TopicRow& topic) {
  const TopicSettings& settings = topic.settings;
  return {{"max_attempts", std::to_string(settings.max_attempts)},
          {"max_crashes", std::to_string(settings.max_crashes)},
          {"lease_ms", std::to_string(settings.lease_ms)},
          {"retention_ms", std::to_string(settings.retention_ms)},
          {"backoff_ms", std::to_string(settings.backoff_ms)},
          {"backoff_max_ms", std::to_string(settings.backoff_max_ms)},
          {"dedup_ms", std::to_string(settings.dedup_ms)},
          {"paused", topic.paused_ms > 0 ? "true" : "false"},
          {"reason", Json(topic.paused_reason)}};
}

TopicRow Changed(TopicRow topic, const TopicChange& change) {
  const TopicSettings defaults;
  const auto set = [&](std::int64_t TopicSettings::*member,
                       const std::optional<std::int64_t>& value) {
    if (value) topic.settings.*member = *value < 0 ? defaults.*member : *value;
  };
  set(&TopicSettings::max_attempts, change.max_attempts);
  set(&TopicSettings::max_crashes, change.max_crashes);
  set(&TopicSettings::lease_ms, change.lease_ms);
  set(&TopicSettings::retention_ms, change.retention_ms);
  set(&TopicSettings::backoff_ms, change.backoff_ms);
  set(&TopicSettings::backoff_max_ms, change.backoff_max_ms);
  set(&TopicSettings::dedup_ms, change.dedup_ms);
  if (change.paused) {
    topic.paused_ms = *change.paused ? 1 : 0;
    topic.paused_reason = change.paused_reason;
  }
  return topic;
}

}  // namespace

db::Deed DeedOf(const DeadChangeRequest& request, const Letters& letters) {
  const std::string& topic = letters.topics.front();
  const bool of_one_topic =
      std::ranges::all_of(letters.topics, [&](const std::string& each) { return each == topic; });
  db::Deed deed{of_one_topic ? topic : "", ""};
  JsonWriter json(deed.detail);
  json.BeginObject().Field("letters", letters.ids.size());
  if (request.filter.ids.empty()) {
    if (!request.filter.topic.empty()) json.Field("topic", std::string_view(request.filter.topic));
    if (request.filter.reason) json.Field("reason", ToText(*request.filter.reason));
  }
  if (request.delay_ms > 0) json.Field("delay_ms", request.delay_ms);
  if (request.rate > 0) json.Field("rate", request.rate);
  json.Key("ids").BeginArray();
  for (std::size_t i = 0; i < std::min(letters.ids.size(), kMostNamed); ++i)
    json.Value(letters.ids[i]);
  json.EndArray().EndObject();
  return deed;
}

std::optional<db::Deed> DeedOf(const TopicChange& change, const TopicRow& before) {
  const std::vector<Shown> old_values = Show(before);
  const std::vector<Shown> new_values = Show(Changed(before, change));
  std::vector<std::size_t> different;
  for (std::size_t i = 0; i < old_values.size(); ++i)
    if (old_values[i].value != new_values[i].value) different.push_back(i);
  if (different.empty()) return std::nullopt;
  db::Deed deed{change.name, ""};
  JsonWriter json(deed.detail);
  json.BeginObject();
  for (const auto& [key, values] : {std::pair{"old", &old_values}, std::pair{"new", &new_values}}) {
    json.Key(key).BeginObject();
    for (const std::size_t i : different) json.Key((*values)[i].name).Raw((*values)[i].value);
    json.EndObject();
  }
  json.EndObject();
  return deed;
}

}  // namespace tenure::messages
