#include "seats/redis/redis_routes.hpp"

#include <utility>

#include "http/answering.hpp"
#include "http/json_fields.hpp"
#include "http/reason.hpp"
#include "http/route_group.hpp"
#include "seats/routes.hpp"

namespace tenure::seats {
namespace {

using base::JsonWriter;
using http::ExchangePtr;

constexpr const char* kRetire = "seat_ledger.retire";
/// As much of an identity as tells two of them apart.
constexpr std::size_t kShownDigits = 8;

void WriteEpoch(JsonWriter& json, const RedisEpoch& epoch, std::int64_t now_ms) {
  json.Field("keeps", epoch.identity ? "redis" : "store").Field("epoch", epoch.epoch);
  json.Key("redis");
  if (epoch.identity)
    json.Value(std::string_view(*epoch.identity).substr(0, kShownDigits));
  else
    json.Null();
  json.Key("frozen_until").TimeOrNull(epoch.frozen_ms > now_ms ? epoch.frozen_ms : 0);
  json.Key("last_used_at").TimeOrNull(epoch.used_ms);
}

void WriteProcess(JsonWriter& json, const RedisStanding& standing) {
  json.Field("uses", standing.uses)
      .Field("authority_seconds", standing.authority_ms / 1'000)
      .Field("trouble", std::string_view(standing.uses ? "" : standing.trouble));
}

std::string StandingJson(const RedisRouteParts& parts, const RedisEpoch& epoch,
                         std::int64_t now_ms) {
  std::string body;
  JsonWriter json(body);
  json.BeginObject().Field("configured", parts.round != nullptr);
  WriteEpoch(json, epoch, now_ms);
  WriteProcess(json, parts.round ? parts.round->standing()
                                 : RedisStanding{.trouble = "seats.redis.url is not set"});
  json.EndObject();
  return body;
}

void GetLedger(const RedisRouteParts& parts, const ExchangePtr& exchange) {
  http::ExpectNoQuery(exchange->request());
  parts.seats.ReadEpoch({}, exchange->caller(),
                        http::Answering(exchange, [parts](const EpochSeen& seen) {
                          return StandingJson(parts, seen.epoch, seen.now_ms);
                        }));
}

/// The store alone keeps heartbeats from now on, until the freeze is over.
void Retire(const RedisRouteParts& parts, const ExchangePtr& exchange) {
  if (!exchange->request().body.empty()) http::ExpectReasonAlone(exchange);
  parts.seats.ReadEpoch(
      {}, exchange->caller(),
      http::Answering(exchange, [parts](const ExchangePtr& to, const EpochSeen& seen) {
        if (!seen.epoch.identity)
          return to->ReplyJson(StandingJson(parts, seen.epoch, seen.now_ms));
        RaiseRequest request{seen.epoch.epoch, std::nullopt, 0, parts.rules,
                             ToText(Bump::Reason::kOperator)};
        parts.seats.RaiseRedisEpoch(
            std::move(request), http::Acting(to, kRetire),
            http::Answering(to, [parts, now_ms = seen.now_ms](const RaiseReply& reply) {
              if (parts.round && reply.raised) parts.round->Retired();
              return StandingJson(parts, reply.epoch, now_ms);
            }));
      }));
}

}  // namespace

void AddRedisRoutes(http::Router& router, const RedisRouteParts& parts) {
  using http::Method;
  http::RouteGroup<RedisRouteParts>(router, parts, {.path = "/api/v1", .rate_class = "seats"})
      .Add({{Method::kGet, "/seat-ledger", "getSeatLedger", kOperate, GetLedger},
            {Method::kPost,
             "/seat-ledger/retire",
             "retireSeatLedger",
             "admin",
             Retire,
             "",
             {kRetire}}});
}

void WriteRedisHealth(JsonWriter& json, const RedisStanding& standing) {
  json.Key("seat_ledger").BeginObject();
  WriteEpoch(json, standing.epoch, standing.store_ms);
  WriteProcess(json, standing);
  json.EndObject();
}

}  // namespace tenure::seats
