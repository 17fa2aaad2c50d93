#pragma once

#include <atomic>
#include <utility>

#include "http/dispatcher.hpp"
#include "http/probe.hpp"
#include "http/server.hpp"

namespace tenure::http {

/// What all connections of one server share. Outlives the loops' threads, but not every exchange:
/// a closed connection must not touch it.
struct ServerContext {
  ServerContext(const ServerOptions& server_options, const Router& router,
                telemetry::Registry& metrics, const base::Clock& clock, Authenticator authenticator,
                telemetry::Tracer* tracer)
      : options(server_options),
        probe(metrics, router.routes()),
        limits(router.routes(), options.rate_classes, clock, metrics),
        dispatcher({.router = router,
                    .probe = probe,
                    .limits = limits,
                    .authenticator = std::move(authenticator),
                    .visitors = options.visitors,
                    .scheme = options.certificate ? "https" : "http",
                    .tracer = tracer}) {}

  const ServerOptions options;
  Probe probe;
  RateLimits limits;
  const Dispatcher dispatcher;
  std::atomic<int> connections{0};
};

/// One of the server's `max_connections`, taken when a socket is accepted and given back when the
/// slot ends, wherever the socket got to.
class ConnectionSlot {
 public:
  explicit ConnectionSlot(ServerContext& context) : context_(&context) {
    full_ = context.connections.fetch_add(1) >= context.options.max_connections;
    context.probe.ConnectionOpened();
  }
  ConnectionSlot(ConnectionSlot&& other) noexcept
      : context_(std::exchange(other.context_, nullptr)), full_(other.full_) {}
  ConnectionSlot& operator=(ConnectionSlot&&) = delete;
  ~ConnectionSlot() { Release(); }

  /// Whether this is one too many.
  bool full() const { return full_; }

  void Release() {
    if (!context_) return;
    context_->connections.fetch_sub(1);
    context_->probe.ConnectionClosed();
    context_ = nullptr;
  }

 private:
  ServerContext* context_;
  bool full_ = false;
};

}  // namespace tenure::http
