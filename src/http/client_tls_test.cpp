// Whom requests of ours believe: a server whose certificate the test makes.

#include <future>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "http/client.hpp"
#include "http/outgoing.hpp"
#include "http/test_server.hpp"

namespace tenure::http {
namespace {

using base::FaultKind;
using testing::HasSubstr;

std::string Url(const TestServer& server) {
  return fmt::format("https://127.0.0.1:{}", server.server.port());
}

OutgoingReply Post(const TestServer& server, std::string ca_file) {
  Outgoing outgoing({.ca_file = std::move(ca_file)});
  outgoing.Start();
  std::promise<OutgoingReply> reply;
  outgoing.Send({.url = Url(server) + "/act", .body = "[]", .timeout_ms = 60'000},
                [&](OutgoingReply r) { reply.set_value(std::move(r)); });
  return reply.get_future().get();
}

TEST(OutgoingTls, ACertificateThatNobodySignedIsNotBelieved) {
  TestServer server(Transport::kTls);
  const OutgoingReply reply = Post(server, "");
  EXPECT_EQ(reply.status, 0);
  EXPECT_FALSE(reply.maybe_received) << "not a byte of the request left";
  EXPECT_THAT(reply.error, HasSubstr("certificate"));
}

TEST(OutgoingTls, ACertificateOfTheGivenAuthorityIsBelieved) {
  TestServer server(Transport::kTls);
  EXPECT_EQ(Post(server, server.certificate->CaFile()).status, 204);
}

TEST(OutgoingTls, ACertificateForAnotherNameIsNotBelieved) {
  TestServer server(Transport::kTls);
  server.certificate->Renew({.names = "DNS:other.example"});
  const OutgoingReply reply = Post(server, server.certificate->CaFile());
  EXPECT_EQ(reply.status, 0);
  EXPECT_FALSE(reply.maybe_received);
}

/// What `Send` makes of a server that it does not believe.
std::string Distrust(const TestServer& server, const std::string& ca_file) {
  Client client({.base_url = Url(server), .ca_file = ca_file});
  try {
    return fmt::format("it answered {}", client.Send(Method::kGet, "/hello").status);
  } catch (const base::Fault& fault) {
    EXPECT_EQ(fault.kind(), FaultKind::kStoreUnavailable) << "it cannot have seen the request";
    return fault.what();
  }
}

TEST(ClientTls, BelievesTheGivenAuthorityAndKeepsItsConnection) {
  TestServer server(Transport::kTls);
  Client client({.base_url = Url(server), .ca_file = server.certificate->CaFile()});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(client.Send(Method::kGet, "/hello").body, "hello");
  const std::string large(1 << 20, 'x');
  EXPECT_EQ(client.Send(Method::kPut, "/echo", large).body, large);
  EXPECT_THAT(server.Metrics(), HasSubstr("tls_handshakes_total{result=\"ok\"} 1\n"));
}

TEST(ClientTls, BelievesNobodyElse) {
  TestServer server(Transport::kTls);
  EXPECT_THAT(Distrust(server, ""), HasSubstr("is not to be trusted"));
  const TestCertificate other;
  EXPECT_THAT(Distrust(server, other.CaFile()), HasSubstr("is not to be trusted"));
  const std::string right = server.certificate->CaFile();
  server.certificate->Renew({.names = "DNS:other.example"});
  EXPECT_THAT(Distrust(server, right), HasSubstr("is not to be trusted"));
}

TEST(ClientTls, BelievesNoCertificateWhoseTimeHasNotCome) {
  TestServer server(Transport::kTls);
  server.certificate->Renew({.begins_in_s = 3'000});
  EXPECT_THAT(Distrust(server, server.certificate->CaFile()), HasSubstr("not yet valid"));
}

TEST(ClientTls, SaysThatAServerDoesNotSpeakTls) {
  TestServer server;
  EXPECT_THAT(Distrust(server, ""), HasSubstr("no secure connection to https://127.0.0.1:"));
}

TEST(ClientTls, SaysThatTheAuthoritysFileIsNone) {
  TestServer server(Transport::kTls);
  EXPECT_THAT(Distrust(server, "/nowhere/ca.pem"), HasSubstr("/nowhere/ca.pem holds no"));
}

}  // namespace
}  // namespace tenure::http
