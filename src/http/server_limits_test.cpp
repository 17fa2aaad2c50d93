// What a client may not do to the server: too much, too slowly, too often.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/server.hpp"
#include "http/test_server.hpp"

namespace tenure::http {
namespace {

using testing::HasSubstr;

/// The answer that refuses, which is also the last.
void ExpectRefused(RawClient& client, int status) {
  const RawAnswer answer = client.Read();
  EXPECT_EQ(answer.status, status);
  EXPECT_EQ(answer.Header("Connection"), "close");
  EXPECT_EQ(answer.Header("Content-Type"), "application/problem+json");
  EXPECT_THAT(answer.body, HasSubstr(answer.Header("X-Request-Id")));
  EXPECT_TRUE(client.AtEnd());
}

/// They hold whether bytes are encrypted or not.
class LimitsOver : public testing::TestWithParam<Transport> {};
INSTANTIATE_TEST_SUITE_P(Over, LimitsOver, testing::Values(Transport::kPlain, Transport::kTls),
                         [](const auto& one) { return ToText(one.param); });

TEST_P(LimitsOver, AHeaderOverItsLimitIs431) {
  TestServer server(GetParam(), {.max_header_bytes = 1'000});
  auto one_line = server.Connect();
  one_line.Send(Get("/hello", "X: " + std::string(1'000, 'x') + "\r\n"));
  ExpectRefused(one_line, 431);
  auto target = server.Connect();
  target.Send("GET /" + std::string(5'000, 'x'));  // its end never comes
  ExpectRefused(target, 431);
  auto fits = server.Connect();
  EXPECT_EQ(fits.Ask(Get("/hello", "X: " + std::string(900, 'x') + "\r\n")).status, 200);
}

TEST_P(LimitsOver, ABodyOverItsLimitIs413BeforeItIsRead) {
  TestServer server(GetParam(), {.max_body_bytes = 100});
  auto client = server.Connect();
  client.Send(
      "PUT /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Content-Length: 101\r\nExpect: 100-continue\r\n\r\n");
  ExpectRefused(client, 413);
  auto fits = server.Connect();
  EXPECT_EQ(fits.Ask(Put("/echo", std::string(100, 'x'))).status, 200);
}

TEST_P(LimitsOver, AClientThatSendsItsLargeBodyAnywayCanReadTheRefusal) {
  TestServer server(GetParam(), {.max_body_bytes = 100});
  auto client = server.Connect();
  client.Send(Put("/echo", std::string(2'000'000, 'x')));
  ExpectRefused(client, 413);
}

TEST_P(LimitsOver, ChunksOverTheLimitAre413AsTheyGrow) {
  TestServer server(GetParam(), {.max_body_bytes = 100});
  auto client = server.Connect();
  client.Send(
      "PUT /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Transfer-Encoding: chunked\r\n\r\n");
  for (int i = 0; i < 5; ++i) client.Send("13\r\n0123456789012345678\r\n");
  client.Send("6\r\n");
  ExpectRefused(client, 413);
}

TEST_P(LimitsOver, ASlowHeaderIs408) {
  TestServer server(GetParam());
  auto client = server.Connect();
  client.Send(Get("/hello") + "GET /hel");
  EXPECT_EQ(client.Read().status, 200);
  server.Settle();
  server.clock.Advance(server.options.header_timeout_ms);
  ExpectRefused(client, 408);
  EXPECT_THAT(server.Metrics(), HasSubstr(R"(http_rejected_total{reason="header_timeout"} 1)"));
}

TEST_P(LimitsOver, ASlowBodyIs408) {
  TestServer server(GetParam());
  auto client = server.Connect();
  const std::string request = Put("/echo", "0123456789");
  client.Send(Get("/hello") + request.substr(0, request.size() - 1));
  EXPECT_EQ(client.Read().status, 200);
  server.Settle();
  server.clock.Advance(server.options.body_timeout_ms);
  ExpectRefused(client, 408);
}

TEST_P(LimitsOver, BytesNowAndThenDoNotKeepAHeaderAlive) {
  TestServer server(GetParam());
  auto client = server.Connect();
  client.Send(Get("/hello") + "GET /hel");
  EXPECT_EQ(client.Read().status, 200);
  server.Settle();
  server.clock.Advance(server.options.header_timeout_ms - 1);
  client.Send("l");
  server.clock.Advance(1);
  ExpectRefused(client, 408);
}

TEST_P(LimitsOver, AnIdleConnectionIsClosedWithoutAWord) {
  TestServer server(GetParam());
  auto client = server.Connect();
  EXPECT_EQ(client.Ask(Get("/hello")).status, 200);
  server.Settle();
  server.clock.Advance(server.options.idle_timeout_ms);
  EXPECT_TRUE(client.AtEnd());
}

TEST_P(LimitsOver, AHandlerMayTakeLongerThanAnyOfThem) {
  TestServer server(GetParam());
  auto client = server.Connect();
  client.Send(Get("/held"));
  const ExchangePtr exchange = server.held.Take();
  server.Settle();
  server.clock.Advance(10 * server.options.idle_timeout_ms);
  for (int i = 0; i < 3; ++i) server.Settle();
  exchange->executor().Post([exchange] { exchange->Reply({.body = "late"}); });
  EXPECT_EQ(client.Read().body, "late");
}

TEST_P(LimitsOver, AClientThatDoesNotReadItsAnswerIsCutOff) {
  TestServer server(GetParam());
  auto client = server.Connect();
  client.Send(Get("/large") + Get("/large"));
  auto other = server.Connect();
  EXPECT_EQ(other.Ask(Get("/hello")).status, 200);  // nobody else waits for it
  server.AwaitMetric(R"(http_requests_total{route="getLarge",method="GET",status="200"} 1)");
  server.Settle();
  server.clock.Advance(server.options.write_timeout_ms);
  server.AwaitMetric("http_connections 1");
  EXPECT_LT(client.CountToEnd(), 8U * 1024 * 1024);
}

TEST_P(LimitsOver, AClientThatReadsLateGetsAllOfIt) {
  TestServer server(GetParam());
  auto client = server.Connect();
  client.Send(Get("/large") + Get("/large") + Get("/hello"));
  server.AwaitMetric(R"(http_requests_total{route="getLarge",method="GET",status="200"} 1)");
  EXPECT_EQ(client.Read().body.size(), 8U * 1024 * 1024);
  EXPECT_EQ(client.Read().body.size(), 8U * 1024 * 1024);
  EXPECT_EQ(client.Read().body, "hello");
}

TEST(ServerLimits, AConnectionTooManyIs503) {
  TestServer server({.max_connections = 2});
  auto first = server.Connect();
  auto second = server.Connect();
  EXPECT_EQ(first.Ask(Get("/hello")).status, 200);
  EXPECT_EQ(second.Ask(Get("/hello")).status, 200);
  auto third = server.Connect();
  const RawAnswer answer = third.Read();
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.Header("Retry-After"), "1");
  EXPECT_TRUE(third.AtEnd());
  second.Close();
  server.AwaitMetric("http_connections 1");
  auto fourth = server.Connect();
  EXPECT_EQ(fourth.Ask(Get("/hello")).status, 200);
}

TEST_P(LimitsOver, ARefusedClientThatStaysOnTheLineIsCutOff) {
  TestServer server(GetParam());
  auto client = server.Connect();
  client.Send("nonsense\r\n\r\n");
  ExpectRefused(client, 400);
  auto other = server.Connect();
  for (std::int64_t open = 2; open != 1;) {
    other.Ask(Get("/hello"));
    server.Settle();
    server.clock.Advance(1'000);
    open = server.registry.GetGauge("http_connections", "Open client connections.").value();
  }
  EXPECT_EQ(other.Ask(Get("/hello")).status, 200);
}

}  // namespace
}  // namespace tenure::http
