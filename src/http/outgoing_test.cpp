#include "http/outgoing.hpp"

#include <atomic>
#include <cstdlib>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/mutex.hpp"
#include "http/retry_after.hpp"
#include "http/test_server.hpp"
#include "support/http_receiver.hpp"

namespace tenure::http {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr std::int64_t kPatienceMs = 20'000;

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

/// A proper server.
class Outgoings : public testing::Test {
 protected:
  OutgoingReply Get(std::string_view path, std::size_t answer_max = 64 << 10) {
    return sender_
        .Send({.method = Method::kGet,
               .url = server_.Url(path),
               .timeout_ms = kPatienceMs,
               .answer_max = answer_max})
        .get();
  }

  TestServer server_;
  Sender sender_;
};

TEST_F(Outgoings, SendsAndReads) {
  const std::string body(64, 'x');
  const OutgoingReply echo =
      sender_.Send({.method = Method::kPut, .url = server_.Url("/echo"), .body = body}).get();
  EXPECT_EQ(echo.status, 200);
  EXPECT_TRUE(echo.acknowledged());
  EXPECT_EQ(echo.body, body);
  EXPECT_FALSE(echo.truncated);
  EXPECT_EQ(echo.error, "");
  EXPECT_EQ(sender_.Post(server_.Url("/act")).get().status, 204);
  EXPECT_EQ(Get("/hello").body, "hello");
  EXPECT_EQ(sender_.Send({.url = server_.Url("/act")}).get().status, 204) << "an empty body";
  EXPECT_THAT(server_.Metrics(), HasSubstr("tenure_http_connections 1\n"))
      << "the connection is kept";
}

TEST_F(Outgoings, AnyStatusIsAnAnswer) {
  for (const auto& [path, status] :
       {std::pair("/throws/boom", 500), {"/throws/problem", 404}, {"/throws/fault", 503}}) {
    const OutgoingReply reply = Get(path);
    EXPECT_EQ(reply.status, status);
    EXPECT_FALSE(reply.acknowledged());
    EXPECT_EQ(reply.error, "");
  }
}

TEST_F(Outgoings, OfALongAnswerTheBeginningIsKept) {
  const OutgoingReply reply = Get("/large");
  EXPECT_EQ(reply.status, 200);
  EXPECT_TRUE(reply.truncated);
  EXPECT_EQ(reply.body, std::string(64 << 10, 'x'));
  EXPECT_FALSE(Get("/hello", 5).truncated) << "it fits just so";
  EXPECT_EQ(Get("/hello", 4).body, "hell");
}

TEST_F(Outgoings, AProxyOfTheEnvironmentIsNotAsked) {
  const support::HttpReceiver proxy;
  ::setenv("http_proxy", proxy.Url().c_str(), 1);
  EXPECT_EQ(Sender().Post(server_.Url("/act"), 5'000).get().status, 204);
  ::unsetenv("http_proxy");
}

TEST_F(Outgoings, WhatWaitsIsSentWhenThereIsRoom) {
  Sender sender({.in_flight_max = 2});
  std::vector<std::future<OutgoingReply>> replies;
  replies.reserve(100);
  for (int i = 0; i < 100; ++i) replies.push_back(sender.Post(server_.Url("/act")));
  for (auto& reply : replies) EXPECT_EQ(reply.get().status, 204);
}

TEST_F(Outgoings, ThoseThatGoFirstAreBegunBeforeAllThatWaited) {
  Outgoing outgoing({.in_flight_max = 1});
  base::Mutex mutex;
  std::string order;
  std::promise<void> all;
  for (const char name : std::string("abcdABef")) {
    OutgoingRequest request{.url = server_.Url("/act"), .timeout_ms = kPatienceMs};
    request.goes_first = name < 'a';
    outgoing.Send(std::move(request), [&, name](const OutgoingReply&) {
      const base::Lock lock(mutex);
      order += name;
      if (order.size() == 8) all.set_value();
    });
  }
  outgoing.Start();
  all.get_future().wait();
  outgoing.Stop();
  EXPECT_EQ(order, "ABabcdef");
}

/// Else libcurl would go through those of all groups, of which thousands may hang, for each that begins or ends.
TEST_F(Outgoings, EachGroupHasConnectionsOfItsOwn) {
  for (const std::uint64_t group : {1u, 1u, 2u, 1u}) {
    OutgoingRequest request{.url = server_.Url("/act"), .timeout_ms = kPatienceMs};
    request.group = group;
    EXPECT_EQ(sender_.Send(std::move(request)).get().status, 204);
  }
  EXPECT_THAT(server_.Metrics(), HasSubstr("tenure_http_connections 2\n"));
}

TEST_F(Outgoings, ACompletionMaySendTheNext) {
  Sender sender({.in_flight_max = 1});
  std::promise<int> last;
  std::function<void(int)> send = [&](int left) {
    sender.outgoing.Send({.url = server_.Url("/act")}, [&, left](OutgoingReply reply) {
      if (left == 0) return last.set_value(reply.status);
      send(left - 1);
    });
  };
  send(20);
  EXPECT_EQ(last.get_future().get(), 204);
}

TEST_F(Outgoings, EverySendOfManyThreadsIsCompletedOnceAlsoByStop) {
  std::atomic<int> completed = 0;
  constexpr int kThreads = 4;
  constexpr int kEach = 50;
  {
    Sender sender;
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < kEach; ++i)
          sender.outgoing.Send({.url = server_.Url("/act")}, [&](OutgoingReply) { ++completed; });
      });
    threads.front().join();
    sender.outgoing.Stop();  // in the middle of the others
    for (std::size_t t = 1; t < threads.size(); ++t) threads[t].join();
  }
  EXPECT_EQ(completed.load(), kThreads * kEach);
}

