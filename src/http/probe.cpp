#include "http/probe.hpp"

#include <algorithm>

namespace tenure::http {
namespace {

constexpr const char* kHandshakes = "tenure_tls_handshakes_total";
constexpr const char* kHandshakesHelp = "Handshakes of TLS with clients.";

}  // namespace

RouteProbe::RouteProbe(telemetry::Registry& registry, std::string route)
    : registry_(registry),
      route_(std::move(route)),
      duration_(registry.GetHistogram(
          "tenure_http_request_duration_seconds", "From a request's last byte to its answer.",
          telemetry::LatencyBounds(), telemetry::kMicrosPerSecond, {{"route", route_}})),
      unwaited_(telemetry::LatencyBounds(), telemetry::kMicrosPerSecond) {}

void RouteProbe::Answered(Method method, int status, std::int64_t duration_us, bool waited) {
  CounterOf(method, status).Add();
  duration_.Observe(duration_us);
  answered_.Add();
  if (status >= 500) failed_.Add();
  if (!waited) unwaited_.Observe(duration_us);
}

void RouteProbe::AddTo(Traffic& traffic) const {
  traffic.answered += answered_.value();
  traffic.failed += failed_.value();
  unwaited_.AddCountsTo(traffic.by_latency);
}

telemetry::Counter& RouteProbe::CounterOf(Method method, int status) {
  const auto slot = static_cast<std::size_t>(std::clamp(status - kFirstStatus, 0, kStatuses - 1));
  auto& counter = counters_[static_cast<std::size_t>(method)][slot];
  telemetry::Counter* known = counter.load(std::memory_order_acquire);
  if (!known) {
    known = &registry_.GetCounter("tenure_http_requests_total", "Requests that were answered.",
                                  {{"route", route_},
                                   {"method", std::string(ToText(method))},
                                   {"status", std::to_string(status)}});
    counter.store(known, std::memory_order_release);
  }
  return *known;
}

Probe::Probe(telemetry::Registry& registry, std::span<const Route> routes)
    : first_route_(routes.data()),
      unmatched_(registry, "unmatched"),
      connections_(registry.GetGauge("tenure_http_connections", "Open client connections.")),
      evicted_(registry.GetCounter("tenure_http_connections_evicted_total",
                                   "Idle connections that were closed to make room for others.")),
      greeted_(registry.GetCounter(kHandshakes, kHandshakesHelp, {{"result", "ok"}})),
      not_greeted_(registry.GetCounter(kHandshakes, kHandshakesHelp, {{"result", "failed"}})) {
  for (const Route& route : routes) routes_.emplace_back(registry, route.operation);
  for (std::size_t i = 0; i < kRejectionCount; ++i)
    rejected_[i] = &registry.GetCounter(
        "tenure_http_rejected_total", "Connections whose bytes never became a request.",
        {{"reason", std::string(ToText(static_cast<Rejection>(i)))}});
}

Traffic Probe::traffic() const {
  Traffic traffic;
  for (const RouteProbe& route : routes_) route.AddTo(traffic);
  unmatched_.AddTo(traffic);
  return traffic;
}

}  // namespace tenure::http
