#include "base/json_writer.hpp"
#include "sessions/sessions.hpp"

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

std::optional<base::StoredAnswer> PutAnswer(const PutReply& reply) {
  if (reply.status == PutStatus::kForeign) return std::nullopt;
  base::StoredAnswer answer;
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
  const auto write = [&](JsonWriter& json, const Session& session) {
    WriteSession(json, session, reply.now_ms);
  };
  return base::PageJson(
      reply.rows, reply.has_more, write, [](const Session& last) { return last.id; }, "nextCursor");
}

}  // namespace tenure::sessions
