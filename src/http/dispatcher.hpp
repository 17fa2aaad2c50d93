#pragma once

#include <memory>

#include "http/live_exchange.hpp"
#include "http/probe.hpp"
#include "http/router.hpp"
#include "http/server.hpp"

namespace tenure::http {

/// Brings a parsed request to its handler: is it local (protected mode), is there a route, is the
/// content JSON, who asks, may they. The first "no" is the answer. Constant; any loop's thread.
///
/// A span begins where the handler does: whoever is refused before that leaves no trace.
class Dispatcher {
 public:
  /// `tracer` may be null.
  Dispatcher(const Router& router, Probe& probe, Authenticator authenticator,
             telemetry::Tracer* tracer);

  /// Runs the handler, or answers why not. What a handler throws becomes the answer.
  void Dispatch(const std::shared_ptr<LiveExchange>& exchange) const;

 private:
  void Serve(const std::shared_ptr<LiveExchange>& exchange) const;
  const Route& FindRoute(Request& request) const;
  void Authorize(const Route& route, Request& request) const;

  const Router& router_;
  Probe& probe_;
  const Authenticator authenticator_;
  telemetry::Tracer* const tracer_;
};

}  // namespace tenure::http
