// Answers that come later, from elsewhere, or never; and how the server stops.

#include <thread>

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

class ExchangeTest : public ServedPlain {};
class ServerStop : public ServedPlain {};

TEST_F(ExchangeTest, IsAnsweredLaterByWayOfItsLoop) {
  std::thread lane([exchange = server_.Hold(client_)]() mutable {
    base::Executor& loop = exchange->executor();
    loop.Post([exchange = std::move(exchange)] { exchange->Reply({.body = "from a lane"}); });
  });
  EXPECT_EQ(client_.ReadResponse().body, "from a lane");
  lane.join();
}

TEST_F(ExchangeTest, OutlivesItsClient) {
  client_.Send(Get("/held", "X-Mark: still here\r\n"));
  ExchangePtr exchange = server_.held.Take();
  client_.Close();
  EXPECT_EQ(exchange->request().FindHeader("x-mark"), "still here");
  RunOn(exchange->executor(), [exchange] { exchange->Reply({.body = "to nobody"}); });
  exchange.reset();
  server_.AwaitMetric("tenure_http_connections 0");
}

TEST_F(ExchangeTest, MayEndWithoutAnAnswer) {
  const ExchangePtr exchange = server_.Hold(client_);
  RunOn(exchange->executor(), [&] {
    exchange->OnClientGone([] { FAIL() << "who hangs up himself is not told"; });
    exchange->HangUp();
  });
  EXPECT_TRUE(client_.AtEnd());
  server_.Settle();
  EXPECT_EQ(server_.Connect().Ask(Get("/hello")).status, 200) << "the server goes on";
}

TEST_F(ExchangeTest, ThatAHandlerDropsIsAnsweredWith500) {
  EXPECT_EQ(client_.Ask(Get("/forgets")).status, 500);
  EXPECT_EQ(client_.Ask(Get("/hello")).status, 200);
}

TEST_F(ExchangeTest, ThatAnotherThreadDropsIsAnsweredWith500) {
  std::thread([exchange = server_.Hold(client_)]() mutable { exchange.reset(); }).join();
  EXPECT_EQ(client_.ReadResponse().status, 500);
  EXPECT_EQ(client_.Ask(Get("/hello")).status, 200);
}

TEST_F(ExchangeTest, WhoseTaskFailsIsAnsweredWith500) {
  ExchangePtr exchange = server_.Hold(client_);
  base::Executor& loop = exchange->executor();
  loop.Post([exchange = std::move(exchange)] { throw std::runtime_error("oh"); });
  EXPECT_EQ(client_.ReadResponse().status, 500);
}

TEST(ExchangeDeathTest, IsAnsweredOnce) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        TestServer server;
        auto client = server.Connect();
        const ExchangePtr exchange = server.Hold(client);
        RunOn(exchange->executor(), [exchange] {
          exchange->Reply({.body = "one"});
          exchange->Reply({.body = "two"});
        });
      },
      "answered once");
}

TEST_F(ServerStop, FinishesWhatIsUnderWayAndClosesTheRest) {
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
  const RawAnswer answer = busy.ReadResponse();
  EXPECT_EQ(answer.body, "just in time");
  EXPECT_EQ(answer.Header("Connection"), "close");
  EXPECT_TRUE(busy.AtEnd());
  stop.join();
}

TEST_F(ServerStop, LetsARequestThatIsHalfHereArriveAndBeAnswered) {
  auto idle = server_.Connect();
  EXPECT_EQ(idle.Ask(Get("/hello")).status, 200);
  client_.Send(Get("/hello") + "GET /hel");
  EXPECT_EQ(client_.ReadResponse().status, 200);
  server_.Settle();
  std::thread stop([&] { server_.server.Stop(kLongMs); });
  EXPECT_TRUE(idle.AtEnd());  // the stop has begun
  const RawAnswer answer = client_.Ask("lo HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(answer.body, "hello");
  EXPECT_EQ(answer.Header("Connection"), "close");
  stop.join();
}

TEST_F(ServerStop, GivesUpWhenTheGraceIsOver) {
  ExchangePtr exchange = server_.Hold(client_);
  server_.server.Stop(0);
  EXPECT_TRUE(client_.AtEnd());
  // The lane does not know yet. What it does now must be harmless.
  EXPECT_EQ(exchange->request().path, "/held");
  ReplyLater(exchange, "too late");
}

TEST_F(ServerStop, AnExchangeMayOutliveTheServer) {
  ExchangePtr exchange;
  {
    TestServer server;
    auto client = server.Connect();
    exchange = server.Hold(client);
  }
  ReplyLater(exchange, "too late");
  exchange.reset();
}

TEST_F(ServerStop, TwiceIsAsGoodAsOnce) {
  server_.server.Stop(0);
  server_.server.Stop(0);
  EXPECT_THROW(server_.Connect(), std::runtime_error);
}

}  // namespace
}  // namespace tenure::http