/// A server that says every byte that the test tells it to.
class OutgoingToRude : public testing::Test {
 protected:
  std::future<OutgoingReply> Post(std::int64_t timeout_ms = kPatienceMs) {
    return sender_.Post(server_.Url(), timeout_ms);
  }
  /// What comes of a request that is answered so.
  OutgoingReply AnsweredBy(std::string_view bytes, bool hang_up = false) {
    auto reply = Post();
    server_.Next();
    server_.Say(bytes);
    if (hang_up) server_.HangUp();
    return reply.get();
  }

  support::HttpReceiver server_;
  Sender sender_{{.in_flight_max = 1}};
};

TEST_F(OutgoingToRude, SaysWhatItWasToldToAndWhoItIs) {
  auto reply = sender_.Send({.url = server_.Url() + "/usages",
                             .headers = {{"Idempotency-Key", "a.1-2-3"},
                                         {"Content-Type", "application/x-thing"},
                                         {"X-Empty", ""}},
                             .body = "{}"});
  const support::ReceivedRequest request = server_.Next();
  server_.Say("HTTP/1.1 204 No Content\r\n\r\n");
  EXPECT_EQ(reply.get().status, 204);
  EXPECT_EQ(request.method + request.target, "POST/usages");
  EXPECT_EQ(request.FindHeader("Idempotency-Key"), "a.1-2-3");
  EXPECT_EQ(request.FindHeader("Content-Type"), "application/x-thing");
  EXPECT_EQ(request.FindHeader("X-Empty"), "");
  EXPECT_THAT(request.FindHeader("User-Agent").value_or(""), StartsWith("tenure/"));
  EXPECT_EQ(request.FindHeader("Expect"), std::nullopt);
}

TEST_F(OutgoingToRude, AServerThatHangsIsGivenUpWhenTheTimeIsOver) {
  auto reply = Post(300);
  server_.Next();
  const OutgoingReply none = reply.get();
  EXPECT_EQ(none.status, 0);
  EXPECT_TRUE(none.maybe_received);
  EXPECT_NE(none.error, "");
  EXPECT_TRUE(server_.AtEnd());
}

