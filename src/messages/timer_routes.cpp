// Messages that are not due yet: set, looked at, taken back.
#include "messages/json.hpp"
#include "messages/route_support.hpp"

namespace tenure::messages {
namespace {

using http::ExchangePtr;
using http::Method;

void Set(const RouteParts& parts, const ExchangePtr& exchange) {
  EnqueueFrom(parts, exchange, "timers", true, "setTimers");
}

http::Problem UnknownTimer(const ExchangePtr& exchange) {
  return http::NotFound(
      fmt::format("There is no timer {}: it was never set, was cancelled, or its message is done.",
                  exchange->request().path_parameters[0]));
}

http::Problem AlreadyFired() {
  return {.status = 409,
          .type = "timer-fired",
          .title = "The timer has fired",
          .detail =
              "Its message was handed to the workers of its topic, or stands in their line: "
              "it is too late to cancel it."};
}

void Get(const RouteParts& parts, const ExchangePtr& exchange) {
  http::QueryFields(exchange->request().query).Finish();
  parts.messages.Find(
      {http::TenantOf(exchange), IdOf(exchange)}, exchange->caller(),
      Answering<FindReply>(exchange, [](const ExchangePtr& to, const FindReply& reply) {
        if (!reply.message) return to->Reply(UnknownTimer(to));
        to->Reply(http::JsonResponse(200, TimerJson(*reply.message)));
      }));
}

void Cancel(const RouteParts& parts, const ExchangePtr& exchange) {
  http::QueryFields(exchange->request().query).Finish();
  parts.messages.Cancel(
      {http::TenantOf(exchange), IdOf(exchange)}, exchange->caller(),
      Answering<CancelReply>(exchange, [](const ExchangePtr& to, const CancelReply& reply) {
        switch (reply.outcome) {
          case CancelOutcome::kCancelled:
            return to->Reply(http::Response{.status = 204});
          case CancelOutcome::kFired:
            return to->Reply(AlreadyFired());
          case CancelOutcome::kUnknown:
            return to->Reply(UnknownTimer(to));
        }
      }));
}

}  // namespace

void AddTimerRoutes(http::Router& router, const RouteParts& parts) {
  RouteAdder add(router, parts, "/api/v1/timers");
  add(Method::kPost, "", {"setTimers", "messages:write", "Message.Enqueue"}, Set);
  add(Method::kGet, "/{id}", {"getTimer", "messages:read"}, Get);
  add(Method::kDelete, "/{id}", {"cancelTimer", "messages:write"}, Cancel);
}

}  // namespace tenure::messages
