#include <fmt/format.h>

#include "base/base64.hpp"
#include "base/json_writer.hpp"
#include "queues/http/json.hpp"

namespace tenure::queues {

using base::JsonWriter;

std::string StateJson(const StateReply& reply) {
  std::string body;
  JsonWriter json(body);
  json.BeginObject();
  if (reply.state)
    json.Field("state_base64", std::string_view(base::EncodeBase64(*reply.state)));
  else
    json.Key("state_base64").Null();
  if (reply.fence > 0)
    json.Field("fence", reply.fence);
  else
    json.Key("fence").Null();
  json.Key("written_at").TimeOrNull(reply.written_ms);
  json.EndObject();
  return body;
}

std::string CursorOf(const Letter& letter) {
  return fmt::format("{}:{}:{}", letter.dead_ms, letter.place.session.ToString(),
                     letter.place.sequence);
}

std::string LettersJson(const db::Page<Letter>& page) {
  const auto write = [](JsonWriter& json, const Letter& letter) {
    json.BeginObject()
        .Field("id", letter.id)
        .Field("session", letter.place.session)
        .Field("key", std::string_view(letter.key))
        .Field("name", std::string_view(letter.name))
        .Field("sequence", letter.place.sequence)
        .Field("state", letter.parked ? "parked" : "skipped")
        .Field("death_reason", ToText(letter.reason))
        .Field("attempts", letter.attempts)
        .Field("error", std::string_view(letter.error))
        .Field("error_class", std::string_view(letter.error_class))
        .Key("died_at")
        .Time(letter.dead_ms);
    json.Key("replayed_at").TimeOrNull(letter.replayed_ms);
    json.Field("followers", letter.followers).Field("bytes", letter.bytes).EndObject();
  };
  return base::PageJson(page.rows, page.has_more, write, CursorOf);
}

std::string LetterSumsJson(const db::Page<LetterSum>& page) {
  std::string body;
  JsonWriter json(body);
  json.BeginObject().Key("items").BeginArray();
  for (const LetterSum& each : page.rows) {
    json.BeginObject()
        .Field("death_reason", ToText(each.reason))
        .Field("error_class", std::string_view(each.error_class))
        .Field("count", each.letters)
        .Field("sessions", each.sessions)
        .Key("oldest")
        .Time(each.oldest_ms);
    json.Key("newest").Time(each.newest_ms);
    json.EndObject();
  }
  json.EndArray().EndObject();
  return body;
}

std::string ChangedJson(std::int64_t found, std::int64_t changed, const std::string& next_cursor) {
  std::string body;
  JsonWriter json(body);
  json.BeginObject().Field("found", found).Field("changed", changed).Key("next_cursor");
  if (next_cursor.empty())
    json.Null();
  else
    json.Value(std::string_view(next_cursor));
  json.EndObject();
  return body;
}

std::string AgainJson(const AgainReply& reply) {
  return ChangedJson(reply.found, reply.changed, reply.next > 0 ? std::to_string(reply.next) : "");
}

std::optional<base::StoredAnswer> AgainAnswer(const AgainReply& reply) {
  if (reply.kind != SendReply::Kind::kSent) return std::nullopt;
  return base::StoredAnswer{200, AgainJson(reply), {}};
}

}  // namespace tenure::queues
