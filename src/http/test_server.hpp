#pragma once

// For tests only: a server on a free port with a clock that stands still, and a client that is
// nothing but a socket, so that it can be as rude as it likes.

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "http/certificate.hpp"
#include "http/server.hpp"
#include "support/certificate.hpp"
#include "support/temp_dir.hpp"
#include "support/tls_client.hpp"

namespace tenure::http {

/// One answer as it stood on the wire.
struct RawAnswer {
  int status = 0;
  std::string head;  ///< with the status line
  std::string body;

  std::string Header(std::string_view name) const;
  bool Has(std::string_view name) const { return !Header(name).empty(); }
};

/// How server and clients speak.
enum class Transport { kPlain, kTls };
std::string ToText(Transport transport);

/// A blocking socket, with TLS where it is given options. A read that nothing answers for 20 s
/// fails the test by throwing.
class RawClient {
 public:
  explicit RawClient(std::uint16_t port, const support::TlsClientOptions* tls = nullptr);
  ~RawClient();
  RawClient(RawClient&& other) noexcept
      : socket_(std::exchange(other.socket_, -1)),
        tls_(std::move(other.tls_)),
        input_(std::move(other.input_)) {}
  RawClient& operator=(RawClient&&) = delete;

  /// Sends all of it; what a server that hung up does not take is lost.
  void Send(std::string_view bytes);
  void HalfClose();
  void Close();
  /// REQUIRES: it has TLS.
  support::TlsClient& tls() { return *tls_; }
  int socket() const { return socket_; }

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
  std::size_t Receive(char* bytes, std::size_t size);
  std::string TakeHead();

  int socket_;
  std::optional<support::TlsClient> tls_;
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

/// A certificate for this machine, by an authority of the test's own.
class TestCertificate {
 public:
  TestCertificate();

  /// Another one in the same files; connections that come from now on get it. Its serial number.
  std::int64_t Renew(const support::CertificateOptions& made = {});
  /// The authority's own certificate.
  std::string CaFile() const { return folder_ / "authority.pem"; }
  support::TlsClientOptions Trusting() const { return {.authority = authority_.pem()}; }
  const CertificateKeeper& keeper() const { return keeper_; }

 private:
  CertificateFiles Write(const support::CertificateOptions& options);

  const support::TempDir folder_;
  support::Authority authority_;
  telemetry::Registry metrics_;
  CertificateKeeper keeper_;
};

/// Routes: GET /hello, PUT /echo (its body), GET /held (answered by the test), GET /items/{id},
/// GET /large (8 MiB), GET /throws/{what}, POST /act, GET /forgets.
class TestServer {
 public:
  explicit TestServer(ServerOptions server_options = {}, Authenticator authenticator = nullptr)
      : TestServer(Transport::kPlain, server_options, std::move(authenticator)) {}
  explicit TestServer(Transport transport, ServerOptions server_options = {},
                      Authenticator authenticator = nullptr);

  /// A client that speaks as the server does.
  RawClient Connect();
  /// A client that speaks as it likes.
  RawClient ConnectPlain() { return RawClient(server.port()); }
  /// Waits until the loop that served the last request has done all that it had begun.
  void Settle();
  /// Waits until the metric has the value.
  void AwaitMetric(std::string_view line);
  std::string Metrics() const { return registry.Text(); }

  base::ManualClock clock{1'700'000'000'000};
  telemetry::Registry registry;
  HeldExchanges held;
  Router router;
  const std::unique_ptr<TestCertificate> certificate;  // null: plain
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
