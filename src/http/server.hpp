#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "http/rate_limits.hpp"
#include "http/router.hpp"
#include "http/traffic.hpp"
#include "http/trusted_proxies.hpp"
#include "http/waits.hpp"
#include "telemetry/metrics.hpp"
#include "telemetry/trace.hpp"

namespace tenure::http {

class CertificateKeeper;

/// Who is served when there is no authenticator.
enum class Visitors {
  kLocal,    ///< protected mode: loopback addresses only, and nothing that is not a local client's
  kAnybody,  ///< whoever reaches the address. REQUIRES: the routes tell nothing of tenants
};

/// Limits of the listener; config/ fills it from the settings of the same names.
struct ServerOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 8080;           ///< 0: any free one, see Server::port()
  std::string_view flag = "--listen";  ///< which sets the two, for messages
  Visitors visitors = Visitors::kLocal;
  int threads = 1;  ///< event loops
  std::size_t max_header_bytes = 16 * 1024;
  std::size_t max_body_bytes = 1024 * 1024;           ///< unless the route says otherwise
  std::size_t body_memory_bytes = 256 * 1024 * 1024;  ///< of all bodies and handshakes together
  int max_connections = 10'000;  ///< when they are full, the one idle longest makes room
  /// From a request's first byte to the end of its header; also for a client that says nothing.
  std::int64_t header_timeout_ms = 10'000;
  std::int64_t body_timeout_ms = 30'000;   ///< from there to the end of its body
  std::int64_t idle_timeout_ms = 75'000;   ///< between two requests of a connection
  std::int64_t write_timeout_ms = 30'000;  ///< for a client that does not read its answer
  std::int64_t sweep_interval_ms = 1'000;  ///< how often the above are looked at: so late they are
  Waits::Bounds waits{};                   ///< on what requests may wait for
  TrustedProxies proxies{};                ///< whose word about the client's address counts
  std::vector<RateClass> rate_classes{};
  /// Whose certificate is shown; null: plain HTTP. It outlives the server.
  const CertificateKeeper* certificate = nullptr;
};

/// Whether a server with these options could listen: throws base::UserError where its address is
/// none of this machine's or not to be had or, when it `authenticates` nobody, could be reached from
/// elsewhere. `while_another_runs`: that it is in use is no objection.
void CheckAddress(const ServerOptions& options, bool authenticates, bool while_another_runs);

/// Decides who asks; throws ProblemError 401. Runs on the loop, must not block.
using Authenticator = std::function<PrincipalPtr(const Request&)>;

/// The HTTP/1.1 server, plain or over TLS. Without an authenticator it is in protected mode, unless
/// its visitors may be anybody: it binds to loopback addresses only and refuses what did not come
/// straight from a local client.
///
/// Life: construct, Start, Stop, destroy; from one thread. Handlers run on the loops' threads.
class Server {
 public:
  /// `tracer` may be null; it outlives every exchange, also those that others still hold when the
  /// server is gone.
  Server(ServerOptions options, const Router& router, telemetry::Registry& metrics,
         const base::Clock& clock, Authenticator authenticator = nullptr,
         telemetry::Tracer* tracer = nullptr);
  ~Server();

  /// Binds and serves. Throws base::UserError when the address is not to be had or not allowed.
  void Start();
  std::uint16_t port() const;

  /// Stops accepting, lets requests that are under way finish for at most `grace_ms`, closes
  /// everything. Idle connections are closed at once; a busy one gets "Connection: close" with its
  /// answer; a handler that waits is told (Exchange::OnStopping).
  void Stop(std::int64_t grace_ms);

  /// From now on these limits; any thread (rate_limits.hpp).
  void UseRates(const std::vector<RateClass>& classes);

  /// What was answered since the start; any thread.
  Traffic traffic() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenure::http
