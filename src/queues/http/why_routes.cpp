// Why a queue, or a session of one, does not move.
#include "http/json_fields.hpp"
#include "http/route_group.hpp"
#include "queues/explain.hpp"
#include "queues/http/problems.hpp"
#include "queues/http/routes.hpp"

namespace tenure::queues {
namespace {

using http::Answering;
using http::ExchangePtr;
using http::Method;

void SayWhyQueue(const RouteParts& parts, const ExchangePtr& exchange) {
  http::ExpectNoQuery(exchange->request());
  QueuesRequest request;
  request.tenant = http::TenantOf(exchange);
  request.name = QueueOf(exchange);
  request.limit = 1;
  parts.queues.List(
      std::move(request), exchange->caller(),
      Answering(exchange, [](const ExchangePtr& to, const db::Page<QueueView>& page) {
        if (page.rows.empty()) return to->Reply(UnknownQueue(to));
        to->ReplyJson(explain::ToJson(Explain(page.rows.front()), *to->request().principal));
      }));
}

/// By its id alone: the queue is looked up first. A session never changes its queue, so nothing can
/// come in between.
void SayWhySession(const RouteParts& parts, const ExchangePtr& exchange) {
  http::ExpectNoQuery(exchange->request());
  const auto id = base::Uuid::Parse(exchange->request().path_parameters[0]);
  // What is no id is no session's id.
  if (!id) return exchange->Reply(UnknownQueueSession());
  SessionsRequest session;
  session.tenant = http::TenantOf(exchange);
  session.id = id;
  session.limit = 1;
  parts.queues.FindOwner(
      {session.tenant, *id}, exchange->caller(),
      Answering(exchange, [parts, session](const ExchangePtr& to, const OwnerReply& owner) mutable {
        if (owner.queue.empty()) return to->Reply(UnknownQueueSession());
        session.queue = owner.queue;
        parts.queues.ListSessions(
            std::move(session), to->caller(),
            Answering(to, [](const ExchangePtr& answer, const db::Page<SessionView>& page) {
              if (page.rows.empty()) return answer->Reply(UnknownQueueSession());
              answer->ReplyJson(
                  explain::ToJson(Explain(page.rows.front()), *answer->request().principal));
            }));
      }));
}

}  // namespace

void AddWhyRoutes(http::Router& router, const RouteParts& parts) {
  constexpr const char* kWhyScope = "queues:read";
  http::RouteGroup<RouteParts>(router, parts, {.path = "/api/v1/why/queue", .rate_class = "queues"})
      .Add({{Method::kGet, "/{queue}", "whyQueue", kWhyScope, SayWhyQueue}});
  http::RouteGroup<RouteParts>(router, parts,
                               {.path = "/api/v1/why/queue-session", .rate_class = "queues"})
      .Add({{Method::kGet, "/{id}", "whyQueueSession", kWhyScope, SayWhySession}});
}

}  // namespace tenure::queues
