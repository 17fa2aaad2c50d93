#include "seats/json.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/json_text.hpp"
#include "http/json_value.hpp"

namespace tenure::seats {
namespace {

using base::JsonWriter;

std::int64_t Left(std::int64_t expires_ms, std::int64_t now_ms) {
  return std::max<std::int64_t>(0, expires_ms - now_ms);
}

void WriteLost(JsonWriter& json, const base::Uuid& session, std::string_view reason,
               std::int64_t beat_ms) {
  json.BeginObject().Field("session_id", session).Field("reason", reason);
  if (beat_ms > 0) json.Key("last_heartbeat_at").Time(beat_ms);
  json.EndObject();
}

/// Nothing where there are none.
template <class Outcome>
void WriteThoseThat(JsonWriter& json, std::string_view are, const std::vector<base::Uuid>& sessions,
                    const std::vector<HeartbeatOutcome>& outcomes) {
  bool any = false;
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    if (!std::holds_alternative<Outcome>(outcomes[i])) continue;
    if (!std::exchange(any, true)) json.Key(are).BeginArray();
    json.Value(sessions[i]);
  }
  if (any) json.EndArray();
}

/// Metadata is a JSON object that was checked when it came in.
void WriteObject(JsonWriter& json, std::string_view name, const std::string& object) {
  json.Key(name).Raw(base::ObjectOrEmpty(object));
}

struct KeptOf {
  std::optional<base::StoredAnswer> operator()(const AcquireOutcome& outcome) const {
    const auto* grant = std::get_if<Grant>(&outcome);
    if (!grant) return std::nullopt;
    return base::StoredAnswer{.status = grant->resumed ? 200 : 201, .body = GrantJson(*grant)};
  }
  std::optional<base::StoredAnswer> operator()(const RevokeSeatOutcome& outcome) const {
    if (!outcome.holding) return std::nullopt;
    return base::StoredAnswer{.status = 200, .body = HoldingJson(*outcome.holding)};
  }
  std::optional<base::StoredAnswer> operator()(const AdminOutcome& outcome) const {
    if (outcome.kind != AdminOutcome::Kind::kDone) return std::nullopt;
    return base::StoredAnswer{
        .status = 200,
        .body = LicenseJson(outcome.license, {outcome.offered, outcome.waiting}, outcome.now_ms)};
  }
  std::optional<base::StoredAnswer> operator()(const auto&) const { return std::nullopt; }
};

}  // namespace

std::string_view StateOf(const Holding& holding) {
  const SeatRow& row = holding.row;
  if (holding.end && !row.open) return "ended";
  if (row.open) return "lapsed";
  if (row.revoked) return "revoked";
  return std::max(row.expires_ms, row.horizon_ms) > holding.now_ms ? "active" : "lapsed";
}

std::string GrantJson(const Grant& grant) {
  std::string body;
  body.reserve(400);
  JsonWriter json(body);
  json.BeginObject().Field("session_id", grant.session);
  json.Key("started_at").Time(grant.started_ms);
  json.Key("expires_at").Time(grant.expires_ms);
  json.Field("seats_used", grant.used)
      .Field("seats_remaining", grant.remaining)
      .Field("heartbeat_interval_seconds", grant.interval_ms / 1'000)
      .Field("license_id", grant.license)
      .Field("fence", grant.fence)
      .Field("remaining_ms", Left(grant.expires_ms, grant.now_ms))
      .Field("waited_ms", grant.waited_ms)
      .EndObject();
  return body;
}

std::string GrantAgain(std::string_view kept, std::int64_t remaining_ms) {
  std::string body(kept);
  const auto replace = [&](std::string_view name, std::int64_t number) {
    const std::string key = fmt::format("\"{}\":", name);
    const std::size_t found = body.find(key);
    if (found == std::string::npos) return;
    const std::size_t first = found + key.size();
    const std::size_t last = std::min(body.find_first_not_of("0123456789", first), body.size());
    body.replace(first, last - first, std::to_string(number));
  };
  replace("remaining_ms", std::max<std::int64_t>(0, remaining_ms));
  replace("waited_ms", 0);
  return body;
}

std::optional<base::Uuid> SessionOfGrant(std::string_view kept) {
  const auto grant = http::JsonValue::Parse(kept);
  const auto session = grant ? grant->TextOf("session_id") : std::nullopt;
  return session ? base::Uuid::Parse(*session) : std::nullopt;
}

std::string WithKey(std::string_view body, std::string_view license_key) {
  std::string with;
  JsonWriter json(with);
  json.BeginObject().Field("license_key", license_key);
  with += ',';
  with += body.substr(1);
  return with;
}

std::string WaitingJson(const Waiting& waiting) {
  std::string body;
  JsonWriter json(body);
  json.BeginObject().Field("ticket", waiting.ticket).Field("position", waiting.position);
  json.Key("expires_at").Time(waiting.expires_ms).EndObject();
  return body;
}

std::string BeatJson(const base::Uuid& session, const Beat& beat, std::int64_t now_ms) {
  std::string body;
  body.reserve(250);
  JsonWriter json(body);
  json.BeginObject().Field("session_id", session);
  json.Key("last_heartbeat_at").Time(beat.beat_ms);
  json.Key("expires_at").Time(beat.expires_ms);
  json.Field("status", "active").Field("remaining_ms", Left(beat.expires_ms, now_ms));
  if (beat.revived) json.Field("revived", true);
  json.EndObject();
  return body;
}

std::string BeatsJson(const std::vector<base::Uuid>& sessions,
                      const std::vector<HeartbeatOutcome>& outcomes, std::int64_t now_ms) {
  std::string body;
  body.reserve(sessions.size() * 140 + 40);
  JsonWriter json(body);
  json.BeginObject().Key("alive").BeginArray();
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    const auto* beat = std::get_if<Beat>(&outcomes[i]);
    if (!beat) continue;
    json.BeginObject().Field("session_id", sessions[i]);
    json.Key("expires_at").Time(beat->expires_ms);
    json.Field("remaining_ms", Left(beat->expires_ms, now_ms)).EndObject();
  }
  json.EndArray().Key("lost").BeginArray();
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    if (const auto* lost = std::get_if<Lost>(&outcomes[i]))
      WriteLost(json, sessions[i], ToText(lost->reason), lost->beat_ms);
    else if (std::holds_alternative<NoSession>(outcomes[i]))
      WriteLost(json, sessions[i], "unknown", 0);
  }
  json.EndArray();
  // Neither alive nor lost, their holders go on until their own deadlines: a store that was restored does
  // not know them, or their licence could not be asked.
  WriteThoseThat<Forgotten>(json, "unknown_after_restore", sessions, outcomes);
  WriteThoseThat<Unheard>(json, "ask_again", sessions, outcomes);
  json.EndObject();
  return body;
}

