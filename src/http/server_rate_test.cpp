// Who asks how often, and from where.

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
  options.rate_classes = {{.name = "few", .rate = {count, 60'000}}, {.name = "none", .rate = {}}};
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
  EXPECT_THAT(server.Metrics(), HasSubstr(R"(tenure_http_rate_limited_total{class="few"} 1)"));
  EXPECT_EQ(client.Ask(As("bob")).status, 200) << "another person";
  server.clock.Advance(30'000);
  EXPECT_EQ(client.Ask(As("ada")).status, 200);
  EXPECT_EQ(client.Ask(As("ada")).status, 429);
}

TEST(ServerRates, LimitsChangeWhileItServesAndOneThatIsAsItWasGoesOnCounting) {
  TestServer server(Limited(2), ByName);
  auto client = server.Connect();
  EXPECT_EQ(client.Ask(As("ada")).Header("RateLimit-Remaining"), "1");
  server.server.UseRates({{.name = "few", .rate = {2, 60'000}}});
  EXPECT_EQ(client.Ask(As("ada")).Header("RateLimit-Remaining"), "0") << "the rate is as it was";
  EXPECT_EQ(client.Ask(As("ada")).status, 429);
  server.server.UseRates({{.name = "few", .rate = {3, 60'000}}});
  EXPECT_EQ(client.Ask(As("ada")).Header("RateLimit-Remaining"), "2") << "another begins anew";
  server.server.UseRates({});
  EXPECT_EQ(client.Ask(As("ada")).Header("RateLimit-Limit"), "");
  server.server.UseRates({{.name = "few", .rate = {1, 60'000}}});
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
    for (const auto& [name, value] : free.headers) EXPECT_THAT(name, Not(HasSubstr("RateLimit")));
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

/// GET /guarded answers with the client's address.
PrincipalPtr AddressAsPerson(const Request& request) {
  return Known({.tenant = "acme", .person = request.client_address, .scopes = {"sessions:read"}});
}

ServerOptions Trusting(std::string_view block, ForwardedBy by = ForwardedBy::kXForwardedFor) {
  ServerOptions options;
  options.proxies = TrustedProxies({*base::IpBlock::Parse(block)}, by);
  return options;
}

TEST(ServerProxies, WithoutATrustedProxyTheSocketsPeerIsTheClientWhateverItSays) {
  for (const char* trusted : {"10.0.0.0/8", "127.0.0.2", "::1"}) {
    TestServer server(Trusting(trusted), AddressAsPerson);
    auto client = server.Connect();
    EXPECT_EQ(client.Ask(Get("/guarded")).body, "127.0.0.1");
    EXPECT_EQ(client.Ask(Get("/guarded", "X-Forwarded-For: 192.0.2.1\r\n")).body, "127.0.0.1");
    EXPECT_EQ(client.Ask(Get("/guarded", "Forwarded: for=192.0.2.1\r\n")).body, "127.0.0.1");
  }
}

TEST(ServerProxies, ATrustedProxySpeaksForAnotherClientWithEachRequest) {
  TestServer server(Trusting("127.0.0.0/8"), AddressAsPerson);
  auto proxy = server.Connect();
  for (const char* address : {"192.0.2.1", "192.0.2.2", "2001:db8::1"})
    EXPECT_EQ(proxy.Ask(Get("/guarded", std::string("X-Forwarded-For: ") + address + "\r\n")).body,
              address);
  EXPECT_EQ(proxy.Ask(Get("/guarded")).body, "127.0.0.1") << "nothing is left of the one before";
  EXPECT_EQ(proxy.Ask(Get("/guarded", "X-Forwarded-For: 9.9.9.9, 192.0.2.3\r\n")).body,
            "192.0.2.3");
  EXPECT_EQ(proxy.Ask(Get("/guarded", "Forwarded: for=192.0.2.1\r\n")).body, "127.0.0.1");
}

TEST(ServerProxies, ProtectedModeRefusesWhatCameThroughAProxyAlsoATrustedOne) {
  TestServer server(Trusting("127.0.0.0/8"));
  auto client = server.Connect();
  EXPECT_EQ(client.Ask(Get("/hello", "X-Forwarded-For: 127.0.0.1\r\n")).status, 403);
}

TEST(ServerProxies, LinesAboutARequestNameItItsClientAndItsTrace) {
  TestServer server(Trusting("127.0.0.0/8"), AddressAsPerson);
  base::ConfigureLog(base::LogLevel::kInfo, base::LogFormat::kJson, "test");
  testing::internal::CaptureStderr();
  auto client = server.Connect();
  client.Ask(Get("/throws/other",
                 "X-Request-Id: r-1\r\nX-Forwarded-For: 192.0.2.1\r\n"
                 "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00\r\n"));
  client.Ask(Get("/throws/statement", "X-Request-Id: r-2\r\n"));
  const std::string lines = testing::internal::GetCapturedStderr();
  base::ConfigureLog(base::LogLevel::kInfo, base::LogFormat::kText, "");
  EXPECT_THAT(lines, HasSubstr(R"("request_id":"r-1","client":"192.0.2.1",)"
                               R"("trace_id":"4bf92f3577b34da6a3ce929d0e0e4736")"));
  EXPECT_THAT(lines, HasSubstr(R"("request_id":"r-2","client":"127.0.0.1","instance")"));
}

}  // namespace
}  // namespace tenure::http
