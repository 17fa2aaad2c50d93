// The blocking client: what it sends and reads, what it says when there is no answer, and whom it
// and Outgoing believe, by certificates that the test makes.

#include "http/client.hpp"

#include <future>
#include <memory>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "http/outgoing.hpp"
#include "http/test_server.hpp"

namespace tenure::http {
namespace {

using base::FaultKind;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;

base::Fault FaultOf(Client& client, std::string_view path,
                    std::optional<std::int64_t> timeout_ms = std::nullopt) {
  try {
    client.Send(Method::kGet, path, std::nullopt, {}, timeout_ms);
  } catch (const base::Fault& fault) {
    return fault;
  }
  ADD_FAILURE() << "there was an answer";
  return {FaultKind::kStatement, ""};
}

Client ClientOf(const TestServer& server, std::string token = "") {
  return Client({.base_url = server.Url(), .timeout_ms = 20'000, .token = std::move(token)});
}

/// GET /guarded answers with the value of this header.
Authenticator Echoing(std::string_view header) {
  return [header](const Request& request) {
    return Known({.person = std::string(request.FindHeader(header).value_or("none")),
                  .scopes = {"sessions:read"}});
  };
}

class Clients : public testing::Test {
 protected:
  TestServer server_;
  Client client_ = ClientOf(server_);
};

TEST_F(Clients, SendAndRead) {
  const ClientResponse hello = client_.Send(Method::kGet, "/hello");
  EXPECT_EQ(hello.status, 200);
  EXPECT_EQ(hello.body, "hello");
  EXPECT_EQ(hello.FindHeader("content-type"), "text/plain");
  EXPECT_FALSE(hello.FindHeader("X-None"));
  EXPECT_EQ(client_.Send(Method::kPut, "/echo", "{\"a\":1}").body, "{\"a\":1}");
  EXPECT_EQ(client_.Send(Method::kPut, "/echo", std::string(500'000, 'x')).body.size(), 500'000U);
  EXPECT_EQ(client_.Send(Method::kPost, "/act", "").status, 204);
  EXPECT_EQ(client_.Send(Method::kHead, "/hello").FindHeader("Content-Length"), "5");
  EXPECT_EQ(client_.Send(Method::kDelete, "/hello").status, 405);
  EXPECT_EQ(client_.Send(Method::kGet, "/hello", std::nullopt, {{"X-Request-Id", "abc"}})
                .FindHeader("X-Request-Id"),
            "abc");
  EXPECT_THAT(server_.Metrics(), HasSubstr("tenure_http_connections 1\n"));
}

TEST(Client, SendsItsToken) {
  TestServer server({}, Echoing("Authorization"));
  EXPECT_EQ(ClientOf(server, "abc").Send(Method::kGet, "/guarded").body, "Bearer abc");
}

TEST(Client, PassesTheTraceOnThatItsThreadWorksFor) {
  TestServer server({}, Echoing("traceparent"));
  Client client = ClientOf(server);
  constexpr const char* kTrace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  {
    const telemetry::TraceScope scope(telemetry::ParseTraceParent(kTrace));
    EXPECT_EQ(client.Send(Method::kGet, "/guarded").body, kTrace);
  }
  EXPECT_EQ(client.Send(Method::kGet, "/guarded").body, "none");
}

TEST(Client, SaysThatNothingAnswersAlsoWhenSomethingAnsweredBefore) {
  for (const bool before : {false, true}) {
    auto server = std::make_unique<TestServer>();
    Client client = ClientOf(*server);
    if (before) client.Send(Method::kGet, "/hello");
    server.reset();
    const base::Fault fault = FaultOf(client, "/hello");
    EXPECT_EQ(fault.kind(), FaultKind::kStoreUnavailable);
    EXPECT_THAT(fault.what(), AllOf(HasSubstr("nothing answers at http://127.0.0.1:"),
                                    HasSubstr("is `tenure serve` running?")));
  }
}

TEST_F(Clients, SayThatTheOutcomeIsUnknownWhenTheAnswerIsLost) {
  std::thread stop([&] {
    const ExchangePtr exchange = server_.held.Take();
    server_.server.Stop(0);
  });
  EXPECT_EQ(FaultOf(client_, "/held").kind(), FaultKind::kOutcomeUnknown);
  stop.join();
}

TEST_F(Clients, MayHaveATimeoutForOneRequest) {
  // Whether the request was out by then, nobody knows.
  EXPECT_THAT(FaultOf(client_, "/held", 1).kind(),
              AnyOf(FaultKind::kOutcomeUnknown, FaultKind::kStoreUnavailable));
  EXPECT_EQ(client_.Send(Method::kGet, "/hello").status, 200) << "the client's own is back";
}

TEST_F(Clients, AreCancelledFromAnotherThreadAndTheServerLearnsOfIt) {
  std::promise<void> gone;
  ExchangePtr exchange;  // kept: one that is dropped is answered
  std::thread other([&] {
    exchange = server_.held.Take();
    RunOn(exchange->executor(), [&] { exchange->OnClientGone([&gone] { gone.set_value(); }); });
    client_.Cancel();
  });
  EXPECT_EQ(FaultOf(client_, "/held").kind(), FaultKind::kOutcomeUnknown);
  AwaitPromise(gone);
  other.join();
}

TEST_F(Clients, SendNothingAfterTheyWereCancelled) {
  client_.Cancel();
  client_.Cancel();
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(FaultOf(client_, "/hello").kind(), FaultKind::kStoreUnavailable);
  EXPECT_THAT(server_.Metrics(), HasSubstr("tenure_http_connections 0\n"));
}

TEST(Client, AnAddressThatIsNoneIsTheUsersError) {
  for (const char* url : {"ftp://127.0.0.1", "file:///etc/passwd", "nonsense://x"}) {
    Client client({.base_url = url, .timeout_ms = 1'000});
    EXPECT_THROW(client.Send(Method::kGet, "/hello"), base::UserError) << url;
  }
}

class ToTls : public testing::Test {
 protected:
  OutgoingReply Post(std::string ca_file) {
    Outgoing outgoing({.ca_file = std::move(ca_file)});
    outgoing.Start();
    std::promise<OutgoingReply> reply;
    outgoing.Send({.url = server_.Url("/act"), .body = "[]", .timeout_ms = 60'000},
                  [&](OutgoingReply r) { reply.set_value(std::move(r)); });
    return reply.get_future().get();
  }
  /// What the client makes of a server that it does not believe.
  static std::string Distrust(const std::string& url, const std::string& ca_file) {
    Client client({.base_url = url, .ca_file = ca_file});
    const base::Fault fault = FaultOf(client, "/hello");
    EXPECT_EQ(fault.kind(), FaultKind::kStoreUnavailable) << "it cannot have seen the request";
    return fault.what();
  }
  std::string Distrust(const std::string& ca_file) { return Distrust(server_.Url(), ca_file); }

  TestServer server_{Transport::kTls};
  const std::string right_ = server_.certificate->CaFile();
};

TEST_F(ToTls, OutgoingBelievesTheGivenAuthorityAndNoOtherName) {
  const OutgoingReply unsigned_by_us = Post("");
  EXPECT_EQ(unsigned_by_us.status, 0);
  EXPECT_FALSE(unsigned_by_us.maybe_received) << "not a byte of the request left";
  EXPECT_THAT(unsigned_by_us.error, HasSubstr("certificate"));
  EXPECT_EQ(Post(right_).status, 204);
  server_.certificate->Renew({.names = "DNS:other.example"});
  const OutgoingReply another_name = Post(right_);
  EXPECT_EQ(another_name.status, 0);
  EXPECT_FALSE(another_name.maybe_received);
}

TEST_F(ToTls, TheClientBelievesTheGivenAuthorityAndKeepsItsConnection) {
  Client client({.base_url = server_.Url(), .ca_file = right_});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(client.Send(Method::kGet, "/hello").body, "hello");
  const std::string large(1 << 20, 'x');
  EXPECT_EQ(client.Send(Method::kPut, "/echo", large).body, large);
  EXPECT_THAT(server_.Metrics(), HasSubstr("tenure_tls_handshakes_total{result=\"ok\"} 1\n"));
}

TEST_F(ToTls, TheClientBelievesNobodyElse) {
  EXPECT_THAT(Distrust(""), HasSubstr("is not to be trusted"));
  const TestCertificate other;
  EXPECT_THAT(Distrust(other.CaFile()), HasSubstr("is not to be trusted"));
  EXPECT_THAT(Distrust("/nowhere/ca.pem"), HasSubstr("/nowhere/ca.pem holds no"));
  server_.certificate->Renew({.names = "DNS:other.example"});
  EXPECT_THAT(Distrust(right_), HasSubstr("is not to be trusted"));
  server_.certificate->Renew({.begins_in_s = 3'000});
  EXPECT_THAT(Distrust(right_), HasSubstr("not yet valid"));
}

TEST_F(ToTls, TheClientSaysThatAServerDoesNotSpeakTls) {
  const TestServer plain;
  std::string url = plain.Url();
  url.insert(4, "s");
  EXPECT_THAT(Distrust(url, ""), HasSubstr("no secure connection to https://127.0.0.1:"));
}

}  // namespace
}  // namespace tenure::http
