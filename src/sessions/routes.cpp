#include "sessions/routes.hpp"

#include <fmt/format.h>

#include "base/json_writer.hpp"
#include "http/idempotency.hpp"
#include "http/json_fields.hpp"
#include "http/reply.hpp"
#include "sessions/json.hpp"

namespace tenure::sessions {
namespace {

using http::ExchangePtr;
using http::Problem;
using http::ProblemError;

constexpr const char* kForeignAct = "session.foreign";
constexpr const char* kEndAct = "session.end";

/// What the routes need.
struct Parts {
  Sessions& sessions;
  audit::Refusals& refusals;
};

Problem UnknownSession(const ExchangePtr& exchange) {
  return http::NotFound(
      fmt::format("There is no session {}.", exchange->request().path_parameters[0]));
}

/// With a token everything is confined to its tenant; without one any tenant may be named.
bool IsVisible(const ExchangePtr& exchange, const base::Uuid& tenant) {
  const auto& claimed = exchange->request().principal->tenant;
  return !claimed || base::Uuid::Parse(*claimed) == tenant;
}

base::Uuid PathId(const ExchangePtr& exchange) {
  const auto id = base::Uuid::Parse(exchange->request().path_parameters[0]);
  // What is no id is no session's id.
  if (!id) throw ProblemError(UnknownSession(exchange));
  return *id;
}

PutRequest DecodePut(const ExchangePtr& exchange) {
  http::JsonFields fields(exchange->request().body);
  PutRequest put;
  put.key.user = fields.Uuid("userObjectId");
  put.tenant = fields.Uuid("tenantObjectId");
  put.key.capacity = fields.Uuid("capacityId");
  put.kind = static_cast<Kind>(fields.Integer("sessionKind", 1, 3));
  fields.Finish();
  if (!IsVisible(exchange, put.tenant))
    throw ProblemError({.status = 403,
                        .type = "forbidden-tenant",
                        .title = "Not your tenant",
                        .detail = "tenantObjectId is not the tenant of the token."});
  return put;
}

const Problem& ForeignSession() {
  static const Problem problem{
      .status = 409,
      .type = "held-by-another-tenant",
      .title = "Held by another tenant",
      .detail = "This user has an active session on this capacity under another tenant."};
  return problem;
}

/// Nothing was changed, and the look that found it holds no transaction: so the entry in the audit
/// is one of its own, and is summed up with others of the same asker (audit/refusals.hpp). The
/// body is read once more rather than kept for every request that is not refused.
void RefuseForeign(const Parts& parts, const ExchangePtr& exchange) {
  const PutRequest put = DecodePut(exchange);
  base::Actor actor = http::ActorOf(exchange, kForeignAct);
  actor.tenant = put.tenant.ToString();
  db::Deed deed{put.key.user.ToString(), ""};
  base::JsonWriter(deed.detail)
      .BeginObject()
      .Field("user", put.key.user)
      .Field("capacity", put.key.capacity)
      .EndObject();
  parts.refusals.Note(std::move(actor), std::move(deed), [exchange] {
    exchange->executor().Post([exchange] { exchange->Reply(ForeignSession()); });
  });
}

void ReplyPut(const ExchangePtr& exchange, db::Answer answer) {
  if (answer.status == 409) return exchange->Reply(ForeignSession());
  http::Response response =
      http::JsonResponse(static_cast<int>(answer.status), std::move(answer.body));
  if (!answer.location.empty())
    response.headers.emplace_back("Location", std::move(answer.location));
  exchange->Reply(std::move(response));
}

void ReplyOnce(const Parts& parts, const ExchangePtr& exchange, db::OnceReply reply) {
  switch (reply.status) {
    case db::OnceStatus::kAnswered:
      if (reply.carried_out && reply.answer.status == 409) return RefuseForeign(parts, exchange);
      return ReplyPut(exchange, std::move(reply.answer));
    case db::OnceStatus::kOtherBody:
      return exchange->Reply(http::KeyOfAnotherRequest());
    case db::OnceStatus::kUnderWay:
      return exchange->Reply(http::KeyUnderWay());
  }
}

void Put(const Parts& parts, const ExchangePtr& exchange) {
  const PutRequest request = DecodePut(exchange);
  if (auto key = http::FindIdempotencyKey(exchange->request(), "putSession")) {
    parts.sessions.PutOnce(request, {std::move(key->name), std::move(key->body_hash)},
                           exchange->caller(), [parts, exchange](db::Result<db::OnceReply> result) {
                             if (!result.ok()) return exchange->Reply(result.fault());
                             ReplyOnce(parts, exchange, std::move(result.value()));
                           });
    return;
  }
  parts.sessions.Put(request, exchange->caller(), [parts, exchange](db::Result<PutReply> result) {
    if (!result.ok()) return exchange->Reply(result.fault());
    if (result.value().status == PutStatus::kForeign) return RefuseForeign(parts, exchange);
    ReplyPut(exchange, PutAnswer(result.value()));
  });
}

void Get(const Parts& parts, const ExchangePtr& exchange) {
  parts.sessions.Find(
      PathId(exchange), &exchange->executor(), [exchange](db::Result<FindReply> result) {
        if (!result.ok()) return exchange->Reply(result.fault());
        const FindReply& reply = result.value();
        if (!reply.session || !IsVisible(exchange, reply.session->tenant))
          return exchange->Reply(UnknownSession(exchange));
        exchange->Reply(http::JsonResponse(200, SessionJson(*reply.session, reply.now_ms)));
      });
}

/// An administrator may end what stands in another tenant's way (409 `held-by-another-tenant`).
bool MayEnd(const ExchangePtr& exchange, const base::Uuid& tenant) {
  return IsVisible(exchange, tenant) || exchange->request().principal->Has("admin");
}

/// Finds the key first: it decides the lane. A key never changes, so nothing can come in between.
void Delete(const Parts& parts, const ExchangePtr& exchange) {
  parts.sessions.Find(
      PathId(exchange), &exchange->executor(), [parts, exchange](db::Result<FindReply> result) {
        if (!result.ok()) return exchange->Reply(result.fault());
        const auto& session = result.value().session;
        if (!session || !MayEnd(exchange, session->tenant))
          return exchange->Reply(UnknownSession(exchange));
        const bool own = IsVisible(exchange, session->tenant);
        parts.sessions.End({session->id, session->key},
                           own ? exchange->caller() : http::Acting(exchange, kEndAct),
                           [exchange](db::Result<EndReply> ended) {
                             if (!ended.ok()) return exchange->Reply(ended.fault());
                             exchange->Reply(http::JsonResponse(204, ""));
                           });
      });
}

ListRequest DecodeList(const ExchangePtr& exchange) {
  http::QueryFields fields(exchange->request().query);
  ListRequest list;
  list.user = fields.Uuid("userObjectId");
  list.tenant = fields.Uuid("tenantObjectId");
  list.capacity = fields.Uuid("capacityId");
  list.active = fields.Flag("active");
  list.limit = fields.Integer("limit", 1, 1'000).value_or(100);
  list.after = fields.Uuid("cursor");
  fields.Finish();
  if (const auto& claimed = exchange->request().principal->tenant) {
    // A tenant that is no UUID has no sessions: the list of the nil tenant is empty.
    const auto own = base::Uuid::Parse(*claimed).value_or(base::Uuid());
    // Somebody else's sessions are not forbidden, they are not there.
    list.tenant = !list.tenant || *list.tenant == own ? own : base::Uuid();
  }
  return list;
}

void List(const Parts& parts, const ExchangePtr& exchange) {
  parts.sessions.List(DecodeList(exchange), &exchange->executor(),
                      [exchange](db::Result<ListReply> result) {
                        if (!result.ok()) return exchange->Reply(result.fault());
                        exchange->Reply(http::JsonResponse(200, ListJson(result.value())));
                      });
}

}  // namespace

void AddRoutes(http::Router& router, Sessions& sessions, audit::Refusals& refusals) {
  using http::Method;
  const Parts parts{sessions, refusals};
  const auto add = [&](Method method, std::string pattern, std::string operation, std::string scope,
                       void (*handle)(const Parts&, const ExchangePtr&),
                       std::vector<std::string> acts = {}) {
    router.Add(
        {.method = method,
         .pattern = std::move(pattern),
         .operation = std::move(operation),
         .scope = std::move(scope),
         .handler = [parts, handle](const ExchangePtr& exchange) { handle(parts, exchange); },
         .acts = std::move(acts)});
  };
  add(Method::kPut, "/sessions", "putSession", "sessions:write", Put, {kForeignAct});
  add(Method::kGet, "/sessions", "listSessions", "sessions:read", List);
  add(Method::kGet, "/sessions/{id}", "getSession", "sessions:read", Get);
  add(Method::kDelete, "/sessions/{id}", "deleteSession", "sessions:write", Delete, {kEndAct});
}

}  // namespace tenure::sessions
