#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <span>
#include <string>

#include "http/message.hpp"
#include "http/router.hpp"
#include "http/traffic.hpp"
#include "telemetry/metrics.hpp"

namespace tenure::http {

/// Counts the requests of one route. Any thread; after a status has been seen once, counting it is
/// two array look-ups and atomic additions.
class RouteProbe {
 public:
  RouteProbe(telemetry::Registry& registry, std::string route);

  /// `waited`: the answer had to wait for something, so how long it took tells nothing of the server.
  void Answered(Method method, int status, std::int64_t duration_us, bool waited);
  void AddTo(Traffic& traffic) const;

 private:
  static constexpr std::size_t kMethods = 7;
  static constexpr int kFirstStatus = 100;
  static constexpr int kStatuses = 500;

  telemetry::Counter& CounterOf(Method method, int status);

  telemetry::Registry& registry_;
  const std::string route_;
  telemetry::Histogram& duration_;
  telemetry::Histogram unwaited_;  // of those that did not wait; not shown by itself
  telemetry::Counter answered_;    // the same of all
  telemetry::Counter failed_;
  // Filled when a status is first answered: the registry gives every thread the same counter.
  std::array<std::array<std::atomic<telemetry::Counter*>, kStatuses>, kMethods> counters_{};
};

/// Everything that the HTTP server counts.
class Probe {
 public:
  Probe(telemetry::Registry& registry, std::span<const Route> routes);

  /// REQUIRES: `route` is one of the routes that the probe was built with.
  RouteProbe& OfRoute(const Route& route) {
    return routes_[static_cast<std::size_t>(&route - first_route_)];
  }
  RouteProbe& unmatched() { return unmatched_; }
  Traffic traffic() const;

  void ConnectionOpened() { connections_.Add(1); }
  void ConnectionClosed() { connections_.Add(-1); }
  /// One that waited for its client made room for another one.
  void ConnectionEvicted() { evicted_.Add(); }
  /// A handshake of TLS came to its end.
  void Greeted(bool well) { (well ? greeted_ : not_greeted_).Add(); }
  void Rejected(Rejection reason) { rejected_[static_cast<std::size_t>(reason)]->Add(); }

 private:
  const Route* first_route_;
  std::deque<RouteProbe> routes_;
  RouteProbe unmatched_;
  telemetry::Gauge& connections_;
  telemetry::Counter& evicted_;
  telemetry::Counter& greeted_;
  telemetry::Counter& not_greeted_;
  std::array<telemetry::Counter*, kRejectionCount> rejected_{};
};

}  // namespace tenure::http
