// What a client may not do to the server: too much, too slowly, too often.

#include <sys/socket.h>

#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/server.hpp"
#include "http/test_server.hpp"

namespace tenure::http {
namespace {

using testing::HasSubstr;

/// The answer that refuses, which is also the last.
void ExpectRefused(RawClient& client, int status) {
  const RawAnswer answer = client.ReadResponse();
  EXPECT_EQ(answer.status, status);
  EXPECT_EQ(answer.Header("Connection"), "close");
  EXPECT_EQ(answer.Header("Content-Type"), "application/problem+json");
  EXPECT_THAT(answer.body, HasSubstr(answer.Header("X-Request-Id")));
  EXPECT_TRUE(client.AtEnd());
}

class LimitsOver : public Served {};
INSTANTIATE_TEST_SUITE_P(Over, LimitsOver, kBothTransports, TransportName);

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

// ---- bodies that are not welcome, or too many

/// Takes whoever has a token.
PrincipalPtr WithToken(const Request& request) {
  if (!request.FindHeader("Authorization"))
    throw ProblemError({.status = 401, .type = "unauthenticated"});
  return Known({.person = "ada", .scopes = {"sessions:read"}});
}

/// The header of a request whose body does not come unless it is asked for.
std::string PutHeader(std::string_view path, std::string_view framing,
                      std::string_view type = "application/json") {
  return fmt::format(
      "PUT {} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {}\r\n{}\r\n"
      "Expect: 100-continue\r\n\r\n",
      path, type, framing);
}
constexpr const char* kChunked = "Transfer-Encoding: chunked";

TEST_P(LimitsOver, ABodyWithoutATokenIs401BeforeItIsRead) {
  TestServer server(GetParam(), {}, WithToken);
  for (const char* framing : {"Content-Length: 3", "Content-Length: 500000", kChunked}) {
    auto client = server.Connect();
    client.Send(PutHeader("/guarded", framing));
    ExpectRefused(client, 401);
  }
}

TEST_P(LimitsOver, WhatIsWrongWithAHeaderIsSaidBeforeItsBodyIsRead) {
  TestServer server(GetParam(), {}, WithToken);
  struct Case {
    const char* path;
    const char* type;
    int status;
  };
  for (const Case& each :
       {Case{"/nowhere", "application/json", 404}, Case{"/hello", "application/json", 405},
        Case{"/echo", "text/plain", 415}}) {
    auto client = server.Connect();
    client.Send(PutHeader(each.path, "Content-Length: 500000", each.type));
    ExpectRefused(client, each.status);
  }
}

TEST_P(LimitsOver, WhoSendsAnUnwelcomeBodyAnywayCanReadWhy) {
  TestServer server(GetParam(), {}, WithToken);
  auto client = server.Connect();
  client.Send(Put("/guarded", std::string(900'000, 'x')));
  ExpectRefused(client, 401);
}

TEST_P(LimitsOver, ARefusedRequestWhoseBodyIsHereIsNotTheLast) {
  TestServer server(GetParam(), {}, WithToken);
  auto client = server.Connect();
  EXPECT_EQ(client.Ask(Put("/guarded", "{}")).status, 401);
  EXPECT_EQ(client.Ask(Put("/guarded", "{}", "Authorization: me\r\n")).body, "{}");
}

TEST_P(LimitsOver, ARouteMayHaveItsOwnLimitAndItsOwnTypes) {
  const std::string form = "Content-Length: 100\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n";
  const std::string line = "PUT /form HTTP/1.1\r\nHost: localhost\r\n";
  EXPECT_EQ(client_.Ask(line + form + std::string(100, 'x')).body, std::string(100, 'x'));
  const RawAnswer json = client_.Ask(Put("/form", "{}"));
  EXPECT_EQ(json.status, 415);
  EXPECT_THAT(json.body, HasSubstr("application/x-www-form-urlencoded or text/plain"));
  client_.Send(PutHeader("/form", "Content-Length: 101", "text/plain"));
  ExpectRefused(client_, 413);
}

// ---- routes that a signature opens

std::string PostSigned(std::string_view body, std::string_view headers = "") {
  return fmt::format("POST /signed HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n{}\r\n{}",
                     body.size(), headers, body);
}

TEST(SignedRoutes, AskForNoTokenAndForTheTypeOfTheContentBehindTheSignature) {
  TestServer server({}, WithToken);
  auto client = server.Connect();
  EXPECT_EQ(client.Ask(PostSigned("signed", "Content-Type: application/json\r\n")).body, "signed");
  EXPECT_EQ(client.Ask(PostSigned("signed", "Content-Type: text/plain\r\n")).status, 415);
  EXPECT_EQ(client.Ask(PostSigned("forged", "Content-Type: text/plain\r\n")).status, 401)
      << "who is not known learns nothing about what would be taken";
}

TEST(SignedRoutes, LookAtTheHeaderBeforeTheBody) {
  TestServer server;
  auto stranger = server.Connect();
  stranger.Send(
      "POST /signed HTTP/1.1\r\nHost: localhost\r\nX-Stranger: 1\r\nContent-Length: 99\r\n\r\n");
  ExpectRefused(stranger, 404);
  auto large = server.Connect();
  large.Send("POST /signed HTTP/1.1\r\nHost: localhost\r\nContent-Length: 70001\r\n\r\n");
  ExpectRefused(large, 413);
}

TEST(SignedRoutes, AreCountedWhenTheirBodyIsHere) {
  TestServer server({.rate_classes = {{"few", {1, 3'600'000}}}});
  auto client = server.Connect();
  const std::string json = "Content-Type: application/json\r\n";
  const RawAnswer first = client.Ask(PostSigned("signed", json));
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(first.Header("RateLimit-Remaining"), "0");
  EXPECT_EQ(client.Ask(PostSigned("signed", json)).status, 429);
  EXPECT_EQ(client.Ask(PostSigned(std::string(70'001, 'x'), json)).status, 413);
}

TEST(SignedRoutes, OfOneRouteBodiesHaveAMemoryOfTheirOwn) {
  TestServer server;
  const std::string header =
      "POST /signed HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Expect: 100-continue\r\nContent-Length: 60000\r\n\r\n";
  auto first = server.Connect();
  EXPECT_EQ(first.Ask(header).status, 100);
  auto second = server.Connect();
  second.Send(header);
  ExpectRefused(second, 503);
  EXPECT_EQ(server.Connect().Ask(Put("/echo", std::string(60'000, 'x'))).status, 200);
  first.Send("signed" + std::string(59'994, 'x'));
  EXPECT_EQ(first.ReadResponse().body.size(), 60'000U);
  server.Settle();
  EXPECT_EQ(server.Connect().Ask(header).status, 100) << "it is given back";
}

class BodiesOver : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Framed, BodiesOver, testing::Values("Content-Length: 60000", kChunked),
                         [](const auto& one) {
                           return one.param == kChunked ? "ByChunks" : "ByLength";
                         });

TEST_P(BodiesOver, BodiesBeyondTheirMemoryAre503) {
  const bool chunked = GetParam() == kChunked;
  TestServer server({.body_memory_bytes = 100'000});
  // All but its end.
  const std::string body = chunked ? fmt::format("{:x}\r\n{}\r\n", 60'000, std::string(60'000, 'x'))
                                   : std::string(59'999, 'x');
  auto first = server.Connect();
  first.Send(PutHeader("/echo", GetParam()));
  EXPECT_EQ(first.ReadResponse().status, 100);
  first.Send(body);
  while (server.Connect().Ask(PutHeader("/echo", "Content-Length: 60000")).status == 100) {
  }  // until the first one's chunks have arrived
  auto second = server.Connect();
  second.Send(PutHeader("/echo", GetParam()) + body);
  RawAnswer answer = second.ReadResponse();
  if (answer.status == 100) answer = second.ReadResponse();  // chunks are counted as they come
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.Header("Retry-After"), "1");
  EXPECT_EQ(answer.Header("Connection"), "close");
  EXPECT_THAT(answer.body, HasSubstr("urn:tenure:problem:too-many-bodies"));
  EXPECT_EQ(server.Connect().Ask(Put("/echo", "{}")).status, 200) << "a small one needs none";
  first.Send(chunked ? "0\r\n\r\n" : "x");
  EXPECT_EQ(first.ReadResponse().body.size(), 60'000U);
  server.Settle();
  EXPECT_EQ(server.Connect().Ask(Put("/echo", std::string(60'000, 'x'))).status, 200);
}

// ---- turns

TEST(ServerTurns, AFloodOfOneClientIsServedInTurnWithTheOthers) {
  TestServer server;
  auto flood = server.Connect();
  auto other = server.Connect();
  flood.Ask(Get("/hello"));
  other.Ask(Get("/hello"));
  std::string requests;
  for (int i = 0; i < 100; ++i) requests += Get("/items/flood");
  auto halted = server.Halt();
  flood.Send(requests);
  other.Send(Get("/items/other"));
  halted->set_value();
  EXPECT_EQ(other.ReadResponse().body, "other");
  for (int i = 0; i < 100; ++i) EXPECT_EQ(flood.ReadResponse().body, "flood");
  const std::vector<std::string> served = server.Served();
  const auto at = std::find(served.begin(), served.end(), "/items/other") - served.begin();
  EXPECT_LT(at, 10) << "of a hundred";
}

TEST(ServerTurns, NothingIsServedForAClientThatDoesNotReadItsAnswers) {
  TestServer server;
  auto client = server.Connect();
  const int little = 4'096;
  ::setsockopt(client.fd(), SOL_SOCKET, SO_RCVBUF, &little, sizeof little);
  std::string requests;
  for (int i = 0; i < 200; ++i) requests += Get("/medium");
  client.Send(requests);
  auto other = server.Connect();
  EXPECT_EQ(other.Ask(Get("/hello")).status, 200);
  const auto& open =
      server.registry.GetGauge("tenure_http_connections", "Open client connections.");
  while (open.value() > 1) {  // until it is cut off for not reading
    EXPECT_EQ(other.Ask(Get("/hello")).status, 200);
    server.clock.Advance(1'000);
  }
  const std::vector<std::string> served = server.Served();
  EXPECT_LT(std::count(served.begin(), served.end(), "/medium"), 20) << "a megabyte and a little";
}

// ---- time

TEST_P(LimitsOver, ASlowHeaderIs408) {
  client_.Send(Get("/hello") + "GET /hel");
  EXPECT_EQ(client_.ReadResponse().status, 200);
  server_.Settle();
  server_.clock.Advance(server_.options.header_timeout_ms);
  ExpectRefused(client_, 408);
  EXPECT_THAT(server_.Metrics(),
              HasSubstr(R"(tenure_http_rejected_total{reason="header_timeout"} 1)"));
}

TEST_P(LimitsOver, ASlowBodyIs408) {
  const std::string request = Put("/echo", "0123456789");
  client_.Send(Get("/hello") + request.substr(0, request.size() - 1));
  EXPECT_EQ(client_.ReadResponse().status, 200);
  server_.Settle();
  server_.clock.Advance(server_.options.body_timeout_ms);
  ExpectRefused(client_, 408);
}

TEST_P(LimitsOver, BytesNowAndThenDoNotKeepAHeaderAlive) {
  client_.Send(Get("/hello") + "GET /hel");
  EXPECT_EQ(client_.ReadResponse().status, 200);
  server_.Settle();
  server_.clock.Advance(server_.options.header_timeout_ms - 1);
  client_.Send("l");
  server_.clock.Advance(1);
  ExpectRefused(client_, 408);
}

TEST_P(LimitsOver, AnIdleConnectionIsClosedWithoutAWord) {
  EXPECT_EQ(client_.Ask(Get("/hello")).status, 200);
  server_.Settle();
  server_.clock.Advance(server_.options.idle_timeout_ms);
  EXPECT_TRUE(client_.AtEnd());
}

TEST(ServerLimits, AClientThatNeverSaysAnythingHasTheTimeOfAHeader) {
  TestServer server;
  auto silent = server.Connect();
  server.AwaitMetric("tenure_http_connections 1");
  auto other = server.Connect();
  EXPECT_EQ(other.Ask(Get("/hello")).status, 200);
  server.Settle();
  server.clock.Advance(server.options.header_timeout_ms);
  EXPECT_TRUE(silent.AtEnd());
  EXPECT_EQ(other.Ask(Get("/hello")).status, 200) << "between two requests there is more time";
}

TEST_P(LimitsOver, AHandlerMayTakeLongerThanAnyOfThem) {
  client_.Send(Get("/held"));
  const ExchangePtr exchange = server_.held.Take();
  server_.Settle();
  server_.clock.Advance(10 * server_.options.idle_timeout_ms);
  for (int i = 0; i < 3; ++i) server_.Settle();
  exchange->executor().Post([exchange] { exchange->Reply({.body = "late"}); });
  EXPECT_EQ(client_.ReadResponse().body, "late");
}

TEST_P(LimitsOver, AClientThatDoesNotReadItsAnswerIsCutOff) {
  client_.Send(Get("/large") + Get("/large"));
  auto other = server_.Connect();
  EXPECT_EQ(other.Ask(Get("/hello")).status, 200);  // nobody else waits for it
  server_.AwaitMetric(
      R"(tenure_http_requests_total{route="getLarge",method="GET",status="200"} 1)");
  server_.Settle();
  server_.clock.Advance(server_.options.write_timeout_ms);
  server_.AwaitMetric("tenure_http_connections 1");
  EXPECT_LT(client_.ReadUntilClose().size(), 8U * 1024 * 1024);
}

TEST_P(LimitsOver, AClientThatReadsLateGetsAllOfIt) {
  client_.Send(Get("/large") + Get("/large") + Get("/hello"));
  server_.AwaitMetric(
      R"(tenure_http_requests_total{route="getLarge",method="GET",status="200"} 1)");
  EXPECT_EQ(client_.ReadResponse().body.size(), 8U * 1024 * 1024);
  EXPECT_EQ(client_.ReadResponse().body.size(), 8U * 1024 * 1024);
  EXPECT_EQ(client_.ReadResponse().body, "hello");
}

class ConnectionsOver : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Loops, ConnectionsOver, testing::Values(1, 3));

TEST_P(ConnectionsOver, TheOneIdleLongestMakesRoom) {
  TestServer server({.threads = GetParam(), .max_connections = 3});
  auto first = server.Connect();
  auto second = server.Connect();
  auto third = server.Connect();
  EXPECT_EQ(first.Ask(Get("/hello")).status, 200);
  EXPECT_EQ(second.Ask(Get("/hello")).status, 200);
  const ExchangePtr held = server.Hold(third);
  auto fourth = server.Connect();
  EXPECT_EQ(fourth.Ask(Get("/hello")).status, 200);
  if (GetParam() == 1) {
    EXPECT_TRUE(first.AtEnd());
    EXPECT_EQ(second.Ask(Get("/hello")).status, 200);
  }
  server.AwaitMetric("tenure_http_connections_evicted_total 1");
  server.AwaitMetric("tenure_http_connections 3");
  RunOn(held->executor(), [&] { held->Reply({.body = "{}"}); });
  EXPECT_EQ(third.ReadResponse().body, "{}") << "whoever is served is left alone";
}

TEST_P(ConnectionsOver, AConnectionTooManyIs503WhenAllAreBusy) {
  TestServer server({.threads = GetParam(), .max_connections = 2});
  auto first = server.Connect();
  auto second = server.Connect();
  const ExchangePtr one = server.Hold(first);
  const ExchangePtr two = server.Hold(second);
  auto third = server.Connect();
  const RawAnswer answer = third.ReadResponse();
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.Header("Retry-After"), "1");
  EXPECT_TRUE(third.AtEnd());
  RunOn(two->executor(), [&] { two->Reply({.body = "{}"}); });
  EXPECT_EQ(second.ReadResponse().status, 200);
  second.Close();
  server.AwaitMetric("tenure_http_connections 1");
  EXPECT_EQ(server.Connect().Ask(Get("/hello")).status, 200);
  RunOn(one->executor(), [&] { one->Reply({.body = "{}"}); });
}

TEST_P(LimitsOver, ARefusedClientThatStaysOnTheLineIsCutOff) {
  client_.Send("nonsense\r\n\r\n");
  ExpectRefused(client_, 400);
  auto other = server_.Connect();
  for (std::int64_t open = 2; open != 1;) {
    other.Ask(Get("/hello"));
    server_.Settle();
    server_.clock.Advance(1'000);
    open = server_.registry.GetGauge("tenure_http_connections", "Open client connections.").value();
  }
  EXPECT_EQ(other.Ask(Get("/hello")).status, 200);
}

}  // namespace
}  // namespace tenure::http
