#include "http/server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/uuid.hpp"
#include "http/test_server.hpp"

namespace tenure::http {
namespace {

using testing::HasSubstr;
using testing::Not;

class ServerOver : public Served {};
INSTANTIATE_TEST_SUITE_P(Over, ServerOver, kBothTransports, TransportName);

TEST_P(ServerOver, AnswersWithItsOwnHeaders) {
  const RawAnswer answer = client_.Ask(Get("/hello"));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "hello");
  EXPECT_EQ(answer.Header("Content-Type"), "text/plain");
  EXPECT_EQ(answer.Header("Content-Length"), "5");
  EXPECT_EQ(answer.Header("Cache-Control"), "no-store");
  EXPECT_EQ(answer.Header("X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(answer.Header("Date"), "Tue, 14 Nov 2023 22:13:20 GMT");
  EXPECT_FALSE(answer.FindHeader("Connection"));
  EXPECT_FALSE(answer.FindHeader("Access-Control-Allow-Origin"));
}

TEST_P(ServerOver, KeepsTheClientsRequestIdOrMakesOne) {
  EXPECT_EQ(client_.Ask(Get("/hello", "X-Request-Id: a.B_c:1-2\r\n")).Header("X-Request-Id"),
            "a.B_c:1-2");
  for (const std::string& bad : {std::string("has space"), std::string(129, 'a'), std::string()}) {
    const RawAnswer answer = client_.Ask(Get("/hello", "X-Request-Id: " + bad + "\r\n"));
    const auto made = base::Uuid::Parse(answer.Header("X-Request-Id"));
    ASSERT_TRUE(made) << bad;
    EXPECT_EQ(made->TimestampMs(), server_.clock.WallMs());
  }
}

TEST_P(ServerOver, ReadsARequestThatComesByteByByte) {
  for (const char c : Put("/echo", "{\"a\":1}")) client_.Send({&c, 1});
  EXPECT_EQ(client_.ReadResponse().body, "{\"a\":1}");
  EXPECT_EQ(client_.Ask(Get("/hello")).body, "hello");
}

TEST_P(ServerOver, AnswersAHundredPipelinedRequestsInOrder) {
  std::string packet;
  for (int i = 0; i < 100; ++i) packet += Put("/echo", std::to_string(i));
  client_.Send(packet);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(client_.ReadResponse().body, std::to_string(i));
}

TEST_P(ServerOver, PipelinedRequestsWaitForTheOneThatIsServed) {
  client_.Send(Get("/hello") + Get("/held") + Get("/hello"));
  EXPECT_EQ(client_.ReadResponse().body, "hello");
  const ExchangePtr exchange = server_.held.Take();
  exchange->executor().Post([exchange] { exchange->Reply({.body = "late"}); });
  EXPECT_EQ(client_.ReadResponse().body, "late");
  EXPECT_EQ(client_.ReadResponse().body, "hello");
}

TEST_P(ServerOver, ReadsBodiesOfAllSizesAndBothFramings) {
  for (const std::size_t size : {0U, 1U, 4'000U, 4'096U, 20'000U, 21'000U, 300'000U}) {
    const std::string body(size, 'b');
    // The next request follows at once: where a body ends matters as much as what it is.
    client_.Send(Put("/echo", body) + Get("/hello"));
    EXPECT_EQ(client_.ReadResponse().body, body) << size;
    EXPECT_EQ(client_.ReadResponse().body, "hello") << size;
  }
  client_.Send(
      "PUT /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Transfer-Encoding: chunked\r\n\r\n"
      "4\r\nWiki\r\n6;why=not\r\npedia \r\n00B\r\nin \r\nchunks\r\n0\r\nIgnored: yes\r\n\r\n" +
      Get("/hello"));
  EXPECT_EQ(client_.ReadResponse().body, "Wikipedia in \r\nchunks");
  EXPECT_EQ(client_.ReadResponse().body, "hello");
}

TEST_P(ServerOver, HeadHasTheHeaderOfGetAndNoBody) {
  client_.Send("HEAD /hello HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const RawAnswer answer = client_.ReadResponse(true);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.Header("Content-Length"), "5");
  EXPECT_EQ(client_.Ask(Get("/hello")).body, "hello");
}

TEST_P(ServerOver, NoContentHasNoLength) {
  const RawAnswer answer = client_.Ask(
      "POST /act HTTP/1.1\r\nHost: localhost\r\nContent-Type: Application/JSON; charset=utf-8\r\n"
      "Content-Length: 0\r\n\r\n");
  EXPECT_EQ(answer.status, 204);
  EXPECT_FALSE(answer.FindHeader("Content-Length"));
  EXPECT_FALSE(answer.FindHeader("Content-Type"));
  EXPECT_EQ(client_.Ask(Get("/hello")).status, 200);
}

TEST_P(ServerOver, TellsWhatIsWrongWithPathMethodAndType) {
  EXPECT_EQ(client_.Ask(Get("/nothing")).status, 404);
  const RawAnswer wrong_method = client_.Ask(Get("/echo"));
  EXPECT_EQ(wrong_method.status, 405);
  EXPECT_EQ(wrong_method.Header("Allow"), "PUT");
  EXPECT_EQ(wrong_method.Header("Content-Type"), "application/problem+json");
  EXPECT_EQ(client_.Ask("OPTIONS /hello HTTP/1.1\r\nHost: localhost\r\n\r\n").Header("Allow"),
            "GET, HEAD");
  EXPECT_EQ(client_.Ask("POST /act HTTP/1.1\r\nHost: localhost\r\n\r\n").status, 415);
  EXPECT_EQ(client_
                .Ask("POST /act HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
                     "Content-Length: 2\r\n\r\n{}")
                .status,
            415);
  EXPECT_EQ(client_.Ask(Get("/items/a%2Fb")).status, 400);
  EXPECT_EQ(client_.Ask(Get("/items/a%20b?x=1")).body, "a b");
}

TEST_P(ServerOver, WhatAHandlerThrowsBecomesTheAnswer) {
  const RawAnswer problem = client_.Ask(Get("/throws/problem"));
  EXPECT_EQ(problem.status, 404);
  EXPECT_THAT(problem.body, HasSubstr("gone fishing"));
  EXPECT_THAT(problem.body, HasSubstr(problem.Header("X-Request-Id")));
  const RawAnswer overloaded = client_.Ask(Get("/throws/fault"));
  EXPECT_EQ(overloaded.status, 503);
  EXPECT_EQ(overloaded.Header("Retry-After"), "1");
  for (const char* path : {"/throws/fault", "/throws/statement", "/throws/anything"})
    EXPECT_THAT(client_.Ask(Get(path)).body, Not(HasSubstr("secrets"))) << path;
  EXPECT_EQ(client_.Ask(Get("/throws/statement")).status, 500);
  EXPECT_EQ(client_.Ask(Get("/throws/anything")).status, 500);
  EXPECT_EQ(client_.Ask(Get("/hello")).status, 200);
}

TEST_P(ServerOver, OffersToContinueBeforeABodyThatIsNotHere) {
  client_.Send(
      "PUT /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Content-Length: 3\r\nExpect: 100-Continue\r\n\r\n");
  EXPECT_EQ(client_.ReadResponse().status, 100);
  client_.Send("abc");
  EXPECT_EQ(client_.ReadResponse().body, "abc");
  const RawAnswer refused = client_.Ask(Get("/hello", "Expect: a miracle\r\n"));
  EXPECT_EQ(refused.status, 417);
  EXPECT_TRUE(client_.AtEnd());
}

TEST_P(ServerOver, ClosesWhenAskedTo) {
  const RawAnswer answer = client_.Ask(Get("/hello", "Connection: close\r\n"));
  EXPECT_EQ(answer.Header("Connection"), "close");
  EXPECT_TRUE(client_.AtEnd());
}

TEST_P(ServerOver, ServesOneRequestOfHttp10) {
  const RawAnswer answer = client_.Ask(
      "GET /hello HTTP/1.0\r\nHost: 127.0.0.1\r\nConnection: keep-alive\r\n\r\n" + Get("/hello"));
  EXPECT_EQ(answer.body, "hello");
  EXPECT_EQ(answer.Header("Connection"), "close");
  EXPECT_TRUE(client_.AtEnd());
}

TEST_P(ServerOver, AnswersAClientThatHasClosedItsHalf) {
  client_.Send(Get("/hello"));
  client_.HalfClose();
  EXPECT_EQ(client_.ReadResponse().body, "hello");
  EXPECT_TRUE(client_.AtEnd());
}

TEST_P(ServerOver, ForgetsAClientThatLeavesInsideARequest) {
  client_.Send(Get("/hello") + "GET /hel");
  EXPECT_EQ(client_.ReadResponse().body, "hello");
  client_.HalfClose();
  EXPECT_TRUE(client_.AtEnd());
  server_.AwaitMetric("tenure_http_connections 0");
}

TEST_P(ServerOver, SpreadsManyConnectionsOverItsLoops) {
  TestServer server(GetParam(), {.threads = 3});
  std::vector<RawClient> clients;
  for (int i = 0; i < 200; ++i) clients.push_back(server.Connect());
  for (int round = 0; round < 3; ++round) {
    for (auto& client : clients) client.Send(Get("/hello"));
    for (auto& client : clients) EXPECT_EQ(client.ReadResponse().body, "hello");
  }
  server.AwaitMetric("tenure_http_connections 200");
  clients.clear();
  server.AwaitMetric("tenure_http_connections 0");
}

TEST_P(ServerOver, CountsRequestsByRouteMethodAndStatus) {
  client_.Ask(Get("/hello"));
  client_.Ask(Get("/hello"));
  client_.Ask(Get("/nothing"));
  client_.Ask("nonsense\r\n\r\n");
  const std::string text = server_.Metrics();
  EXPECT_THAT(
      text,
      HasSubstr(R"(tenure_http_requests_total{route="getHello",method="GET",status="200"} 2)"));
  EXPECT_THAT(
      text,
      HasSubstr(R"(tenure_http_requests_total{route="unmatched",method="GET",status="404"} 1)"));
  EXPECT_THAT(text, HasSubstr(R"(tenure_http_request_duration_seconds_count{route="getHello"} 2)"));
  EXPECT_THAT(text, HasSubstr(R"(tenure_http_rejected_total{reason="malformed"} 1)"));
}

TEST(Server, WithoutAuthenticationListensOnLoopbackOnly) {
  for (const char* host : {"0.0.0.0", "::", "192.0.2.1"}) {
    Router router;
    telemetry::Registry registry;
    Server server({.host = host, .port = 0}, router, registry, base::SystemClock());
    try {
      server.Start();
      FAIL() << host;
    } catch (const base::UserError& error) {
      EXPECT_THAT(error.what(), HasSubstr("auth.issuer"));
      EXPECT_THAT(error.what(), HasSubstr("--listen 127.0.0.1:8080"));
    }
  }
}

TEST(Server, SaysWhyItCannotListen) {
  TestServer other;
  Router router;
  telemetry::Registry registry;
  Server taken({.port = other.server.port()}, router, registry, base::SystemClock());
  try {
    taken.Start();
    FAIL();
  } catch (const base::UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("Address already in use"));
  }
  Server named({.host = "example.org"}, router, registry, base::SystemClock());
  EXPECT_THROW(named.Start(), base::UserError);
}

TEST_P(ServerOver, RefusesInProtectedModeWhatIsNotLocal) {
  const RawAnswer answer = client_.Ask("GET /hello HTTP/1.1\r\nHost: evil.example\r\n\r\n");
  EXPECT_EQ(answer.status, 403);
  EXPECT_THAT(answer.body, HasSubstr("urn:tenure:problem:protected-mode"));
  EXPECT_EQ(client_.Ask(Get("/hello", "Origin: http://evil.example\r\n")).status, 403);
  EXPECT_EQ(client_.Ask(Get("/hello")).status, 200);
}

TEST_P(ServerOver, WithAnAuthenticatorAsksWhoAndWhetherTheyMay) {
  TestServer server(GetParam(), {}, [](const Request& request) {
    const auto token = request.FindHeader("Authorization");
    if (!token) throw ProblemError({.status = 401, .type = "unauthenticated", .title = "Who?"});
    return Known({.tenant = "t", .person = std::string(*token), .scopes = {"sessions:read"}});
  });
  server.options.host = "anywhere";
  auto client = server.Connect();
  EXPECT_EQ(client.Ask(Get("/guarded")).status, 401);
  EXPECT_EQ(client.Ask(Get("/guarded", "Authorization: me\r\n")).body, "me");
  EXPECT_EQ(client.Ask("GET /hello HTTP/1.1\r\nHost: tenure.example\r\n\r\n").status, 200);
}

TEST_P(ServerOver, ATokenWithoutTheScopeIsForbidden) {
  TestServer server(GetParam(), {},
                    [](const Request&) { return Known({.scopes = {"seats:use"}}); });
  auto client = server.Connect();
  const RawAnswer answer = client.Ask(Get("/guarded"));
  EXPECT_EQ(answer.status, 403);
  EXPECT_EQ(answer.Header("WWW-Authenticate"),
            R"(Bearer realm="tenure", error="insufficient_scope", scope="sessions:read")");
}

}  // namespace
}  // namespace tenure::http
