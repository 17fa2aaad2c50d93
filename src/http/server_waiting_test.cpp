// Handlers that wait for something, as a long poll does: they learn that their client has gone, and
// that the server stops.

#include <atomic>
#include <future>
#include <memory>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/server.hpp"
#include "http/test_server.hpp"

namespace tenure::http {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kLongMs = 20'000;

/// A client whose request waits, the exchange that it waits for, and what its handler was told.
class Waiting {
 public:
  explicit Waiting(TestServer& server, std::string_view request = "/held")
      : client(server.Connect()) {
    client.Send(Get(request));
    exchange = server.held.Take();
  }

  void AskForGone() {
    On([this] {
      exchange->OnClientGone([this, mark = callback_] {
        ++told;
        gone.set_value();
      });
    });
  }
  /// Answers as a lease's acquire would.
  void AskForStopping() {
    On([this] {
      exchange->OnStopping([held = exchange] {
        held->Reply(base::Fault(base::FaultKind::kStopping, "this process is shutting down"));
      });
    });
  }
  void Reply(std::string body) {
    On([this, body] { exchange->Reply({.body = body}); });
  }
  void On(base::Task task) { RunOn(exchange->executor(), std::move(task)); }
  /// Whether a callback is still kept somewhere.
  bool IsKept() const { return callback_.use_count() > 1; }

  RawClient client;
  ExchangePtr exchange;
  std::atomic<int> told = 0;
  std::promise<void> gone;

 private:
  const std::shared_ptr<int> callback_ = std::make_shared<int>();
};

/// It is told whether bytes are encrypted or not.
class WaitingOver : public testing::TestWithParam<Transport> {};
INSTANTIATE_TEST_SUITE_P(Over, WaitingOver, testing::Values(Transport::kPlain, Transport::kTls),
                         [](const auto& one) { return ToText(one.param); });

TEST_P(WaitingOver, ItsHandlerLearnsThatTheClientHasGone) {
  TestServer server(GetParam());
  Waiting waiting(server);
  waiting.AskForGone();
  waiting.client.Close();
  waiting.gone.get_future().wait();
  server.AwaitMetric("http_connections 0");
  waiting.Reply("to nobody");
  EXPECT_EQ(waiting.told, 1);
  EXPECT_FALSE(waiting.IsKept());
}

TEST_P(WaitingOver, AClientThatHadGoneBeforeAnybodyAskedIsNoticedToo) {
  TestServer server(GetParam());
  Waiting waiting(server);
  waiting.client.Close();
  waiting.AskForGone();
  waiting.gone.get_future().wait();
}

TEST_P(WaitingOver, AClientThatSendsNoMoreCountsAsGone) {
  TestServer server(GetParam());
  Waiting waiting(server);
  waiting.AskForGone();
  waiting.client.HalfClose();
  waiting.gone.get_future().wait();
  EXPECT_TRUE(waiting.client.AtEnd()) << "the connection is closed";
}

TEST_P(WaitingOver, WhoAsksOnAClosedConnectionIsToldAtOnce) {
  TestServer server(GetParam());
  Waiting waiting(server);
  waiting.AskForGone();
  waiting.client.Close();
  waiting.gone.get_future().wait();
  waiting.gone = {};
  waiting.AskForGone();
  waiting.gone.get_future().wait();
}

TEST_P(WaitingOver, TheNextRequestOfAWaitingClientIsKeptAndAnswered) {
  TestServer server(GetParam());
  Waiting waiting(server);
  waiting.AskForGone();
  waiting.client.Send(Get("/hello"));
  waiting.Reply("first");
  EXPECT_EQ(waiting.client.Read().body, "first");
  EXPECT_EQ(waiting.client.Read().body, "hello");
  EXPECT_EQ(waiting.told, 0);
}

TEST_P(WaitingOver, NobodyIsToldAfterTheAnswer) {
  TestServer server(GetParam());
  Waiting waiting(server);
  waiting.AskForGone();
  waiting.Reply("in time");
  EXPECT_FALSE(waiting.IsKept());
  EXPECT_EQ(waiting.client.Read().body, "in time");
  waiting.client.Close();
  server.AwaitMetric("http_connections 0");
  server.Settle();
  EXPECT_EQ(waiting.told, 0);
}

TEST_P(WaitingOver, AWatchedConnectionServesOnAndCanBeWatchedAgain) {
  TestServer server(GetParam());
  auto waiting = std::make_unique<Waiting>(server);
  waiting->AskForGone();
  for (int i = 0; i < 3; ++i) {
    waiting->Reply("again");
    EXPECT_EQ(waiting->client.Read().body, "again");
    EXPECT_EQ(waiting->client.Ask(Get("/hello")).body, "hello");
    waiting->client.Send(Get("/held"));
    waiting->exchange = server.held.Take();
    waiting->AskForGone();
  }
  waiting->client.Close();
  waiting->gone.get_future().wait();
  EXPECT_EQ(waiting->told, 1);
}

TEST_P(WaitingOver, WhatIsDroppedWithoutAnAnswerIsStillA500) {
  TestServer server(GetParam());
  Waiting waiting(server);
  waiting.AskForGone();
  waiting.exchange.reset();
  EXPECT_EQ(waiting.client.Read().status, 500);
  server.Settle();
  EXPECT_FALSE(waiting.IsKept());
}

TEST_P(WaitingOver, AStopIsAnsweredAtOnce) {
  TestServer server(GetParam(), {.threads = 2});
  std::vector<std::unique_ptr<Waiting>> all;
  for (int i = 0; i < 6; ++i) {
    all.push_back(std::make_unique<Waiting>(server));
    all.back()->AskForGone();
    all.back()->AskForStopping();
  }
  std::thread stop([&] { server.server.Stop(kLongMs); });
  for (auto& waiting : all) {
    const RawAnswer answer = waiting->client.Read();
    EXPECT_EQ(answer.status, 503);
    EXPECT_THAT(answer.body, HasSubstr("urn:tenure:problem:stopping"));
    EXPECT_EQ(answer.Header("Connection"), "close");
    EXPECT_TRUE(waiting->client.AtEnd());
    EXPECT_EQ(waiting->told, 0);
  }
  stop.join();
}

TEST_P(WaitingOver, WhoBeginsToWaitDuringAStopIsToldAtOnce) {
  TestServer server(GetParam());
  auto idle = server.Connect();
  EXPECT_EQ(idle.Ask(Get("/hello")).status, 200);
  auto client = server.Connect();
  client.Send(Get("/hello") + "GET /he");
  EXPECT_EQ(client.Read().status, 200);
  server.Settle();
  std::thread stop([&] { server.server.Stop(kLongMs); });
  EXPECT_TRUE(idle.AtEnd());  // the stop has begun
  client.Send("ld HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const ExchangePtr exchange = server.held.Take();
  RunOn(exchange->executor(), [exchange] {
    exchange->OnStopping([exchange] {
      exchange->Reply(base::Fault(base::FaultKind::kStopping, "this process is shutting down"));
    });
  });
  EXPECT_EQ(client.Read().status, 503);
  stop.join();
}

TEST_P(WaitingOver, WhenTheGraceIsOverWhoWaitsIsTold) {
  TestServer server(GetParam());
  Waiting waiting(server);
  waiting.AskForGone();
  server.server.Stop(0);
  EXPECT_EQ(waiting.told, 1);
  EXPECT_FALSE(waiting.IsKept());
}

}  // namespace
}  // namespace tenure::http
