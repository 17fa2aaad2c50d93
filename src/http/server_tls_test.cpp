// What TLS adds to the server: handshakes that are slow, wrong or broken off, records in pieces,
// keys and certificates that change. That everything else holds over TLS too is shown by the other
// tests of the server, which run over both.

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <limits>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include "http/server.hpp"
#include "http/test_server.hpp"

namespace tenure::http {
namespace {

using support::TlsClient;
using support::TlsClientOptions;
using testing::HasSubstr;

constexpr const char* kFailed = R"(tenure_tls_handshakes_total{result="failed"} 1)";
/// The beginning of a record that carries a handshake, and no more of it.
constexpr std::string_view kHalfAGreeting("\x16\x03\x01\x02\x00\x01\x00\x01", 8);

class ServerTls : public testing::Test {
 protected:
  TlsClientOptions Trusting() const { return server_.certificate->Trusting(); }
  RawClient Connect(const TlsClientOptions& options) { return server_.Connect(&options); }
  /// The server does well. Everything that it had begun before has been looked at.
  void ExpectServing() {
    auto client = server_.Connect();
    EXPECT_EQ(client.Ask(Get("/hello")).body, "hello");
  }

  TestServer server_{Transport::kTls};
};

TEST_F(ServerTls, SpeaksTls12And13AndNothingOlder) {
  for (const auto& [version, name] :
       {std::pair(TLS1_2_VERSION, "TLSv1.2"), std::pair(TLS1_3_VERSION, "TLSv1.3")}) {
    TlsClientOptions options = Trusting();
    options.version = version;
    auto client = Connect(options);
    EXPECT_EQ(client.tls().Version(), name);
    EXPECT_EQ(client.Ask(Get("/hello")).body, "hello");
  }
  TlsClientOptions old = Trusting();
  old.version = TLS1_1_VERSION;
  try {
    Connect(old);
    FAIL() << "TLS 1.1 was spoken";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("alert protocol version"));
  }
  server_.AwaitMetric(kFailed);
  ExpectServing();
}

TEST_F(ServerTls, ChoosesHttp11OfWhatAClientOffers) {
  const std::string h2 = "\x02h2";
  const std::string http11 = "\x08http/1.1";
  for (const auto& [offered, chosen] :
       {std::pair(http11, "http/1.1"), {h2 + http11, "http/1.1"}, {std::string(), ""}}) {
    TlsClientOptions options = Trusting();
    options.protocols = offered;
    auto client = Connect(options);
    EXPECT_EQ(client.tls().Protocol(), chosen);
    EXPECT_EQ(client.Ask(Get("/hello")).body, "hello");
  }
  TlsClientOptions options = Trusting();
  options.protocols = h2;
  EXPECT_THROW(Connect(options), std::runtime_error);
}

TEST_F(ServerTls, APlainRequestIsToldToUseTls) {
  for (const char* method : {"GET", "DELETE", "PATCH"}) {
    auto client = server_.ConnectPlain();
    const RawAnswer answer =
        client.Ask(std::string(method) + " /hello HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_EQ(answer.status, 400);
    EXPECT_EQ(answer.Header("Connection"), "close");
    EXPECT_THAT(answer.body, HasSubstr("urn:tenure:problem:tls-required"));
    EXPECT_THAT(answer.body, HasSubstr("https://"));
    EXPECT_TRUE(client.AtEnd());
  }
  EXPECT_THAT(server_.Metrics(), HasSubstr(R"(tenure_http_rejected_total{reason="not_tls"} 3)"));
}

TEST_F(ServerTls, GarbageEndsTheConnection) {
  auto client = server_.ConnectPlain();
  client.Send(std::string(1'000, '\x80'));
  client.ReadUntilClose().size();
  server_.AwaitMetric(kFailed);
  ExpectServing();
}

TEST_F(ServerTls, ASlowHandshakeIsCutOff) {
  auto silent = server_.ConnectPlain();
  auto half = server_.ConnectPlain();
  half.Send(kHalfAGreeting);
  ExpectServing();
  server_.clock.Advance(server_.options.header_timeout_ms - 1);
  half.Send("\x01");  // a byte now and then does not help
  ExpectServing();
  server_.clock.Advance(1);
  EXPECT_TRUE(silent.AtEnd());
  half.ReadUntilClose().size();
  server_.AwaitMetric(R"(tenure_tls_handshakes_total{result="failed"} 2)");
  server_.AwaitMetric("tenure_http_connections 0");
}

TEST_F(ServerTls, AfterTheHandshakeAClientMayIdle) {
  auto client = server_.Connect();
  ExpectServing();
  server_.clock.Advance(server_.options.header_timeout_ms);
  ExpectServing();
  EXPECT_EQ(client.Ask(Get("/hello")).body, "hello");
}

TEST_F(ServerTls, AClientMayLeaveInEveryPhase) {
  server_.ConnectPlain().Close();
  {
    auto client = server_.ConnectPlain();
    client.Send(kHalfAGreeting);
  }
  server_.Connect().Close();
  server_.Connect().Send("GET /hel");
  server_.Connect().Send(Get("/large"));
  server_.Connect().Send(Get("/large") + Get("/large"));
  ExpectServing();
  server_.AwaitMetric("tenure_http_connections 0");
  ExpectServing();
}

TEST_F(ServerTls, SaysGoodbyeWhenItEnds) {
  auto asked = server_.Connect();
  asked.Ask(Get("/hello", "Connection: close\r\n"));
  EXPECT_TRUE(asked.AtEnd());
  EXPECT_TRUE(asked.tls().EndedWell());
  auto idle = server_.Connect();
  idle.Ask(Get("/hello"));
  server_.Settle();
  server_.clock.Advance(server_.options.idle_timeout_ms);
  EXPECT_TRUE(idle.AtEnd());
  EXPECT_TRUE(idle.tls().EndedWell());
}

TEST_F(ServerTls, AConnectionTooManyIsClosedWithoutAWord) {
  TestServer server(Transport::kTls, {.max_connections = 1});
  auto first = server.Connect();
  const ExchangePtr held = server.Hold(first);
  EXPECT_EQ(server.ConnectPlain().ReadUntilClose().size(), 0U);
  RunOn(held->executor(), [&] { held->Reply({.body = "{}"}); });
  EXPECT_EQ(first.ReadResponse().status, 200);
}

TEST_F(ServerTls, AHandshakeThatThereIsNoMemoryForIsNotBegun) {
  TestServer server(Transport::kTls, {.body_memory_bytes = 100 * 1024});
  auto half = server.ConnectPlain();
  half.Send(kHalfAGreeting);
  server.AwaitMetric("tenure_http_connections 1");
  EXPECT_EQ(server.ConnectPlain().ReadUntilClose().size(), 0U);
  server.AwaitMetric(R"(tenure_http_rejected_total{reason="body_memory"} 1)");
  half.Close();
  server.AwaitMetric("tenure_http_connections 0");
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(server.Connect().Ask(Get("/hello")).status, 200) << "it is given back";
}

TEST_F(ServerTls, AStopDoesNotWaitForHandshakes) {
  auto half = server_.ConnectPlain();
  half.Send(kHalfAGreeting);
  ExpectServing();
  server_.server.Stop(20'000);
  EXPECT_TRUE(half.AtEnd());
}

TEST_F(ServerTls, ConnectionsKeepTheirCertificateAndNewOnesGetTheNew) {
  auto before = server_.Connect();
  const std::int64_t first = before.tls().PeerSerial();
  EXPECT_EQ(server_.certificate->Renew(), first + 1);
  auto after = server_.Connect();
  EXPECT_EQ(after.tls().PeerSerial(), first + 1);
  for (RawClient* client : {&before, &after}) EXPECT_EQ(client->Ask(Get("/hello")).body, "hello");
}

TEST_F(ServerTls, RecordsThatCarryNothingDisturbNobody) {
  auto client = server_.Connect();
  client.tls().UpdateKeys();
  EXPECT_EQ(client.Ask(Get("/hello")).body, "hello");
  for (int i = 0; i < 3; ++i) client.tls().UpdateKeys();
  const std::string large(1 << 20, 'x');
  EXPECT_EQ(client.Ask(Put("/echo", large)).body, large);
}

TEST_F(ServerTls, AWaitingHandlerHearsOfAGoodbye) {
  Waiting waiting(server_);
  waiting.AskForGone();
  waiting.client.tls().SayGoodbye();
  waiting.AwaitGone();
}

TEST_F(ServerTls, RecordsThatCarryNothingAreNoGoodbye) {
  Waiting waiting(server_);
  waiting.AskForGone();
  for (int i = 0; i < 3; ++i) waiting.client.tls().UpdateKeys();
  ExpectServing();
  waiting.Reply("late");
  EXPECT_EQ(waiting.client.ReadResponse().body, "late");
  Waiting again(server_);
  again.AskForGone();
  again.client.tls().UpdateKeys();
  again.client.Close();
  again.AwaitGone();
}

TEST_F(ServerTls, GarbageWhileAHandlerWaitsIsAnEnd) {
  Waiting waiting(server_);
  waiting.AskForGone();
  ASSERT_GT(::send(waiting.client.fd(), "garbage", 7, MSG_NOSIGNAL), 0);
  waiting.AwaitGone();
}

/// Between a client and the server: hands on what the client sends byte by byte, so that a record
/// never comes in one piece, and hangs up after so many of them.
class Dripping {
 public:
  Dripping(const TestServer& server, std::size_t most)
      : upstream_(server.server.port()), left_(most) {
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends_.data()) != 0)
      throw std::runtime_error("no socketpair");
    const timeval patience{.tv_sec = 20, .tv_usec = 0};
    ::setsockopt(ends_[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    thread_ = std::thread([this] { Pump(); });
  }
  ~Dripping() {
    ::close(ends_[0]);
    thread_.join();
  }
  Dripping(const Dripping&) = delete;
  Dripping& operator=(const Dripping&) = delete;

  int socket() const { return ends_[0]; }

 private:
  void Pump() {
    char bytes[4'096];
    std::array<pollfd, 2> waiting{pollfd{ends_[1], POLLIN, 0}, pollfd{upstream_.fd(), POLLIN, 0}};
    while (left_ > 0 && ::poll(waiting.data(), waiting.size(), -1) > 0) {
      if (waiting[0].revents != 0) {
        if (::recv(ends_[1], bytes, 1, 0) != 1) break;
        ::send(upstream_.fd(), bytes, 1, MSG_NOSIGNAL);
        --left_;
      }
      if (waiting[1].revents != 0) {
        const ssize_t size = ::recv(upstream_.fd(), bytes, sizeof bytes, 0);
        if (size <= 0) break;
        ::send(ends_[1], bytes, static_cast<std::size_t>(size), MSG_NOSIGNAL);
      }
    }
    upstream_.Close();
    ::close(ends_[1]);
  }

  RawClient upstream_;
  std::array<int, 2> ends_{};
  std::size_t left_;
  std::thread thread_;
};

std::string ReadUntil(TlsClient& client, std::string_view end) {
  std::string text;
  char bytes[4'096];
  while (!text.ends_with(end)) {
    const std::size_t size = client.Read(bytes, sizeof bytes).value_or(0);
    if (size == 0) break;
    text.append(bytes, size);
  }
  return text;
}

TEST_F(ServerTls, RecordsMayComeByteByByte) {
  Dripping line(server_, std::numeric_limits<std::size_t>::max());
  TlsClient client(line.socket(), Trusting());
  const std::string body(2'000, 'b');
  client.Write(Put("/echo", body + "!"));
  EXPECT_THAT(ReadUntil(client, "!"), HasSubstr(body));
}

TEST_F(ServerTls, ALineMayBreakAtEveryPlace) {
  std::size_t whole = 0;
  for (std::size_t most = 1; whole == 0; most += 37) {
    Dripping line(server_, most);
    try {
      TlsClient client(line.socket(), Trusting());
      client.Write(Get("/hello"));
      if (ReadUntil(client, "hello").ends_with("hello")) whole = most;
    } catch (const std::runtime_error&) {
      // It broke inside the handshake.
    }
  }
  EXPECT_GT(whole, 300U);
  ExpectServing();
  server_.AwaitMetric("tenure_http_connections 0");
}

}  // namespace
}  // namespace tenure::http
