// Answers that come later, from elsewhere, or never; and how the server stops.

#include <future>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/server.hpp"
#include "http/test_server.hpp"

namespace tenure::http {
namespace {

constexpr std::int64_t kLongMs = 20'000;

void ReplyLater(const ExchangePtr& exchange, std::string body) {
  exchange->executor().Post(
      [exchange, body = std::move(body)] { exchange->Reply({.body = body}); });
}

TEST(Exchange, IsAnsweredLaterByWayOfItsLoop) {
  TestServer server;
  auto client = server.Connect();
  client.Send(Get("/held"));
  std::thread lane([exchange = server.held.Take()]() mutable {
    base::Executor& loop = exchange->executor();
    loop.Post([exchange = std::move(exchange)] { exchange->Reply({.body = "from a lane"}); });
  });
  EXPECT_EQ(client.Read().body, "from a lane");
  lane.join();
}

TEST(Exchange, OutlivesItsClient) {
  TestServer server;
  auto client = server.Connect();
  client.Send(Get("/held", "X-Mark: still here\r\n"));
  ExchangePtr exchange = server.held.Take();
  client.Close();
  EXPECT_EQ(exchange->request().FindHeader("x-mark"), "still here");
  RunOn(exchange->executor(), [exchange] { exchange->Reply({.body = "to nobody"}); });
  exchange.reset();
  server.AwaitMetric("http_connections 0");
}

TEST(Exchange, MayEndWithoutAnAnswer) {
  TestServer server;
  auto client = server.Connect();
  client.Send(Get("/held"));
  const ExchangePtr exchange = server.held.Take();
  RunOn(exchange->executor(), [&] {
    exchange->OnClientGone([] { FAIL() << "who hangs up himself is not told"; });
    exchange->HangUp();
  });
  EXPECT_TRUE(client.AtEnd());
  server.Settle();
  EXPECT_EQ(server.Connect().Ask(Get("/hello")).status, 200) << "the server goes on";
}

TEST(Exchange, ThatAHandlerDropsIsAnsweredWith500) {
  TestServer server;
  auto client = server.Connect();
  EXPECT_EQ(client.Ask(Get("/forgets")).status, 500);
  EXPECT_EQ(client.Ask(Get("/hello")).status, 200);
}

TEST(Exchange, ThatAnotherThreadDropsIsAnsweredWith500) {
  TestServer server;
  auto client = server.Connect();
  client.Send(Get("/held"));
  std::thread([exchange = server.held.Take()]() mutable { exchange.reset(); }).join();
  EXPECT_EQ(client.Read().status, 500);
  EXPECT_EQ(client.Ask(Get("/hello")).status, 200);
}

TEST(Exchange, WhoseTaskFailsIsAnsweredWith500) {
  TestServer server;
  auto client = server.Connect();
  client.Send(Get("/held"));
  ExchangePtr exchange = server.held.Take();
  base::Executor& loop = exchange->executor();
  loop.Post([exchange = std::move(exchange)] { throw std::runtime_error("oh"); });
  EXPECT_EQ(client.Read().status, 500);
}

TEST(ExchangeDeathTest, IsAnsweredOnce) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        TestServer server;
        auto client = server.Connect();
        client.Send(Get("/held"));
        const ExchangePtr exchange = server.held.Take();
        RunOn(exchange->executor(), [exchange] {
          exchange->Reply({.body = "one"});
          exchange->Reply({.body = "two"});
        });
      },
      "answered once");
}

TEST(ServerStop, FinishesWhatIsUnderWayAndClosesTheRest) {
  TestServer server({.threads = 2});
  std::vector<RawClient> idle;
  for (int i = 0; i < 10; ++i) {
    idle.push_back(server.Connect());
    EXPECT_EQ(idle.back().Ask(Get("/hello")).status, 200);
  }
  auto busy = server.Connect();
  busy.Send(Get("/held") + Get("/hello"));
  ExchangePtr exchange = server.held.Take();
  std::thread stop([&] { server.server.Stop(kLongMs); });
  for (auto& client : idle) EXPECT_TRUE(client.AtEnd());
  EXPECT_THROW(server.Connect(), std::runtime_error);
  ReplyLater(exchange, "just in time");
  exchange.reset();
  const RawAnswer answer = busy.Read();
  EXPECT_EQ(answer.body, "just in time");
  EXPECT_EQ(answer.Header("Connection"), "close");
  EXPECT_TRUE(busy.AtEnd());
  stop.join();
}

TEST(ServerStop, LetsARequestThatIsHalfHereArriveAndBeAnswered) {
  TestServer server;
  auto idle = server.Connect();
  EXPECT_EQ(idle.Ask(Get("/hello")).status, 200);
  auto client = server.Connect();
  client.Send(Get("/hello") + "GET /hel");
  EXPECT_EQ(client.Read().status, 200);
  server.Settle();
  std::thread stop([&] { server.server.Stop(kLongMs); });
  EXPECT_TRUE(idle.AtEnd());  // the stop has begun
  const RawAnswer answer = client.Ask("lo HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(answer.body, "hello");
  EXPECT_EQ(answer.Header("Connection"), "close");
  stop.join();
}

TEST(ServerStop, GivesUpWhenTheGraceIsOver) {
  TestServer server;
  auto client = server.Connect();
  client.Send(Get("/held"));
  ExchangePtr exchange = server.held.Take();
  server.server.Stop(0);
  EXPECT_TRUE(client.AtEnd());
  // The lane does not know yet. What it does now must be harmless.
  EXPECT_EQ(exchange->request().path, "/held");
  ReplyLater(exchange, "too late");
}

TEST(ServerStop, AnExchangeMayOutliveTheServer) {
  ExchangePtr exchange;
  {
    TestServer server;
    auto client = server.Connect();
    client.Send(Get("/held"));
    exchange = server.held.Take();
  }
  ReplyLater(exchange, "too late");
  exchange.reset();
}

TEST(ServerStop, TwiceIsAsGoodAsOnce) {
  TestServer server;
  server.server.Stop(0);
  server.server.Stop(0);
  EXPECT_THROW(server.Connect(), std::runtime_error);
}

}  // namespace
}  // namespace tenure::http
