#pragma once

#include <cstdint>
#include <memory>

#include "http/exchange.hpp"
#include "http/probe.hpp"
#include "http/rate_limits.hpp"

namespace tenure::http {

class Connection;

/// The exchange of a connection's current request. Keeps the connection, and with it the request's
/// buffers, alive. The last reference may be dropped on any thread; when nothing was replied until
/// then, the client gets a 500, so a forgotten answer never leaves it waiting.
class LiveExchange final : public Exchange {
 public:
  LiveExchange(std::shared_ptr<Connection> connection, RouteProbe& probe);
  ~LiveExchange() override;
  LiveExchange(const LiveExchange&) = delete;
  LiveExchange& operator=(const LiveExchange&) = delete;

  using Exchange::Reply;
  const Request& request() const override;
  base::Executor& executor() override;
  telemetry::Span& span() override { return span_; }
  void Reply(Response response) override;
  void OnClientGone(base::Task gone) override;
  void OnStopping(base::Task stopping) override;
  void HangUp() override;

  /// For the dispatcher, which completes the request before the handler sees it.
  Request& mutable_request();
  /// Where the answer is counted, once the route is known.
  void set_probe(RouteProbe& probe) { probe_ = &probe; }
  /// What the answer tells the asker about its limit.
  void set_quota(const Quota& quota) { quota_ = quota; }
  bool replied() const { return replied_; }

 private:
  void CheckMayWait() const;
  void TakeTurn();

  std::shared_ptr<Connection> connection_;
  RouteProbe* probe_;
  telemetry::Span span_;
  Quota quota_;
  const std::int64_t started_us_;
  bool replied_ = false;
};

}  // namespace tenure::http
