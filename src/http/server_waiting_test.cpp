// Handlers that wait for something, as a long poll does: they learn that their client has gone, and
// that the server stops.

#include <memory>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/server.hpp"
#include "http/test_server.hpp"

namespace tenure::http {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kPatientMs = 20'000;

class WaitingOver : public testing::TestWithParam<Transport> {
 protected:
  TestServer server_{GetParam()};
  Waiting waiting_{server_};
};
INSTANTIATE_TEST_SUITE_P(Over, WaitingOver, kBothTransports, TransportName);

TEST_P(WaitingOver, ItsHandlerLearnsThatTheClientHasGone) {
  waiting_.AskForGone();
  waiting_.client.Close();
  waiting_.AwaitGone();
  server_.AwaitMetric("tenure_http_connections 0");
  waiting_.Reply("to nobody");
  EXPECT_EQ(waiting_.told, 1);
  EXPECT_FALSE(waiting_.IsKept());
}

TEST_P(WaitingOver, AClientThatHadGoneBeforeAnybodyAskedIsNoticedToo) {
  waiting_.client.Close();
  waiting_.AskForGone();
  waiting_.AwaitGone();
}

TEST_P(WaitingOver, AClientThatSendsNoMoreCountsAsGone) {
  waiting_.AskForGone();
  waiting_.client.HalfClose();
  waiting_.AwaitGone();
  EXPECT_TRUE(waiting_.client.AtEnd()) << "the connection is closed";
}

TEST_P(WaitingOver, WhoAsksOnAClosedConnectionIsToldAtOnce) {
  waiting_.AskForGone();
  waiting_.client.Close();
  waiting_.AwaitGone();
  waiting_.AskForGone();
  waiting_.AwaitGone();
}

TEST_P(WaitingOver, TheNextRequestOfAWaitingClientIsKeptAndAnswered) {
  waiting_.AskForGone();
  waiting_.client.Send(Get("/hello"));
  waiting_.Reply("first");
  EXPECT_EQ(waiting_.client.ReadResponse().body, "first");
  EXPECT_EQ(waiting_.client.ReadResponse().body, "hello");
  EXPECT_EQ(waiting_.told, 0);
}

TEST_P(WaitingOver, NobodyIsToldAfterTheAnswer) {
  waiting_.AskForGone();
  waiting_.Reply("in time");
  EXPECT_FALSE(waiting_.IsKept());
  EXPECT_EQ(waiting_.client.ReadResponse().body, "in time");
  waiting_.client.Close();
  server_.AwaitMetric("tenure_http_connections 0");
  server_.Settle();
  EXPECT_EQ(waiting_.told, 0);
}

TEST_P(WaitingOver, AWatchedConnectionServesOnAndCanBeWatchedAgain) {
  waiting_.AskForGone();
  for (int i = 0; i < 3; ++i) {
    waiting_.Reply("again");
    EXPECT_EQ(waiting_.client.ReadResponse().body, "again");
    EXPECT_EQ(waiting_.client.Ask(Get("/hello")).body, "hello");
    waiting_.exchange = server_.Hold(waiting_.client);
    waiting_.AskForGone();
  }
  waiting_.client.Close();
  waiting_.AwaitGone();
  EXPECT_EQ(waiting_.told, 1);
}

TEST_P(WaitingOver, WhatIsDroppedWithoutAnAnswerIsStillA500) {
  waiting_.AskForGone();
  waiting_.exchange.reset();
  EXPECT_EQ(waiting_.client.ReadResponse().status, 500);
  server_.Settle();
  EXPECT_FALSE(waiting_.IsKept());
}

TEST_P(WaitingOver, AStopIsAnsweredAtOnce) {
  TestServer server(GetParam(), {.threads = 2});
  std::vector<std::unique_ptr<Waiting>> all;
  for (int i = 0; i < 6; ++i) {
    all.push_back(std::make_unique<Waiting>(server));
    all.back()->AskForGone();
    all.back()->AskForStopping();
  }
  std::thread stop([&] { server.server.Stop(kPatientMs); });
  for (auto& waiting : all) {
    const RawAnswer answer = waiting->client.ReadResponse();
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
  EXPECT_EQ(client.ReadResponse().status, 200);
  server.Settle();
  std::thread stop([&] { server.server.Stop(kPatientMs); });
  EXPECT_TRUE(idle.AtEnd());  // the stop has begun
  client.Send("ld HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const ExchangePtr exchange = server.held.Take();
  RunOn(exchange->executor(), [exchange] {
    exchange->OnStopping([exchange] {
      exchange->Reply(base::Fault(base::FaultKind::kStopping, "this process is shutting down"));
    });
  });
  EXPECT_EQ(client.ReadResponse().status, 503);
  stop.join();
}

TEST_P(WaitingOver, WhenTheGraceIsOverWhoWaitsIsTold) {
  waiting_.AskForGone();
  server_.server.Stop(0);
  EXPECT_EQ(waiting_.told, 1);
  EXPECT_FALSE(waiting_.IsKept());
}

}  // namespace
}  // namespace tenure::http
