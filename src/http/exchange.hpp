#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/log.hpp"
#include "base/task.hpp"
#include "http/message.hpp"
#include "http/waits.hpp"
#include "telemetry/trace.hpp"

namespace tenure::http {

class Connection;
class RouteProbe;
struct Route;

/// One request and its answer. Lives on the loop of its connection: all members are called on that
/// loop's thread only. Work that ends elsewhere posts back through `executor()`. Whoever holds the
/// pointer keeps the connection and the request's buffers alive; the client may have gone meanwhile,
/// then `Reply` does nothing. The last reference may be dropped on any thread; when nothing was
/// replied until then, the client gets a 500, so a forgotten answer never leaves it waiting.
///
/// A handler that waits for something (a long poll) asks to be told when waiting makes no sense any
/// more. Both callbacks run on the loop's thread, later than the call that asked, at most once, and
/// never after `Reply`; they are dropped when the exchange is answered, so they may hold it.
///
/// Lines that are logged on its behalf carry its ids: while the handler runs they do so by
/// themselves; where it goes on later, a `base::LogScope` says so.
class Exchange final : public base::LogSource {
 public:
  Exchange(std::shared_ptr<Connection> connection, RouteProbe& probe);
  ~Exchange() override;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  const Request& request() const;
  /// What the request asks for. REQUIRES: a handler has it.
  const Route& route() const { return *route_; }
  /// The loop of this connection; outlives the exchange.
  base::Executor& executor();

  /// Why who asks does so, as the route has read it: for the record of acts.
  void set_reason(std::string reason) { reason_ = std::move(reason); }
  const std::string& reason() const { return reason_; }

  /// For changes: the answer comes home to this loop, and the change happens only under the
  /// request's fences.
  base::Caller caller() { return {&executor(), request().fences}; }

  /// Of a route that has one, when traces are on; else nothing, and setting something costs
  /// nothing. Ends with the answer.
  telemetry::Span& span() { return span_; }
  /// Says in the span what became of the request (Route::span_result).
  void Conclude(std::string_view result);

  /// Answers. REQUIRES: called once, on the loop's thread (also from inside the handler).
  void Reply(Response response);

  /// `gone` runs when nobody can receive an answer any more: the client closed the connection or
  /// was lost, or the server's grace is over. The connection is closed then, and `Reply` does
  /// nothing. A client that shuts down only its sending side counts as gone: it cannot be told from
  /// one that closed. One that has sent its next request already (pipelining) is not watched any
  /// further; it is missed when the answer is written.
  /// REQUIRES: not answered. A second call replaces the first.
  void OnClientGone(base::Task gone);
  /// `stopping` runs when the server begins to stop, at once when it has begun already. What waits
  /// should then be answered with base::FaultKind::kStopping, unless something is under way for it
  /// whose outcome is the answer: an answer must be true.
  /// REQUIRES: not answered. A second call replaces the first.
  void OnStopping(base::Task stopping);

  /// For a request that is about to wait for so many things (topics, a lease). What is returned is
  /// kept until the wait is over. Throws ProblemError when this process, or the one who asks, waits
  /// for too much already.
  Waits::Share BeginWait(std::size_t things);

  /// Closes the connection without an answer, as a server that dies does: for trying what clients
  /// make of it. Answers before it that have not left yet are lost too.
  /// REQUIRES: as Reply, and instead of it.
  void HangUp();

  void Reply(const Problem& problem) { Reply(ToResponse(problem, request().request_id)); }
  /// By the one table from faults to problems; the span says which fault it was.
  void Reply(const base::Fault& fault);
  void ReplyJson(std::string body, int status = 200) {
    Reply(Response{.status = status, .body = std::move(body)});
  }

  /// The request's id, its client's address, and the trace that it is part of, recorded here or
  /// only by the caller.
  base::LogContext log_context() override;

  /// For the dispatcher. Known from now on, and where the answer is counted.
  void set_route(const Route& route, RouteProbe& probe) {
    route_ = &route;
    probe_ = &probe;
  }
  /// What the answer tells the asker about its limit.
  void set_quota(const Quota& quota) { quota_ = quota; }
  bool replied() const { return replied_; }

 private:
  void CheckMayWait() const;
  void TakeTurn();

  std::shared_ptr<Connection> connection_;
  const Route* route_ = nullptr;
  RouteProbe* probe_;
  telemetry::Span span_;
  Quota quota_;
  std::string reason_;
  const std::int64_t started_us_;
  bool replied_ = false;
  bool waited_ = false;
};

/// Where the request says that it hangs; nothing when it says nothing, or nothing proper.
std::optional<telemetry::TraceParent> TraceParentOf(const Request& request);

using ExchangePtr = std::shared_ptr<Exchange>;

}  // namespace tenure::http
