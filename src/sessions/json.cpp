#include "sessions/json.hpp"

#include "base/json_writer.hpp"

namespace tenure::sessions {
namespace {

using base::JsonWriter;

void WriteFields(JsonWriter& json, const Session& session, std::int64_t now_ms) {
  json.Field("sessionId", session.id)
      .Field("userObjectId", session.key.user)
      .Field("tenantObjectId", session.tenant)
      .Field("capacityId", session.key.capacity)
      .Field("sessionKind", static_cast<int>(session.kind));
  json.Key("sessionStartUtc").Time(session.start_ms);
  json.Key("sessionEndUtc").Time(session.end_ms);
  json.Field("isActive", session.IsActive(now_ms));
}

void WriteSession(JsonWriter& json, const Session& session, std::int64_t now_ms) {
  json.BeginObject();
  WriteFields(json, session, now_ms);
  if (const auto reason = session.ReasonAt(now_ms)) json.Field("endReason", ToText(*reason));
  json.EndObject();
}

std::string_view ToText(PutStatus status) {
  switch (status) {
    case PutStatus::kCreated:
      return "created";
    case PutStatus::kUpgraded:
      return "upgraded";
    default:
      return "existing";
  }
}

}  // namespace

db::Answer PutAnswer(const PutReply& reply) {
  if (reply.status == PutStatus::kForeign) return {409, "", ""};
  db::Answer answer;
  answer.status = reply.status == PutStatus::kExisting ? 200 : 201;
  if (answer.status == 201) answer.location = "/sessions/" + reply.session.id.ToString();
  answer.body.reserve(400);
  JsonWriter json(answer.body);
  json.BeginObject();
  WriteFields(json, reply.session, reply.now_ms);
  json.Field("status", ToText(reply.status));
  if (reply.previous) json.Field("previousSessionId", *reply.previous);
  json.EndObject();
  return answer;
}

std::string SessionJson(const Session& session, std::int64_t now_ms) {
  std::string out;
  JsonWriter json(out);
  WriteSession(json, session, now_ms);
  return out;
}

std::string ListJson(const ListReply& reply) {
  std::string out;
  JsonWriter json(out);
  json.BeginObject().Key("items").BeginArray();
  for (const Session& session : reply.sessions) WriteSession(json, session, reply.now_ms);
  json.EndArray().Key("nextCursor");
  if (reply.has_more)
    json.Value(reply.sessions.back().id);
  else
    json.Null();
  json.EndObject();
  return out;
}

}  // namespace tenure::sessions
