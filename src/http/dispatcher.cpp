#include <algorithm>

#include <fmt/format.h>

#include "base/log.hpp"
#include "http/fences.hpp"
#include "http/protection.hpp"
#include "http/server_context.hpp"

namespace tenure::http {
namespace {

bool IsWrite(Method method) {
  return method == Method::kPut || method == Method::kPost || method == Method::kPatch;
}

[[noreturn]] void RefuseMethod(const std::vector<Method>& allowed) {
  std::string names;
  for (const Method method : allowed) {
    if (!names.empty()) names += ", ";
    names += ToText(method);
  }
  throw ProblemError({.status = 405,
                      .type = "method-not-allowed",
                      .title = "This path does not know this method",
                      .detail = fmt::format("It knows {}.", names),
                      .headers = {{"Allow", names}}});
}

Problem Internal() {
  return {.status = 500,
          .type = "internal",
          .title = "Something went wrong in the server",
          .detail = "The server's log says more; look for the request_id."};
}

}  // namespace

Dispatcher::Admission Dispatcher::Admit(Request& request) const {
  Admission admission;
  try {
    Check(request, admission);
  } catch (const ProblemError& error) {
    admission.refusal = error.problem();
  } catch (const std::exception& error) {
    base::LogError("http.admission", "a request could not be looked at",
                   {{"error", error.what()}, {"request_id", request.request_id}});
    admission.refusal = Internal();
  }
  return admission;
}

void Dispatcher::Check(Request& request, Admission& admission) const {
  const bool visit = protected_mode() && CheckLocal(request, parts_.scheme);
  const Route& route = FindRoute(request);
  if (visit && !route.page) RefuseVisit();
  admission.route = &route;
  if (route.admit) route.admit(request);
  if (route.scope == kSigned) return;
  Authorize(route, request);
  if (const auto quota = parts_.limits.Count(route, request)) {
    admission.quota = *quota;
    if (quota->retry_after_s > 0) throw ProblemError(RateLimited(*quota));
  }
  if (IsWrite(route.method)) CheckContentType(route, request);
  request.fences = ReadFences(request);
}

void Dispatcher::Serve(const ExchangePtr& exchange, Admission admission) const {
  const base::LogScope scope(*exchange);
  if (admission.route)
    exchange->set_route(*admission.route, parts_.probe.OfRoute(*admission.route));
  exchange->set_quota(admission.quota);
  if (admission.refusal) return exchange->Reply(*admission.refusal);
  std::optional<Problem> problem;
  try {
    if (admission.route->scope == kSigned) CountSigned(exchange);
    Run(exchange);
    return;
  } catch (const ProblemError& error) {
    problem = error.problem();
  } catch (const base::Fault& fault) {
    problem = FromFault(fault);
  } catch (const std::exception& error) {
    base::LogError("http.handler", "a handler failed", {{"error", error.what()}});
    problem = Internal();
  }
  if (!exchange->replied()) exchange->Reply(*problem);
}

void Dispatcher::CountSigned(const ExchangePtr& exchange) const {
  const auto quota = parts_.limits.Count(exchange->route(), exchange->request());
  if (!quota) return;
  exchange->set_quota(*quota);
  if (quota->retry_after_s > 0) throw ProblemError(RateLimited(*quota));
}

void Dispatcher::Run(const ExchangePtr& exchange) const {
  const Route& route = exchange->route();
  if (parts_.tracer && parts_.tracer->enabled() && !route.span.empty()) {
    exchange->span() = parts_.tracer->Start(route.span, TraceParentOf(exchange->request()));
    for (const auto& [key, value] : route.span_attributes) exchange->span().Set(key, value);
    exchange->Conclude("refused");
  }
  route.handler(exchange);
}

const Route& Dispatcher::FindRoute(Request& request) const {
  Router::Match match = parts_.router.Find(request.method, request.path);
  if (match.route) {
    request.path_parameters = std::move(match.path_parameters);
    return *match.route;
  }
  if (!match.allowed.empty()) RefuseMethod(match.allowed);
  throw ProblemError(NotFound("No route has this path."));
}

void Dispatcher::Authorize(const Route& route, Request& request) const {
  if (!parts_.authenticator || route.scope == kPublic) return;
  request.principal = parts_.authenticator(request);
  if (route.scope == kAnyToken || request.principal->Has(route.scope)) return;
  throw ProblemError(
      {.status = 403,
       .type = "forbidden",
       .title = "The token does not allow this",
       .detail = fmt::format("It lacks the scope {}.", route.scope),
       .headers = {{"WWW-Authenticate",
                    fmt::format(R"(Bearer realm="tenure", error="insufficient_scope", scope="{}")",
                                route.scope)}}});
}

}  // namespace tenure::http
