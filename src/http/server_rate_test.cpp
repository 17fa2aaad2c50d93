// Limits on how often somebody may ask.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/test_server.hpp"

namespace tenure::http {
namespace {

using testing::HasSubstr;
using testing::Not;

/// The token is the person's name.
PrincipalPtr ByName(const Request& request) {
  const auto name = request.FindHeader("Authorization");
  if (!name) throw ProblemError({.status = 401, .type = "unauthenticated"});
  return Known({.tenant = "acme", .person = std::string(*name), .scopes = {"sessions:read"}});
}

ServerOptions Limited(std::int64_t count) {
  ServerOptions options;
  options.rate_classes = {
      {.name = "few", .paths = {"/guarded", "/items", "/act"}, .rate = {count, 60'000}},
      {.name = "none", .paths = {"/hello"}, .rate = {}}};
  return options;
}

std::string As(const std::string& name) {
  return Get("/guarded", "Authorization: " + name + "\r\n");
}

TEST(ServerRates, BeyondTheLimitAPersonIsToldWhenToComeBack) {
  TestServer server(Limited(2), ByName);
  auto client = server.Connect();
  const RawAnswer first = client.Ask(As("ada"));
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(first.Header("RateLimit-Limit"), "2");
  EXPECT_EQ(first.Header("RateLimit-Remaining"), "1");
  EXPECT_EQ(first.Header("RateLimit-Reset"), "30");
  EXPECT_EQ(first.Header("RateLimit-Policy"), "2;w=60");
  EXPECT_EQ(client.Ask(As("ada")).Header("RateLimit-Remaining"), "0");
  const RawAnswer refused = client.Ask(As("ada"));
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.Header("Content-Type"), "application/problem+json");
  EXPECT_EQ(refused.Header("Retry-After"), "30");
  EXPECT_EQ(refused.Header("RateLimit-Remaining"), "0");
  EXPECT_EQ(refused.Header("RateLimit-Reset"), "60");
  EXPECT_THAT(refused.body, HasSubstr("urn:tenure:problem:rate-limited"));
  EXPECT_THAT(refused.body, HasSubstr(R"("retry_after_seconds":30)"));
  EXPECT_THAT(server.Metrics(), HasSubstr(R"(http_rate_limited_total{class="few"} 1)"));
  EXPECT_EQ(client.Ask(As("bob")).status, 200) << "another person";
  server.clock.Advance(30'000);
  EXPECT_EQ(client.Ask(As("ada")).status, 200);
  EXPECT_EQ(client.Ask(As("ada")).status, 429);
}

TEST(ServerRates, AClassSharesItsLimitAndOtherRoutesHaveNone) {
  TestServer server(Limited(2), ByName);
  auto client = server.Connect();
  // These need no token, so the address counts, once for all of them.
  EXPECT_EQ(client.Ask(Get("/items/1")).status, 200);
  EXPECT_EQ(client
                .Ask("POST /act HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                     "Content-Length: 2\r\n\r\n{}")
                .status,
            204);
  auto other = server.Connect();
  EXPECT_EQ(other.Ask(Get("/items/2")).status, 429) << "on another connection too";
  for (int i = 0; i < 5; ++i) {
    const RawAnswer free = other.Ask(Get("/hello"));
    EXPECT_EQ(free.status, 200);
    EXPECT_THAT(free.head, Not(HasSubstr("RateLimit")));
  }
}

TEST(ServerRates, WhoMayNotAskAtAllIsNotCounted) {
  TestServer server(Limited(1), ByName);
  auto client = server.Connect();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(client.Ask(Get("/guarded")).status, 401);
  EXPECT_EQ(client.Ask(As("ada")).status, 200);
}

TEST(ServerRates, ARequestThatIsNoGoodCountsToo) {
  TestServer server(Limited(1));
  auto client = server.Connect();
  constexpr std::string_view kNoJson =
      "POST /act HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n";
  const RawAnswer first = client.Ask(kNoJson);
  EXPECT_EQ(first.status, 415);
  EXPECT_EQ(first.Header("RateLimit-Remaining"), "0");
  EXPECT_EQ(client.Ask(kNoJson).status, 429);
}

}  // namespace
}  // namespace tenure::http
