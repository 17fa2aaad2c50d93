#pragma once

// For tests only: a server on a free port with a clock that stands still, and a client that is
// nothing but a socket, so that it can be as rude as it likes.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "http/certificate.hpp"
#include "http/server.hpp"
#include "support/raw_http.hpp"
#include "support/temp_dir.hpp"
#include "support/tls.hpp"

namespace tenure::http {

using RawAnswer = support::HttpResponse;
using RawClient = support::HttpConnection;

/// How server and clients speak.
enum class Transport { kPlain, kTls };

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
/// GET /medium (64 KiB), GET /large (8 MiB), GET /throws/{what}, POST /act, GET /forgets, GET and PUT
/// /guarded (with a token), PUT /form (100 bytes of a form), POST /signed (a body that begins so).
/// Of these /items/{id}, /act, /signed and /guarded are of the rate class "few", /hello of "none".
class TestServer {
  std::mutex mutex_;
  base::Executor* last_loop_ = nullptr;  // guarded by mutex_, as is
  std::vector<std::string> served_;      // paths

  void AddRoutes();

 public:
  explicit TestServer(ServerOptions server_options = {}, Authenticator authenticator = nullptr)
      : TestServer(Transport::kPlain, server_options, std::move(authenticator)) {}
  explicit TestServer(Transport transport, ServerOptions server_options = {},
                      Authenticator authenticator = nullptr);

  std::string Url(std::string_view path = "") const;
  /// A client that speaks as the server does.
  RawClient Connect();
  RawClient Connect(const support::TlsClientOptions* tls);
  /// A client that speaks as it likes.
  RawClient ConnectPlain() { return Connect(nullptr); }
  /// Has the client ask for /held; the test answers.
  ExchangePtr Hold(RawClient& client);
  /// Waits until the loop that served the last request has done all that it had begun.
  void Settle();
  /// Waits until the metric has the value.
  void AwaitMetric(std::string_view line);
  std::string Metrics() const { return registry.Text(); }
  /// Of all requests that reached a handler, in their order.
  std::vector<std::string> Served();
  /// The loop that served the last request does nothing until what is returned is destroyed.
  std::unique_ptr<std::promise<void>> Halt();

  base::ManualClock clock{1'700'000'000'000};
  telemetry::Registry registry;
  HeldExchanges held;
  Router router;
  const std::unique_ptr<TestCertificate> certificate;  // null: plain
  ServerOptions options;
  Server server;
};

/// Throws when it is not kept within the time that tests have patience for.
void AwaitPromise(std::promise<void>& promise);

/// Runs `task` on the exchange's loop and waits until it is done.
void RunOn(base::Executor& executor, base::Task task);

/// "GET <path> HTTP/1.1" with a local Host and these header lines, each ending with CR LF.
std::string Get(std::string_view path, std::string_view headers = {});
std::string Put(std::string_view path, std::string_view body, std::string_view headers = {});

/// A client whose request waits, the exchange that it waits for, and what its handler was told.
class Waiting {
 public:
  explicit Waiting(TestServer& server) : client(server.Connect()), exchange(server.Hold(client)) {}

  void AskForGone();
  void AwaitGone() { AwaitPromise(gone_); }
  /// Answers as a lease's acquire would.
  void AskForStopping();
  void Reply(std::string body);
  /// Whether a callback is still kept somewhere.
  bool IsKept() const { return callback_.use_count() > 1; }

  RawClient client;
  ExchangePtr exchange;
  std::atomic<int> told = 0;

 private:
  std::promise<void> gone_;
  const std::shared_ptr<int> callback_ = std::make_shared<int>();
};

/// A server of its own for each test, and a client.
class ServedPlain : public testing::Test {
 protected:
  TestServer server_;
  RawClient client_ = server_.Connect();
};

/// The same for what holds whether bytes are encrypted or not.
class Served : public testing::TestWithParam<Transport> {
 protected:
  TestServer server_{GetParam()};
  RawClient client_ = server_.Connect();
};
inline const auto kBothTransports = testing::Values(Transport::kPlain, Transport::kTls);
inline std::string TransportName(const testing::TestParamInfo<Transport>& one) {
  return one.param == Transport::kPlain ? "Plain" : "Tls";
}

}  // namespace tenure::http
