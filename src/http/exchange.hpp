#pragma once

#include <memory>
#include <optional>

#include "base/log.hpp"
#include "base/task.hpp"
#include "http/message.hpp"
#include "telemetry/trace.hpp"

namespace tenure::http {

/// One request and its answer. Lives on the loop of its connection: all members are called on that
/// loop's thread only. Work that ends elsewhere posts back through `executor()`. Whoever holds the
/// pointer keeps the request's buffers alive; the client may have gone meanwhile, then `Reply` does
/// nothing.
///
/// A handler that waits for something (a long poll) asks to be told when waiting makes no sense any
/// more. Both callbacks run on the loop's thread, later than the call that asked, at most once, and
/// never after `Reply`; they are dropped when the exchange is answered, so they may hold it.
///
/// Lines that are logged on its behalf carry its ids: while the handler runs they do so by
/// themselves; where it goes on later, a `base::LogScope` says so.
class Exchange : public base::LogSource {
 public:
  virtual const Request& request() const = 0;
  /// The loop of this connection; outlives the exchange.
  virtual base::Executor& executor() = 0;

  /// For changes: the answer comes home to this loop, and the change happens only under the
  /// request's fences.
  base::Caller caller() { return {&executor(), request().fences}; }

  /// Of a route that has one, when traces are on; else nothing, and setting something costs
  /// nothing. Ends with the answer.
  virtual telemetry::Span& span() = 0;

  /// Answers. REQUIRES: called once, on the loop's thread (also from inside the handler).
  virtual void Reply(Response response) = 0;

  /// `gone` runs when nobody can receive an answer any more: the client closed the connection or
  /// was lost, or the server's grace is over. The connection is closed then, and `Reply` does
  /// nothing. A client that shuts down only its sending side counts as gone: it cannot be told from
  /// one that closed. One that has sent its next request already (pipelining) is not watched any
  /// further; it is missed when the answer is written.
  /// REQUIRES: not answered. A second call replaces the first.
  virtual void OnClientGone(base::Task gone) = 0;
  /// `stopping` runs when the server begins to stop, at once when it has begun already. What waits
  /// should then be answered with base::FaultKind::kStopping, unless something is under way for it
  /// whose outcome is the answer: an answer must be true.
  /// REQUIRES: not answered. A second call replaces the first.
  virtual void OnStopping(base::Task stopping) = 0;

  /// Closes the connection without an answer, as a server that dies does: for trying what clients
  /// make of it. Answers before it that have not left yet are lost too.
  /// REQUIRES: as Reply, and instead of it.
  virtual void HangUp() = 0;

  void Reply(const Problem& problem) { Reply(ToResponse(problem, request().request_id)); }
  void Reply(const base::Fault& fault);

  /// The request's id, its client's address, and the trace that it is part of, recorded here or
  /// only by the caller.
  base::LogContext log_context() override;
};

/// Where the request says that it hangs; nothing when it says nothing, or nothing proper.
std::optional<telemetry::TraceParent> TraceParentOf(const Request& request);

using ExchangePtr = std::shared_ptr<Exchange>;

}  // namespace tenure::http
