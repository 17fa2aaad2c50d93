#include "http/outgoing.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <future>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/outgoing_transfer.hpp"
#include "http/test_server.hpp"

namespace tenure::http {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kPatienceMs = 20'000;

/// A server that is nothing but a socket: the test reads each request and says every byte that
/// comes back. For the test's thread.
class RudeServer {
 public:
  RudeServer() : listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    const timeval patience{.tv_sec = kPatienceMs / 1'000, .tv_usec = 0};
    ::setsockopt(listener_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    if (::bind(listener_, any, size) != 0 || ::listen(listener_, 16) != 0 ||
        ::getsockname(listener_, any, &size) != 0)
      throw std::runtime_error("no port for the test");
    port_ = ntohs(address.sin_port);
  }
  ~RudeServer() {
    HangUp();
    ::close(listener_);
  }
  RudeServer(const RudeServer&) = delete;
  RudeServer& operator=(const RudeServer&) = delete;

  std::string Url(std::string_view path = "/usages") const {
    return fmt::format("http://127.0.0.1:{}{}", port_, path);
  }

  /// The next request on a new connection: its head, and its body as its length says.
  std::string Accept() {
    HangUp();
    connection_ = ::accept(listener_, nullptr, nullptr);
    if (connection_ < 0) throw std::runtime_error("nobody connects");
    return Read();
  }
  std::string Read() {
    std::string request;
    while (!IsWhole(request)) {
      char piece[4'096];
      const ssize_t size = ::recv(connection_, piece, sizeof(piece), 0);
      if (size <= 0) throw std::runtime_error("the client hung up: " + request);
      request.append(piece, static_cast<std::size_t>(size));
    }
    return request;
  }
  void Say(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(connection_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  void HangUp() {
    if (connection_ >= 0) ::close(std::exchange(connection_, -1));
  }
  /// Waits until the client has closed the connection.
  bool ClientIsGone() {
    char piece = 0;
    return ::recv(connection_, &piece, 1, 0) <= 0;
  }

 private:
  static bool IsWhole(const std::string& request) {
    const std::size_t end = request.find("\r\n\r\n");
    if (end == std::string::npos) return false;
    const std::size_t at = request.find("Content-Length: ");
    const std::size_t size = at == std::string::npos ? 0 : std::stoul(request.substr(at + 16));
    return request.size() == end + 4 + size;
  }

  const int listener_;
  int connection_ = -1;
  std::uint16_t port_ = 0;
};

/// An Outgoing that runs, with futures instead of callbacks.
struct Sender {
  explicit Sender(OutgoingOptions options = {}) : outgoing(std::move(options)) { outgoing.Start(); }

  std::future<OutgoingReply> Send(OutgoingRequest request) {
    auto promise = std::make_shared<std::promise<OutgoingReply>>();
    std::future<OutgoingReply> reply = promise->get_future();
    outgoing.Send(std::move(request),
                  [promise](OutgoingReply r) { promise->set_value(std::move(r)); });
    return reply;
  }
  std::future<OutgoingReply> Post(std::string url, std::int64_t timeout_ms = kPatienceMs) {
    return Send({.url = std::move(url), .body = "[1]", .timeout_ms = timeout_ms});
  }

  Outgoing outgoing;
};

std::string UrlOf(const TestServer& server, std::string_view path) {
  return fmt::format("http://127.0.0.1:{}{}", server.server.port(), path);
}

TEST(Outgoing, SendsAndReads) {
  TestServer server;
  Sender sender;
  const OutgoingReply echo =
      sender
          .Send(
              {.method = Method::kPut, .url = UrlOf(server, "/echo"), .body = std::string(64, 'x')})
          .get();
  EXPECT_EQ(echo.status, 200);
  EXPECT_TRUE(echo.acknowledged());
  EXPECT_EQ(echo.body, std::string(64, 'x'));
  EXPECT_FALSE(echo.truncated);
  EXPECT_EQ(echo.error, "");
  EXPECT_EQ(sender.Post(UrlOf(server, "/act")).get().status, 204);
  EXPECT_EQ(sender.Send({.method = Method::kGet, .url = UrlOf(server, "/hello")}).get().body,
            "hello");
  EXPECT_EQ(sender.Send({.url = UrlOf(server, "/act")}).get().status, 204) << "an empty body";
  EXPECT_THAT(server.Metrics(), HasSubstr("http_connections 1\n")) << "the connection is kept";
}

TEST(Outgoing, AnyStatusIsAnAnswer) {
  TestServer server;
  Sender sender;
  for (const auto& [path, status] :
       {std::pair("/throws/boom", 500), {"/throws/problem", 404}, {"/throws/fault", 503}}) {
    const OutgoingReply reply =
        sender.Send({.method = Method::kGet, .url = UrlOf(server, path)}).get();
    EXPECT_EQ(reply.status, status);
    EXPECT_FALSE(reply.acknowledged());
    EXPECT_EQ(reply.error, "");
  }
}

TEST(Outgoing, SaysWhatItWasToldToAndWhoItIs) {
  RudeServer server;
  Sender sender;
  auto reply = sender.Send({.url = server.Url(),
                            .headers = {{"Idempotency-Key", "a.1-2-3"},
                                        {"Content-Type", "application/x-thing"},
                                        {"X-Empty", ""}},
                            .body = "{}"});
  const std::string request = server.Accept();
  server.Say("HTTP/1.1 204 No Content\r\n\r\n");
  EXPECT_EQ(reply.get().status, 204);
  EXPECT_THAT(request, HasSubstr("POST /usages HTTP/1.1\r\n"));
  EXPECT_THAT(request, HasSubstr("Idempotency-Key: a.1-2-3\r\n"));
  EXPECT_THAT(request, HasSubstr("Content-Type: application/x-thing\r\n"));
  EXPECT_THAT(request, Not(HasSubstr("application/json")));
  EXPECT_THAT(request, HasSubstr("X-Empty:"));
  EXPECT_THAT(request, HasSubstr("User-Agent: tenure/"));
  EXPECT_THAT(request, Not(HasSubstr("Expect")));
}

TEST(Outgoing, AServerThatHangsIsGivenUpWhenTheTimeIsOver) {
  RudeServer server;
  Sender sender;
  auto reply = sender.Post(server.Url(), 300);
  server.Accept();
  const OutgoingReply none = reply.get();
  EXPECT_EQ(none.status, 0);
  EXPECT_TRUE(none.maybe_received);
  EXPECT_NE(none.error, "");
  EXPECT_TRUE(server.ClientIsGone());
}

TEST(Outgoing, AConnectionThatIsClosedWithoutAnAnswerLeavesItOpenWhatHappened) {
  RudeServer server;
  Sender sender;
  auto reply = sender.Post(server.Url());
  server.Accept();
  server.HangUp();
  const OutgoingReply none = reply.get();
  EXPECT_EQ(none.status, 0);
  EXPECT_TRUE(none.maybe_received);
  EXPECT_NE(none.error, "");
}

TEST(Outgoing, AnAnswerThatBreaksOffIsNone) {
  for (const char* part : {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{\"a",
                           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{\"a",
                           "HTTP/1.1 200 OK\r\nCon", "HTTP/1.1 2"}) {
    RudeServer server;
    Sender sender;
    auto reply = sender.Post(server.Url());
    server.Accept();
    server.Say(part);
    server.HangUp();
    const OutgoingReply none = reply.get();
    EXPECT_EQ(none.status, 0) << part;
    EXPECT_EQ(none.body, "") << part;
    EXPECT_TRUE(none.maybe_received) << part;
  }
}

TEST(Outgoing, WhatIsNoHttpIsNoAnswer) {
  RudeServer server;
  Sender sender;
  auto reply = sender.Post(server.Url());
  server.Accept();
  server.Say("SSH-2.0-OpenSSH_9.2\r\n");
  server.HangUp();
  EXPECT_EQ(reply.get().status, 0);
}

TEST(Outgoing, OfALongAnswerTheBeginningIsKept) {
  TestServer server;
  Sender sender;
  const OutgoingReply reply =
      sender
          .Send({.method = Method::kGet, .url = UrlOf(server, "/large"), .timeout_ms = kPatienceMs})
          .get();
  EXPECT_EQ(reply.status, 200);
  EXPECT_TRUE(reply.truncated);
  EXPECT_EQ(reply.body, std::string(64 << 10, 'x'));
  EXPECT_EQ(sender.Send({.method = Method::kGet, .url = UrlOf(server, "/hello"), .answer_max = 5})
                .get()
                .truncated,
            false)
      << "it fits just so";
  EXPECT_EQ(sender.Send({.method = Method::kGet, .url = UrlOf(server, "/hello"), .answer_max = 4})
                .get()
                .body,
            "hell");
}

TEST(Outgoing, AHeaderWithoutAnEndIsNotKept) {
  RudeServer server;
  Sender sender;
  auto reply = sender.Post(server.Url());
  server.Accept();
  server.Say("HTTP/1.1 200 OK\r\n");
  for (int i = 0; i < 2'000; ++i)
    server.Say("X-More: 0123456789012345678901234567890123456789\r\n");
  const OutgoingReply none = reply.get();
  EXPECT_EQ(none.status, 0);
  EXPECT_EQ(none.error, "the header of the answer is too long");
}

TEST(Outgoing, ARedirectIsAnAnswerAndIsNotFollowed) {
  TestServer elsewhere;
  RudeServer server;
  Sender sender;
  auto reply = sender.Post(server.Url());
  server.Accept();
  server.Say(
      fmt::format("HTTP/1.1 307 Temporary Redirect\r\nLocation: {}\r\n"
                  "Content-Length: 0\r\n\r\n",
                  UrlOf(elsewhere, "/act")));
  EXPECT_EQ(reply.get().status, 307);
  EXPECT_THAT(elsewhere.Metrics(), HasSubstr("http_connections 0\n"));
}

TEST(Outgoing, AProxyOfTheEnvironmentIsNotAsked) {
  RudeServer proxy;
  ::setenv("http_proxy", proxy.Url("").c_str(), 1);
  {
    TestServer server;
    Sender sender;
    EXPECT_EQ(sender.Post(UrlOf(server, "/act"), 5'000).get().status, 204);
  }
  ::unsetenv("http_proxy");
}

TEST(Outgoing, ARefusedConnectionMeansThatNothingWasReceived) {
  std::string url;
  {
    const RudeServer server;
    url = server.Url();
  }
  Sender sender;
  const OutgoingReply none = sender.Post(url).get();
  EXPECT_EQ(none.status, 0);
  EXPECT_FALSE(none.maybe_received);
  EXPECT_THAT(none.error, HasSubstr("connect"));
}

TEST(Outgoing, RetryAfterIsSecondsOrADateByTheServersOwnClock) {
  RudeServer server;
  Sender sender;
  auto reply = sender.Post(server.Url());
  server.Accept();
  server.Say("HTTP/1.1 429 Slow Down\r\nretry-after: 7\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(reply.get().retry_after_ms, 7'000);
  reply = sender.Post(server.Url());
  server.Read();  // the connection was kept
  server.Say(
      "HTTP/1.1 503 No\r\nDate: Sun, 21 Dec 2025 10:00:00 GMT\r\n"
      "Retry-After: Sun, 21 Dec 2025 10:00:30 GMT\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(reply.get().retry_after_ms, 30'000);
}

TEST(Outgoing, RetryAfterHasBounds) {
  constexpr std::int64_t kNowMs = 1'766'311'200'000;  // 2025-12-21T10:00:00Z
  constexpr std::int64_t kDayMs = 86'400'000;
  EXPECT_EQ(ParseRetryAfterMs("0", kNowMs), 0);
  EXPECT_EQ(ParseRetryAfterMs("86401", kNowMs), kDayMs);
  EXPECT_EQ(ParseRetryAfterMs("99999999999999999999999", kNowMs), kDayMs);
  EXPECT_EQ(ParseRetryAfterMs("Sun, 21 Dec 2025 10:00:01 GMT", kNowMs), 1'000);
  EXPECT_EQ(ParseRetryAfterMs("Sun, 21 Dec 2025 09:00:00 GMT", kNowMs), 0);
  EXPECT_EQ(ParseRetryAfterMs("Tue, 21 Dec 2055 10:00:00 GMT", kNowMs), kDayMs);
  for (const char* text : {"", "-1", "1.5", "soon", "+7", "7s"})
    EXPECT_EQ(ParseRetryAfterMs(text, kNowMs), std::nullopt) << text;
}

TEST(Outgoing, AnAddressOrHeaderThatIsNotAllowedIsRefusedAtOnce) {
  Outgoing outgoing({});  // not started: the answers come from `Send` itself
  std::vector<std::string> errors;
  const auto send = [&](OutgoingRequest request) {
    outgoing.Send(std::move(request), [&](OutgoingReply reply) {
      EXPECT_FALSE(reply.maybe_received);
      errors.push_back(reply.error);
    });
  };
  send({.url = "http://10.0.0.1/usages"});
  send({.url = "https://user:hunter2@collector/"});
  send({.url = "http://127.0.0.1/", .headers = {{"Authorization", "Bearer hunter2\r\nX: y"}}});
  send({.url = "http://127.0.0.1/", .headers = {{"X Y", "z"}}});
  send({.url = "http://127.0.0.1/", .headers = {{"", "z"}}});
  ASSERT_EQ(errors.size(), 5U);
  EXPECT_THAT(errors[0], HasSubstr("http:// is for this machine only"));
  for (const std::string& error : errors) EXPECT_THAT(error, Not(HasSubstr("hunter2")));
}

TEST(Outgoing, WhatDoesNotFitTheQueueIsRefusedAtOnce) {
  Outgoing outgoing({.queue_items = 2, .queue_bytes = 10});
  std::vector<std::string> errors;
  const auto send = [&](std::size_t bytes) {
    outgoing.Send({.url = "http://127.0.0.1:1/", .body = std::string(bytes, 'x')},
                  [&](OutgoingReply reply) { errors.push_back(reply.error); });
  };
  send(11);
  EXPECT_EQ(errors.size(), 1U) << "too large";
  send(5);
  send(6);
  EXPECT_EQ(errors.size(), 2U) << "too many bytes";
  send(5);
  send(0);
  EXPECT_EQ(errors.size(), 3U) << "too many requests";
  EXPECT_EQ(errors.back(), "too many requests wait to be sent");
  outgoing.Stop();
  EXPECT_EQ(errors.size(), 5U) << "the others waited";
}

TEST(Outgoing, TheTimeInTheQueueCounts) {
  RudeServer server;
  Sender sender({.in_flight_max = 1});
  auto first = sender.Post(server.Url());
  server.Accept();
  const OutgoingReply second = sender.Post(server.Url(), 1).get();
  EXPECT_EQ(second.error, "the request's time was over before its turn came");
  EXPECT_FALSE(second.maybe_received);
  server.Say("HTTP/1.1 204 No Content\r\n\r\n");
  EXPECT_EQ(first.get().status, 204);
}

TEST(Outgoing, WhatWaitsIsSentWhenThereIsRoom) {
  TestServer server;
  Sender sender({.in_flight_max = 2});
  std::vector<std::future<OutgoingReply>> replies;
  replies.reserve(100);
  for (int i = 0; i < 100; ++i) replies.push_back(sender.Post(UrlOf(server, "/act")));
  for (auto& reply : replies) EXPECT_EQ(reply.get().status, 204);
}

TEST(Outgoing, ACompletionMaySendTheNext) {
  TestServer server;
  Outgoing outgoing({.in_flight_max = 1});
  outgoing.Start();
  std::promise<int> last;
  std::function<void(int)> send = [&](int left) {
    outgoing.Send({.url = UrlOf(server, "/act")}, [&, left](OutgoingReply reply) {
      if (left == 0) return last.set_value(reply.status);
      send(left - 1);
    });
  };
  send(20);
  EXPECT_EQ(last.get_future().get(), 204);
}

TEST(Outgoing, StopCompletesWhatIsUnderWayAndWhatWaits) {
  RudeServer server;
  Sender sender({.in_flight_max = 1});
  auto under_way = sender.Post(server.Url());
  server.Accept();
  auto waiting = sender.Post(server.Url());
  sender.outgoing.Stop();
  const OutgoingReply cut_off = under_way.get();
  EXPECT_EQ(cut_off.error, "the program is stopping");
  EXPECT_TRUE(cut_off.maybe_received);
  EXPECT_FALSE(waiting.get().maybe_received);
  EXPECT_TRUE(server.ClientIsGone());
  EXPECT_EQ(sender.Post(server.Url()).get().error, "the program is stopping") << "and later ones";
  sender.outgoing.Stop();
}

TEST(Outgoing, EverySendOfManyThreadsIsCompletedOnceAlsoByStop) {
  TestServer server;
  std::atomic<int> completed = 0;
  constexpr int kThreads = 4;
  constexpr int kEach = 50;
  {
    Outgoing outgoing({});
    outgoing.Start();
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < kEach; ++i)
          outgoing.Send({.url = UrlOf(server, "/act")}, [&](OutgoingReply) { ++completed; });
      });
    threads.front().join();
    outgoing.Stop();  // in the middle of the others
    for (std::size_t t = 1; t < threads.size(); ++t) threads[t].join();
  }
  EXPECT_EQ(completed.load(), kThreads * kEach);
}

}  // namespace
}  // namespace tenure::http
