#include "http/client.hpp"

#include <future>
#include <memory>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "http/test_server.hpp"

namespace tenure::http {
namespace {

using base::FaultKind;
using testing::AnyOf;
using testing::HasSubstr;

Client ClientOf(const TestServer& server) {
  return Client({.base_url = fmt::format("http://127.0.0.1:{}", server.server.port()),
                 .timeout_ms = 20'000,
                 .token = ""});
}

TEST(Client, SendsAndReads) {
  TestServer server;
  Client client = ClientOf(server);
  const ClientResponse hello = client.Send(Method::kGet, "/hello");
  EXPECT_EQ(hello.status, 200);
  EXPECT_EQ(hello.body, "hello");
  EXPECT_EQ(hello.FindHeader("content-type"), "text/plain");
  EXPECT_FALSE(hello.FindHeader("X-None"));
  EXPECT_EQ(client.Send(Method::kPut, "/echo", "{\"a\":1}").body, "{\"a\":1}");
  EXPECT_EQ(client.Send(Method::kPut, "/echo", std::string(500'000, 'x')).body.size(), 500'000U);
  EXPECT_EQ(client.Send(Method::kPost, "/act", "").status, 204);
  EXPECT_EQ(client.Send(Method::kHead, "/hello").FindHeader("Content-Length"), "5");
  EXPECT_EQ(client.Send(Method::kDelete, "/hello").status, 405);
  EXPECT_EQ(client.Send(Method::kGet, "/hello", std::nullopt, {{"X-Request-Id", "abc"}})
                .FindHeader("X-Request-Id"),
            "abc");
  EXPECT_THAT(server.Metrics(), HasSubstr("http_connections 1\n"));
}

TEST(Client, SendsItsToken) {
  TestServer server({}, [](const Request& request) {
    return Known({.person = std::string(request.FindHeader("Authorization").value_or("nobody")),
                  .scopes = {"sessions:read"}});
  });
  Client client({.base_url = fmt::format("http://127.0.0.1:{}", server.server.port()),
                 .timeout_ms = 20'000,
                 .token = "abc"});
  EXPECT_EQ(client.Send(Method::kGet, "/guarded").body, "Bearer abc");
}

TEST(Client, PassesTheTraceOnThatItsThreadWorksFor) {
  TestServer server({}, [](const Request& request) {
    return Known({.person = std::string(request.FindHeader("traceparent").value_or("none")),
                  .scopes = {"sessions:read"}});
  });
  Client client = ClientOf(server);
  constexpr const char* kTrace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  {
    const telemetry::TraceScope scope(telemetry::ParseTraceParent(kTrace));
    EXPECT_EQ(client.Send(Method::kGet, "/guarded").body, kTrace);
  }
  EXPECT_EQ(client.Send(Method::kGet, "/guarded").body, "none");
}

TEST(Client, SaysThatNothingAnswers) {
  std::uint16_t port = 0;
  {
    TestServer server;
    port = server.server.port();
  }
  Client client({.base_url = fmt::format("http://127.0.0.1:{}", port), .timeout_ms = 20'000});
  try {
    client.Send(Method::kGet, "/hello");
    FAIL();
  } catch (const base::Fault& fault) {
    EXPECT_EQ(fault.kind(), base::FaultKind::kStoreUnavailable);
    EXPECT_THAT(fault.what(), HasSubstr("nothing answers at http://127.0.0.1:"));
    EXPECT_THAT(fault.what(), HasSubstr("is `tenure serve` running?"));
  }
}

TEST(Client, SaysThatTheOutcomeIsUnknownWhenTheAnswerIsLost) {
  TestServer server;
  Client client = ClientOf(server);
  std::thread stop([&] {
    const ExchangePtr exchange = server.held.Take();
    server.server.Stop(0);
  });
  try {
    client.Send(Method::kGet, "/held");
    ADD_FAILURE();
  } catch (const base::Fault& fault) {
    EXPECT_EQ(fault.kind(), base::FaultKind::kOutcomeUnknown);
  }
  stop.join();
}

FaultKind FaultOf(Client& client, std::string_view path,
                  std::optional<std::int64_t> timeout_ms = std::nullopt) {
  try {
    client.Send(Method::kGet, path, std::nullopt, {}, timeout_ms);
  } catch (const base::Fault& fault) {
    return fault.kind();
  }
  ADD_FAILURE() << "there was an answer";
  return FaultKind::kStatement;
}

TEST(Client, SaysThatNothingAnswersAlsoWhenSomethingAnsweredBefore) {
  auto server = std::make_unique<TestServer>();
  Client client = ClientOf(*server);
  EXPECT_EQ(client.Send(Method::kGet, "/hello").status, 200);
  server.reset();
  EXPECT_EQ(FaultOf(client, "/hello"), FaultKind::kStoreUnavailable);
}

TEST(Client, ARequestMayHaveATimeoutOfItsOwn) {
  TestServer server;
  Client client = ClientOf(server);
  // Whether the request was out by then, nobody knows.
  EXPECT_THAT(FaultOf(client, "/held", 1),
              AnyOf(FaultKind::kOutcomeUnknown, FaultKind::kStoreUnavailable));
  EXPECT_EQ(client.Send(Method::kGet, "/hello").status, 200) << "the client's own is back";
}

TEST(Client, IsCancelledFromAnotherThreadAndTheServerLearnsOfIt) {
  TestServer server;
  Client client = ClientOf(server);
  std::promise<void> gone;
  ExchangePtr exchange;  // kept: one that is dropped is answered
  std::thread other([&] {
    exchange = server.held.Take();
    RunOn(exchange->executor(), [&] { exchange->OnClientGone([&gone] { gone.set_value(); }); });
    client.Cancel();
  });
  EXPECT_EQ(FaultOf(client, "/held"), FaultKind::kOutcomeUnknown);
  gone.get_future().wait();
  other.join();
}

TEST(Client, SendsNothingAfterItWasCancelled) {
  TestServer server;
  Client client = ClientOf(server);
  client.Cancel();
  client.Cancel();
  EXPECT_EQ(FaultOf(client, "/hello"), FaultKind::kStoreUnavailable);
  EXPECT_EQ(FaultOf(client, "/hello"), FaultKind::kStoreUnavailable);
  EXPECT_THAT(server.Metrics(), HasSubstr("http_connections 0\n"));
}

TEST(Client, AnAddressThatIsNoneIsTheUsersError) {
  for (const char* url : {"ftp://127.0.0.1", "file:///etc/passwd", "nonsense://x"}) {
    Client client({.base_url = url, .timeout_ms = 1'000});
    EXPECT_THROW(client.Send(Method::kGet, "/hello"), base::UserError) << url;
  }
}

}  // namespace
}  // namespace tenure::http