TEST_F(OutgoingToRude, AnAnswerThatBreaksOffOrIsNoneLeavesItOpenWhatHappened) {
  for (const char* part : {"", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{\"a",
                           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{\"a",
                           "HTTP/1.1 200 OK\r\nCon", "HTTP/1.1 2", "SSH-2.0-OpenSSH_9.2\r\n"}) {
    const OutgoingReply none = AnsweredBy(part, true);
    EXPECT_EQ(none.status, 0) << part;
    EXPECT_EQ(none.body, "") << part;
    EXPECT_TRUE(none.maybe_received) << part;
    EXPECT_NE(none.error, "") << part;
  }
}

TEST_F(OutgoingToRude, AHeaderWithoutAnEndIsNotKept) {
  std::string header = "HTTP/1.1 200 OK\r\n";
  for (int i = 0; i < 2'000; ++i) header += "X-More: 0123456789012345678901234567890123456789\r\n";
  const OutgoingReply none = AnsweredBy(header);
  EXPECT_EQ(none.status, 0);
  EXPECT_EQ(none.error, "the header of the answer is too long");
}

TEST_F(OutgoingToRude, ARedirectIsAnAnswerAndIsNotFollowed) {
  TestServer elsewhere;
  const OutgoingReply reply = AnsweredBy(
      fmt::format("HTTP/1.1 307 Temporary Redirect\r\nLocation: {}\r\nContent-Length: 0\r\n\r\n",
                  elsewhere.Url("/act")));
  EXPECT_EQ(reply.status, 307);
  EXPECT_THAT(elsewhere.Metrics(), HasSubstr("tenure_http_connections 0\n"));
}

TEST_F(OutgoingToRude, RetryAfterIsSecondsOrADateByTheServersOwnClock) {
  EXPECT_EQ(AnsweredBy("HTTP/1.1 429 Slow Down\r\nretry-after: 7\r\nContent-Length: 0\r\n\r\n")
                .retry_after_ms,
            7'000);
  EXPECT_EQ(AnsweredBy("HTTP/1.1 503 No\r\nDate: Sun, 21 Dec 2025 10:00:00 GMT\r\n"
                       "Retry-After: Sun, 21 Dec 2025 10:00:30 GMT\r\nContent-Length: 0\r\n\r\n")
                .retry_after_ms,
            30'000)
      << "on the connection that was kept";
}

TEST_F(OutgoingToRude, TheTimeInTheQueueCounts) {
  auto first = Post();
  server_.Next();
  const OutgoingReply second = Post(1).get();
  EXPECT_EQ(second.error, "the request's time was over before its turn came");
  EXPECT_FALSE(second.maybe_received);
  server_.Say("HTTP/1.1 204 No Content\r\n\r\n");
  EXPECT_EQ(first.get().status, 204);
}

TEST_F(OutgoingToRude, StopCompletesWhatIsUnderWayAndWhatWaits) {
  auto under_way = Post();
  server_.Next();
  auto waiting = Post();
  sender_.outgoing.Stop();
  const OutgoingReply cut_off = under_way.get();
  EXPECT_EQ(cut_off.error, "the program is stopping");
  EXPECT_TRUE(cut_off.maybe_received);
  EXPECT_FALSE(waiting.get().maybe_received);
  EXPECT_TRUE(server_.AtEnd());
  EXPECT_EQ(Post().get().error, "the program is stopping") << "and later ones";
  sender_.outgoing.Stop();
}

TEST(Outgoing, ARefusedConnectionMeansThatNothingWasReceived) {
  const std::string url = support::HttpReceiver().Url();
  const OutgoingReply none = Sender().Post(url).get();
  EXPECT_EQ(none.status, 0);
  EXPECT_FALSE(none.maybe_received);
  EXPECT_THAT(none.error, HasSubstr("connect"));
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

}  // namespace
}  // namespace tenure::http
