#include <fmt/format.h>

#include "audit/refusals.hpp"
#include "base/json_writer.hpp"
#include "http/answering.hpp"
#include "http/json_fields.hpp"
#include "http/order.hpp"
#include "http/reason.hpp"
#include "http/route_group.hpp"
#include "sessions/capability.hpp"
#include "sessions/explain.hpp"
#include "sessions/sessions.hpp"

namespace tenure::sessions {
namespace {

using http::Answering;
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
  if (put.tenant == base::Uuid())
    http::RefuseField("tenantObjectId", "must not be the nil UUID, which is nobody's");
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
/// is one of its own, and is summed up with others of the same asker (audit/refusals.hpp).
void RefuseForeign(const Parts& parts, const ExchangePtr& exchange, const PutRequest& put) {
  base::Actor actor = http::ActorOf(exchange, kForeignAct);
  actor.tenant = put.tenant.ToString();
  db::AuditEvent event{put.key.user.ToString(), ""};
  base::JsonWriter(event.detail)
      .BeginObject()
      .Field("user", put.key.user)
      .Field("capacity", put.key.capacity)
      .EndObject();
  parts.refusals.Note(std::move(actor), std::move(event), [exchange] {
    exchange->executor().Post([exchange] { exchange->Reply(ForeignSession()); });
  });
}

void Put(const Parts& parts, const ExchangePtr& exchange) {
  const PutRequest request = DecodePut(exchange);
  const auto answer = [parts, request](const ExchangePtr& to, const PutReply& reply) {
    if (auto told = PutAnswer(reply)) return http::ReplyMade(to, *std::move(told));
    RefuseForeign(parts, to, request);
  };
  if (auto key = http::FindIdempotencyKey(exchange))
    return parts.sessions.PutOnce({request, *std::move(key)}, exchange->caller(),
                                  http::AnsweringOnce(exchange, answer));
  parts.sessions.Put(request, exchange->caller(), Answering(exchange, answer));
}

void Get(const Parts& parts, const ExchangePtr& exchange) {
  parts.sessions.Find({PathId(exchange)}, &exchange->executor(),
                      Answering(exchange, [](const ExchangePtr& to, const FindReply& reply) {
                        if (!reply.session || !IsVisible(to, reply.session->tenant))
                          return to->Reply(UnknownSession(to));
                        to->ReplyJson(SessionJson(*reply.session, reply.now_ms));
                      }));
}

void SayWhy(const Parts& parts, const ExchangePtr& exchange) {
  http::ExpectNoQuery(exchange->request());
  parts.sessions.Find({PathId(exchange)}, &exchange->executor(),
                      Answering(exchange, [](const ExchangePtr& to, const FindReply& reply) {
                        if (!reply.session || !IsVisible(to, reply.session->tenant))
                          return to->Reply(UnknownSession(to));
                        to->ReplyJson(explain::ToJson(Explain(*reply.session, reply.now_ms),
                                                      *to->request().principal));
                      }));
}

/// An administrator may end what stands in another tenant's way (409 `held-by-another-tenant`).
bool MayEnd(const ExchangePtr& exchange, const base::Uuid& tenant) {
  return IsVisible(exchange, tenant) || exchange->request().principal->Has("admin");
}

/// Finds the key first: it decides the lane. A key never changes, so nothing can come in between.
void Delete(const Parts& parts, const ExchangePtr& exchange) {
  http::ExpectQueryReasonAlone(exchange);
  parts.sessions.Find({PathId(exchange)}, &exchange->executor(),
                      Answering(exchange, [parts](const ExchangePtr& to, const FindReply& reply) {
                        const auto& session = reply.session;
                        if (!session || !MayEnd(to, session->tenant))
                          return to->Reply(UnknownSession(to));
                        // A program ends sessions of its tenant by the thousand, a person says why.
                        const bool own = IsVisible(to, session->tenant);
                        parts.sessions.End(
                            {session->id, session->key},
                            own && to->reason().empty() ? to->caller() : http::Acting(to, kEndAct),
                            Answering(to, [](const ExchangePtr& who, const EndReply&) {
                              who->Reply(http::Response{.status = 204});
                            }));
                      }));
}

/// Nothing: whatever is asked for, nobody who asks so may see any of it.
std::optional<ListRequest> DecodeList(const ExchangePtr& exchange) {
  http::QueryFields fields(exchange->request().query);
  ListRequest list;
  list.user = fields.Uuid("userObjectId");
  list.tenant = fields.Uuid("tenantObjectId");
  list.capacity = fields.Uuid("capacityId");
  list.active = fields.Flag("active");
  list.limit = fields.PageLimit();
  list.after = fields.Uuid("cursor");
  list.newest_first = http::ReadDescending(fields);
  fields.Finish();
  if (const auto& claimed = exchange->request().principal->tenant) {
    const auto own = base::Uuid::Parse(*claimed);
    // A tenant that is no UUID has no sessions. Somebody else's are not forbidden, they are not
    // there.
    if (!own || (list.tenant && list.tenant != own)) return std::nullopt;
    list.tenant = own;
  }
  return list;
}

void List(const Parts& parts, const ExchangePtr& exchange) {
  const auto request = DecodeList(exchange);
  if (!request) return exchange->ReplyJson(ListJson({}));
  parts.sessions.List(*request, &exchange->executor(), Answering(exchange, ListJson));
}

}  // namespace

void AddRoutes(http::Router& router, Sessions& sessions, audit::Refusals& refusals) {
  using http::Method;
  http::RouteGroup<Parts>(router, {sessions, refusals},
                          {.path = "/sessions", .rate_class = "sessions"})
      .Add({{Method::kPut, "", "putSession", "sessions:write", Put, "", {kForeignAct}},
            {Method::kGet, "", "listSessions", "sessions:read", List},
            {Method::kGet, "/{id}", "getSession", "sessions:read", Get},
            {Method::kDelete, "/{id}", "deleteSession", "sessions:write", Delete, "", {kEndAct}}});
  http::RouteGroup<Parts>(router, {sessions, refusals},
                          {.path = "/api/v1/why/session", .rate_class = "sessions"})
      .Add({{Method::kGet, "/{id}", "whySession", "sessions:read", SayWhy}});
}

}  // namespace tenure::sessions
