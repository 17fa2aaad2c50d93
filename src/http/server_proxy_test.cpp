// Where requests came from, as handlers and logs see it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/test_server.hpp"

namespace tenure::http {
namespace {

using testing::HasSubstr;

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
