#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include "http/body_memory.hpp"
#include "http/exchange.hpp"
#include "http/probe.hpp"
#include "http/router.hpp"
#include "http/server.hpp"
#include "http/waits.hpp"

namespace tenure::http {

/// Brings a request to its handler, in two steps. A header is admitted: is it local (protected
/// mode), is there a route, who asks, may they, do they ask too often, is the content of a type that
/// is understood. The first "no" is the answer, and nothing is read or kept for a body that is not
/// welcome. Then, when the body is here, it is served.
/// Constant; any loop's thread.
///
/// A span begins where the handler does: whoever is refused before that leaves no trace.
class Dispatcher {
 public:
  /// What a header came to.
  struct Admission {
    const Route* route = nullptr;  ///< null: there is none
    Quota quota{};
    std::optional<Problem> refusal{};
  };
  struct Parts {
    const Router& router;
    Probe& probe;
    RateLimits& limits;
    Authenticator authenticator;
    Visitors visitors;
    std::string_view scheme;    ///< "http" or "https"
    telemetry::Tracer* tracer;  ///< may be null
  };
  explicit Dispatcher(Parts parts) : parts_(std::move(parts)) {}

  /// Looks at all but the body, and notes in the request who asks, for what, and under which fences.
  Admission Admit(Request& request) const;
  /// Runs the handler, or answers why not. What a handler throws becomes the answer.
  void Serve(const ExchangePtr& exchange, Admission admission) const;

 private:
  void Check(Request& request, Admission& admission) const;
  void CountSigned(const ExchangePtr& exchange) const;
  void Run(const ExchangePtr& exchange) const;
  const Route& FindRoute(Request& request) const;
  void Authorize(const Route& route, Request& request) const;
  bool protected_mode() const {
    return !parts_.authenticator && parts_.visitors == Visitors::kLocal;
  }

  const Parts parts_;
};

/// What all connections of one server share. Outlives the loops' threads, but not every exchange:
/// a closed connection must not touch it.
struct ServerContext {
  ServerContext(const ServerOptions& server_options, const Router& router,
                telemetry::Registry& metrics, const base::Clock& clock, Authenticator authenticator,
                telemetry::Tracer* tracer)
      : options(server_options),
        probe(metrics, router.routes()),
        limits(router.routes(), options.rate_classes, clock, metrics),
        body_memory(std::make_shared<BodyMemory>(options.body_memory_bytes)),
        waits(std::make_shared<Waits>(options.waits)),
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
  const std::shared_ptr<BodyMemory> body_memory;
  const std::shared_ptr<Waits> waits;
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
