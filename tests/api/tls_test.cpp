// A server that speaks TLS, and everybody who asks it: our command line, our library, curl.
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/program.hpp"
#include "api/tls_server.hpp"
#include "http/client.hpp"
#include "support/process.hpp"
#include "tenure/leases/manager.hpp"
#include "tenure/messages/client.hpp"

namespace tenure::api {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class Tls : public testing::Test {
 protected:
  http::Client Client() const {
    return http::Client({.base_url = server_.Url(), .ca_file = server_.CaFile()});
  }

  TlsServer server_;
};

TEST_F(Tls, ItSaysWhereItServes) {
  EXPECT_THAT(server_.Url(), StartsWith("https://127.0.0.1:"));
  EXPECT_THAT(server_.process().Output(), HasSubstr("curl " + server_.Url() + "/health"));
}

TEST_F(Tls, TheCommandLineAsksItWithTheAuthoritysFile) {
  const auto ask = [&](std::vector<std::string> arguments,
                       std::vector<std::pair<std::string, std::string>> environment = {}) {
    arguments.insert(arguments.end(), {"--server", server_.Url()});
    return RunTenure(std::move(arguments), std::move(environment));
  };
  EXPECT_EQ(ask({"lease", "list", "--ca-file", server_.CaFile()}).exit_code, 0);
  EXPECT_EQ(ask({"lease", "list"}, {{"TENURE_CA_FILE", server_.CaFile()}}).exit_code, 0);
  const auto stranger = ask({"lease", "list"});
  EXPECT_EQ(stranger.exit_code, 5);
  EXPECT_THAT(stranger.err, HasSubstr("is not to be trusted"));
  const auto ran = RunTenure({"lease", "run", "tls", "--server", server_.Url(), "--ca-file",
                              server_.CaFile(), "--", "sh", "-c", "echo fence $TENURE_FENCE"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("fence "));
}

TEST_F(Tls, ThePublicLibraryAsksIt) {
  const auto manager = leases::Open(server_.Url(), {.ca_file = server_.CaFile()});
  auto outcome = manager->TryAcquire("tls-library");
  ASSERT_TRUE(std::holds_alternative<leases::Lease>(outcome));
  EXPECT_EQ(manager->Get("tls-library")->state, leases::LeaseState::kHeld);
  const auto stranger = leases::Open(server_.Url());
  EXPECT_THROW(stranger->TryAcquire("tls-library"), leases::ProviderUnavailable);

  const auto client = messages::Open(server_.Url(), {.ca_file = server_.CaFile()});
  client->Enqueue({.topic = "tls", .payload = R"({"n":1})"});
  const auto claimed = client->Claim({.topics = {"tls"}});
  ASSERT_EQ(claimed.size(), 1u);
  EXPECT_EQ(client->Acknowledge(claimed.front()), messages::Outcome::kDone);
}

TEST_F(Tls, CurlAsksItWithEveryVersionThatItSpeaks) {
  for (const char* version : {"1.2", "1.3"}) {
    const std::string answer = support::RunCommand(
        {.argv = {"curl", "--silent", "--show-error", "--fail", "--cacert", server_.CaFile(),
                  std::string("--tlsv") + version, "--tls-max", version, "--write-out",
                  "%{ssl_verify_result} %{http_version}", server_.Url() + "/livez"}});
    EXPECT_THAT(answer, HasSubstr(R"({"status":"ok"}0 1.1)"));
  }
}

TEST_F(Tls, ItsMetricsTellWhenTheCertificateEnds) {
  const std::string text = Client().Send(http::Method::kGet, "/metrics").body;
  EXPECT_THAT(text, HasSubstr("\ntls_certificate_end_timestamp_seconds "));
  EXPECT_THAT(text, HasSubstr("\ntls_handshakes_total{result=\"ok\"} "));
}

TEST_F(Tls, ARenewedCertificateIsServedAfterAReload) {
  auto before = Client();
  EXPECT_EQ(before.Send(http::Method::kGet, "/livez").status, 200);
  server_.Renew();
  server_.process().process().Kill(SIGHUP);
  Eventually("the new certificate is served",
             [&] { return server_.Served() == server_.last_serial(); });
  EXPECT_EQ(before.Send(http::Method::kGet, "/livez").status, 200);
  server_.Write("key.pem", "nonsense");
  server_.process().process().Kill(SIGHUP);
  Eventually("it says so", [&] {
    return server_.process().Output().find("tls.certificate_refused") != std::string::npos ||
           server_.process().Output().find("certificate stays as it is") != std::string::npos;
  });
  EXPECT_EQ(server_.Served(), server_.last_serial());
}

TEST(TlsSettings, FilesThatCannotBeUsedAreNamedAtTheStart) {
  const support::TempDir folder;
  support::Authority authority;
  const support::Certificate one = authority.Issue();
  const std::string certificate = folder / "certificate.pem";
  const std::string key = folder / "key.pem";
  support::ReplaceFile(certificate, one.certificate);
  support::ReplaceFile(key, authority.Issue().key);
  const auto serve = [&](std::vector<std::string> settings) {
    std::vector<std::string> arguments{"serve", "--listen", "127.0.0.1:0", "--data",
                                       folder / "data"};
    for (std::string& setting : settings) {
      arguments.emplace_back("--set");
      arguments.push_back(std::move(setting));
    }
    return RunTenure(std::move(arguments));
  };
  const auto wrong = serve({"tls.certificate=" + certificate, "tls.key=" + key});
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_THAT(wrong.err, AllOf(HasSubstr(key), HasSubstr("is not the key of the certificate")));
  for (const std::string& half : {"tls.certificate=" + certificate, "tls.key=" + key}) {
    const auto refused = serve({half});
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr("tls.certificate and tls.key"));
  }
}

}  // namespace
}  // namespace tenure::api
