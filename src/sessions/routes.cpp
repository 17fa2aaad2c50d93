#include "sessions/routes.hpp"

#include <fmt/format.h>

#include "http/idempotency.hpp"
#include "http/json_fields.hpp"
#include "http/reply.hpp"
#include "sessions/json.hpp"

namespace tenure::sessions {
namespace {

using http::ExchangePtr;
using http::Problem;
using http::ProblemError;

Problem UnknownSession(const ExchangePtr& exchange) {
  return http::NotFound(
      fmt::format("There is no session {}.", exchange->request().path_parameters[0]));
}

/// With a token everything is confined to its tenant; without one any tenant may be named.
bool IsVisible(const ExchangePtr& exchange, const base::Uuid& tenant) {
  const auto& claimed = exchange->request().principal.tenant;
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

void ReplyPut(const ExchangePtr& exchange, db::Answer answer) {
  if (answer.status == 409) return exchange->Reply(ForeignSession());
  http::Response response =
      http::JsonResponse(static_cast<int>(answer.status), std::move(answer.body));
  if (!answer.location.empty())
    response.headers.emplace_back("Location", std::move(answer.location));
  exchange->Reply(std::move(response));
}

void ReplyOnce(const ExchangePtr& exchange, db::OnceReply reply) {
  switch (reply.status) {
    case db::OnceStatus::kAnswered:
      return ReplyPut(exchange, std::move(reply.answer));
    case db::OnceStatus::kOtherBody:
      return exchange->Reply(http::KeyOfAnotherRequest());
    case db::OnceStatus::kUnderWay:
      return exchange->Reply(http::KeyUnderWay());
  }
}

void Put(Sessions& sessions, const ExchangePtr& exchange) {
  const PutRequest request = DecodePut(exchange);
  if (auto key = http::FindIdempotencyKey(exchange->request(), "putSession")) {
    sessions.PutOnce(request, {std::move(key->name), std::move(key->body_hash)}, exchange->caller(),
                     [exchange](db::Result<db::OnceReply> result) {
                       if (!result.ok()) return exchange->Reply(result.fault());
                       ReplyOnce(exchange, std::move(result.value()));
                     });
    return;
  }
  sessions.Put(request, exchange->caller(), [exchange](db::Result<PutReply> result) {
    if (!result.ok()) return exchange->Reply(result.fault());
    ReplyPut(exchange, PutAnswer(result.value()));
  });
}

void Get(Sessions& sessions, const ExchangePtr& exchange) {
  sessions.Find(PathId(exchange), &exchange->executor(), [exchange](db::Result<FindReply> result) {
    if (!result.ok()) return exchange->Reply(result.fault());
    const FindReply& reply = result.value();
    if (!reply.session || !IsVisible(exchange, reply.session->tenant))
      return exchange->Reply(UnknownSession(exchange));
    exchange->Reply(http::JsonResponse(200, SessionJson(*reply.session, reply.now_ms)));
  });
}

/// An administrator may end what stands in another tenant's way (409 `held-by-another-tenant`).
bool MayEnd(const ExchangePtr& exchange, const base::Uuid& tenant) {
  return IsVisible(exchange, tenant) || exchange->request().principal.Has("admin");
}

/// Finds the key first: it decides the lane. A key never changes, so nothing can come in between.
void Delete(Sessions& sessions, const ExchangePtr& exchange) {
  sessions.Find(PathId(exchange), &exchange->executor(),
                [&sessions, exchange](db::Result<FindReply> result) {
                  if (!result.ok()) return exchange->Reply(result.fault());
                  const auto& session = result.value().session;
                  if (!session || !MayEnd(exchange, session->tenant))
                    return exchange->Reply(UnknownSession(exchange));
                  sessions.End({session->id, session->key}, exchange->caller(),
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
  if (const auto& claimed = exchange->request().principal.tenant) {
    // A tenant that is no UUID has no sessions: the list of the nil tenant is empty.
    const auto own = base::Uuid::Parse(*claimed).value_or(base::Uuid());
    // Somebody else's sessions are not forbidden, they are not there.
    list.tenant = !list.tenant || *list.tenant == own ? own : base::Uuid();
  }
  return list;
}

void List(Sessions& sessions, const ExchangePtr& exchange) {
  sessions.List(DecodeList(exchange), &exchange->executor(),
                [exchange](db::Result<ListReply> result) {
                  if (!result.ok()) return exchange->Reply(result.fault());
                  exchange->Reply(http::JsonResponse(200, ListJson(result.value())));
                });
}

}  // namespace

void AddRoutes(http::Router& router, Sessions& sessions) {
  using http::Method;
  const auto add = [&](Method method, std::string pattern, std::string operation, std::string scope,
                       void (*handle)(Sessions&, const ExchangePtr&)) {
    router.Add({method, std::move(pattern), std::move(operation), std::move(scope),
                [&sessions, handle](const ExchangePtr& exchange) { handle(sessions, exchange); }});
  };
  add(Method::kPut, "/sessions", "putSession", "sessions:write", Put);
  add(Method::kGet, "/sessions", "listSessions", "sessions:read", List);
  add(Method::kGet, "/sessions/{id}", "getSession", "sessions:read", Get);
  add(Method::kDelete, "/sessions/{id}", "deleteSession", "sessions:write", Delete);
}

}  // namespace tenure::sessions
