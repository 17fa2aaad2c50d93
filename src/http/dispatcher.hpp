#pragma once

#include <memory>
#include <utility>

#include "http/live_exchange.hpp"
#include "http/probe.hpp"
#include "http/router.hpp"
#include "http/server.hpp"

namespace tenure::http {

/// Brings a parsed request to its handler: is it local (protected mode), is there a route, who
/// asks, may they, do they ask too often, is the content JSON. The first "no" is the answer.
/// Constant; any loop's thread.
///
/// A span begins where the handler does: whoever is refused before that leaves no trace.
class Dispatcher {
 public:
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

  /// Runs the handler, or answers why not. What a handler throws becomes the answer.
  void Dispatch(const std::shared_ptr<LiveExchange>& exchange) const;

 private:
  void Serve(const std::shared_ptr<LiveExchange>& exchange) const;
  const Route& FindRoute(Request& request) const;
  void Authorize(const Route& route, Request& request) const;
  void CheckRate(const Route& route, LiveExchange& exchange) const;
  bool protected_mode() const {
    return !parts_.authenticator && parts_.visitors == Visitors::kLocal;
  }

  const Parts parts_;
};

}  // namespace tenure::http
