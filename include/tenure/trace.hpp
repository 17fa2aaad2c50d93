#pragma once

#include <memory>
#include <string_view>

namespace tenure {

/// While it lives, what this thread asks a Tenure server for is part of a trace of yours: requests
/// carry its `traceparent` (W3C Trace Context), and the server's spans hang below it. Scopes may
/// nest; the innermost counts. What the library does on threads of its own, such as renewing
/// leases, is part of none.
///
///   const tenure::TraceScope scope(traceparent);
///   manager.Acquire("nightly-report");
///
/// A messages::Worker sets one up around each handler, for the trace of the message.
class TraceScope {
 public:
  /// "00-<trace id>-<parent id>-<flags>". What is none, or empty, changes nothing.
  explicit TraceScope(std::string_view traceparent);
  ~TraceScope();
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenure
