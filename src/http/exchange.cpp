#include "http/exchange.hpp"

#include "http/text.hpp"

namespace tenure::http {

void Exchange::Reply(const base::Fault& fault) {
  Problem problem;
  {
    const base::LogScope scope(*this);
    problem = FromFault(fault);
  }
  Reply(problem);
}

base::LogContext Exchange::log_context() {
  auto trace = span().context();
  if (!trace) trace = TraceParentOf(request());
  return {.request_id = request().request_id,
          .client = request().client_address,
          .trace_id = trace ? std::move(trace->trace_id) : std::string()};
}

/// Of two headers neither can be believed.
std::optional<telemetry::TraceParent> TraceParentOf(const Request& request) {
  const Header* found = nullptr;
  for (const Header& header : request.headers) {
    if (!EqualsNoCase(header.name, "traceparent")) continue;
    if (found) return std::nullopt;
    found = &header;
  }
  if (!found) return std::nullopt;
  return telemetry::ParseTraceParent(found->value);
}

}  // namespace tenure::http