std::string TicketJson(const TicketView& view) {
  std::string body;
  JsonWriter json(body);
  const bool offered = view.row.slot.has_value();
  json.BeginObject()
      .Field("ticket", view.row.id)
      .Field("license_id", view.license)
      .Field("machine_id", std::string_view(view.row.machine))
      .Field("state", offered ? "offered" : "waiting")
      .Field("position", view.position);
  json.Key("expires_at").Time(offered ? view.offer_ends_ms : view.row.expires_ms);
  if (offered) json.Key("offer_expires_at").Time(view.offer_ends_ms);
  json.EndObject();
  return body;
}

void WriteHolding(JsonWriter& json, const Holding& holding) {
  const SeatRow& row = holding.row;
  json.BeginObject();
  if (row.session) json.Field("session_id", *row.session);
  json.Field("license_id", holding.license)
      .Field("state", StateOf(holding))
      .Field("machine_id", std::string_view(row.machine.value_or("")))
      .Field("person", std::string_view(row.person))
      .Field("slot", row.slot)
      .Field("fence", row.fence);
  json.Key("started_at").TimeOrNull(row.started_ms);
  json.Key("last_heartbeat_at").TimeOrNull(std::max(row.beat_ms, holding.redis_beat_ms));
  json.Key("expires_at").TimeOrNull(row.expires_ms);
  json.Field("ip_address", std::string_view(row.address))
      .Field("user_agent", std::string_view(row.user_agent));
  WriteObject(json, "metadata", row.metadata);
  if (row.is_held() && row.horizon_ms > std::max(row.expires_ms, holding.now_ms)) {
    json.Key("horizon").Time(row.horizon_ms);
    if (holding.redis_ms > 0) json.Key("redis_until").Time(holding.redis_ms);
  }
  if (row.prior_ms > holding.now_ms) json.Key("prior_until").Time(row.prior_ms);
  if (holding.end) {
    json.Key("ended_at").TimeOrNull(holding.ended_ms);
    json.Field("end_reason", ToText(*holding.end));
  }
  json.EndObject();
}

std::string HoldingJson(const Holding& holding) {
  std::string body;
  JsonWriter json(body);
  WriteHolding(json, holding);
  return body;
}

void WriteLicense(JsonWriter& json, const LicenseRow& license, const LineCounts& line,
                  std::int64_t now_ms) {
  LogHash head{};
  std::copy_n(license.log_hash.begin(), std::min(head.size(), license.log_hash.size()),
              head.begin());
  json.Field("id", license.id)
      .Field("organization", std::string_view(license.tenant))
      .Field("name", std::string_view(license.name))
      .Field("key_hint", std::string_view(license.key_hint))
      .Field("seats", license.seats)
      .Field("seats_used", license.held)
      .Field("seats_offered", line.offered)
      .Field("seats_remaining", std::max<std::int64_t>(0, license.seats - license.held))
      .Field("draining", license.row_count > license.seats)
      .Field("waiting", line.waiting)
      .Field("state", ToText(license.StandingAt(now_ms)))
      .Field("ttl_seconds", license.ttl_ms / 1'000)
      .Field("heartbeat_interval_seconds", license.interval_ms / 1'000)
      .Field("grace_seconds", license.grace_ms / 1'000);
  json.Key("valid_from").TimeOrNull(license.valid_from_ms);
  json.Key("valid_until").TimeOrNull(license.valid_until_ms);
  WriteObject(json, "metadata", license.metadata);
  json.Key("created_at").Time(license.created_ms);
  json.Field("revision", license.revision);
  json.Key("log").BeginObject();
  json.Field("entries", license.log_seq - license.log_base + 1)
      .Field("first", license.log_base)
      .Field("head", std::string_view(HexOf(head)))
      .EndObject();
}

std::string LicenseJson(const LicenseRow& license, const LineCounts& line, std::int64_t now_ms) {
  std::string body;
  JsonWriter json(body);
  json.BeginObject();
  WriteLicense(json, license, line, now_ms);
  json.EndObject();
  return body;
}

std::optional<base::StoredAnswer> KeptAnswer(const Outcome& outcome) {
  return std::visit(KeptOf(), outcome);
}

std::optional<base::StoredAnswer> KeptCreation(const CreateReply& reply) {
  if (!reply.license) return std::nullopt;
  base::StoredAnswer answer{.status = 201,
                            .location = "/api/v1/licenses/" + reply.license->id.ToString()};
  JsonWriter json(answer.body);
  json.BeginObject().Key("license_key").Null();
  WriteLicense(json, *reply.license, {}, reply.now_ms);
  json.EndObject();
  return answer;
}

}  // namespace tenure::seats
