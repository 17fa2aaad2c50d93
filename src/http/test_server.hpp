#pragma once

// For tests only: a server on a free port with a clock that stands still, and a client that is
// nothing but a socket, so that it can be as rude as it likes.

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "http/server.hpp"

namespace tenure::http {

/// One answer as it stood on the wire.
struct RawAnswer {
  int status = 0;
  std::string head;  ///< with the status line
  std::string body;

  std::string Header(std::string_view name) const;
  bool Has(std::string_view name) const { return !Header(name).empty(); }
};

/// A blocking socket. A read that nothing answers for 20 s fails the test by throwing.
class RawClient {
 public:
  explicit RawClient(std::uint16_t port);
  ~RawClient();
  RawClient(RawClient&& other) noexcept
      : socket_(std::exchange(other.socket_, -1)), input_(std::move(other.input_)) {}
  RawClient& operator=(RawClient&&) = delete;

  /// Sends all of it; what a server that hung up does not take is lost.
  void Send(std::string_view bytes);
  void HalfClose();
  void Close();

  RawAnswer Read();
  /// The answer to a HEAD request, which has no body whatever its header says.
  RawAnswer ReadHead();
  /// Whether the server has nothing more to say: an orderly end or a reset.
  bool AtEnd();
  /// How many bytes come until the end.
  std::size_t CountToEnd();

  RawAnswer Ask(std::string_view bytes) {
    Send(bytes);
    return Read();
  }

 private:
  bool Fill();
  std::string TakeHead();

  int socket_;
  std::string input_;
};

/// Exchanges that a handler kept for later, for the test to take up.
class HeldExchanges {
 public:
  void Put(ExchangePtr exchange);
  ExchangePtr Take();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<ExchangePtr> held_;
};

/// Routes: GET /hello, PUT /echo (its body), GET /held (answered by the test), GET /items/{id},
/// GET /large (8 MiB), GET /throws/{what}, POST /act, GET /forgets.
class TestServer {
 public:
  explicit TestServer(ServerOptions options = {}, Authenticator authenticator = nullptr);

  RawClient Connect() { return RawClient(server.port()); }
  /// Waits until the loop that served the last request has done all that it had begun.
  void Settle();
  /// Waits until the metric has the value.
  void AwaitMetric(std::string_view line);
  std::string Metrics() const { return registry.Text(); }

  base::ManualClock clock{1'700'000'000'000};
  telemetry::Registry registry;
  HeldExchanges held;
  Router router;
  ServerOptions options;
  Server server;

 private:
  void AddRoutes();

  std::mutex mutex_;
  base::Executor* last_loop_ = nullptr;  // guarded by mutex_
};

/// Runs `task` on the exchange's loop and waits until it is done.
void RunOn(base::Executor& executor, base::Task task);

/// "GET <path> HTTP/1.1" with a local Host and these header lines, each ending with CR LF.
std::string Get(std::string_view path, std::string_view headers = {});
std::string Put(std::string_view path, std::string_view body, std::string_view headers = {});

}  // namespace tenure::http
