#include "http/dispatcher.hpp"

#include <fmt/format.h>

#include "base/log.hpp"
#include "http/fences.hpp"
#include "http/protection.hpp"
#include "http/text.hpp"

namespace tenure::http {
namespace {

constexpr std::string_view kJson = "application/json";

bool IsWrite(Method method) {
  return method == Method::kPut || method == Method::kPost || method == Method::kPatch;
}

/// Also for a write without a body: a form of a foreign page cannot send this type, so asking for
/// it always keeps such forms out.
void RequireJson(const Request& request) {
  bool json = false;
  for (const auto& [name, value] : request.headers) {
    if (!EqualsNoCase(name, "Content-Type")) continue;
    json = EqualsNoCase(Trim(value.substr(0, value.find(';'))), kJson);
    if (!json) break;
  }
  if (!json)
    throw ProblemError({.status = 415,
                        .type = "unsupported-media-type",
                        .title = "Only JSON is understood",
                        .detail = "Send the header Content-Type: application/json."});
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

void Dispatcher::Dispatch(const std::shared_ptr<LiveExchange>& exchange) const {
  const base::LogScope scope(*exchange);
  std::optional<Problem> problem;
  try {
    Serve(exchange);
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

void Dispatcher::Serve(const std::shared_ptr<LiveExchange>& exchange) const {
  Request& request = exchange->mutable_request();
  if (protected_mode()) CheckLocal(request, parts_.scheme);
  const Route& route = FindRoute(request);
  exchange->set_probe(parts_.probe.OfRoute(route));
  Authorize(route, request);
  CheckRate(route, *exchange);
  if (IsWrite(route.method)) RequireJson(request);
  request.fences = ReadFences(request);
  if (parts_.tracer && parts_.tracer->enabled() && !route.span.empty())
    exchange->span() = parts_.tracer->Start(route.span, TraceParentOf(request));
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
  if (request.principal->Has(route.scope)) return;
  throw ProblemError(
      {.status = 403,
       .type = "forbidden",
       .title = "The token does not allow this",
       .detail = fmt::format("It lacks the scope {}.", route.scope),
       .headers = {{"WWW-Authenticate",
                    fmt::format(R"(Bearer realm="tenure", error="insufficient_scope", scope="{}")",
                                route.scope)}}});
}

void Dispatcher::CheckRate(const Route& route, LiveExchange& exchange) const {
  const std::optional<Quota> quota = parts_.limits.Count(route, exchange.request());
  if (!quota) return;
  exchange.set_quota(*quota);
  if (quota->retry_after_s > 0) throw ProblemError(RateLimited(*quota));
}

}  // namespace tenure::http
