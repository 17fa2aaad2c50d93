// A server that speaks TLS, and everybody who asks it: our command line, our library, curl. And
// certificates and the keys of tokens that change under load, while no request fails.
#include "support/tls.hpp"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/api.hpp"
#include "auth/signer.hpp"
#include "base/error.hpp"
#include "http/client.hpp"
#include "support/process.hpp"
#include "support/raw_http.hpp"
#include "support/server_process.hpp"
#include "support/temp_dir.hpp"
#include "tenure/leases/manager.hpp"
#include "tenure/messages/client.hpp"

namespace tenure::api {
namespace {

using auth::Algorithm;
using auth::Signer;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

/// A real server that speaks TLS, with a certificate by an authority of the test's own.
class TlsServer {
 public:
  /// `settings` are given by `--set` besides those of TLS.
  explicit TlsServer(const std::vector<std::string>& settings = {}) : process_(Options(settings)) {}

  support::ServerProcess& process() { return process_; }
  std::string Url() const { return process_.Url(); }
  std::string File(const std::string& name) const { return folder_ / name; }
  /// For clients: the authority's own certificate.
  std::string CaFile() const { return File("authority.pem"); }

  /// Puts another certificate in the place of the first one. Nobody is told.
  void Renew() {
    const support::Certificate made = authority_.Issue();
    Write("certificate.pem", made.certificate);
    Write("key.pem", made.key);
  }
  std::int64_t last_serial() const { return authority_.last_serial(); }
  /// The serial number of the certificate that a new connection gets.
  std::int64_t Served() const {
    const support::HttpConnection line(process_.Port());
    return support::TlsClient(line.fd(), {.authority = authority_.pem()}).PeerSerial();
  }

  /// Writes a file of that name in one step.
  std::string Write(const std::string& name, const std::string& text) const {
    support::ReplaceFile(File(name), text);
    return File(name);
  }

 private:
  support::ServerOptions Options(const std::vector<std::string>& settings) {
    Renew();
    Write("authority.pem", authority_.pem());
    support::ServerOptions options;
    options.flags = {"--set", "tls.certificate=" + File("certificate.pem"), "--set",
                     "tls.key=" + File("key.pem")};
    for (const std::string& setting : settings)
      options.flags.insert(options.flags.end(), {"--set", setting});
    return options;
  }

  const support::TempDir folder_;
  support::Authority authority_;
  support::ServerProcess process_;
};

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

TEST(TlsOfWebhooks, TheirOwnListenerHasTheSameCertificate) {
  TlsServer server({"webhooks.listen=127.0.0.1:0"});
  const std::string says = "Webhooks are also taken on ";
  const std::string output = server.process().Output();
  ASSERT_THAT(output, HasSubstr(says + "https://127.0.0.1:"));
  const std::size_t at = output.find(says) + says.size();
  http::Client client({.base_url = output.substr(at, output.find_first_of(" ,\n", at) - at),
                       .ca_file = server.CaFile()});
  EXPECT_EQ(client.Send(http::Method::kPost, "/webhooks/github", "{}", {}).status, 404)
      << "nobody has named a source";
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
  EXPECT_THAT(text, HasSubstr("\ntenure_tls_certificate_end_timestamp_seconds "));
  EXPECT_THAT(text, HasSubstr("\ntenure_tls_handshakes_total{result=\"ok\"} "));
}

std::string TokenOf(const Signer& signer) {
  return signer.Sign(
      R"({"iss":"tenure","aud":"tenure","tid":"acme","sub":"ada","scope":"leases:write","exp":)" +
      std::to_string(WallMs() / 1'000 + 3'600) + "}");
}

/// Clients that send requests without a pause, each answered by a commit. Half of them keep their
/// connection, half make a new one for each request.
class Load {
 public:
  Load(const TlsServer& server, std::string token) : server_(server), token_(std::move(token)) {
    for (std::size_t i = 0; i < kClients; ++i) clients_.emplace_back([this, i] { Run(i); });
  }
  ~Load() { Stop(); }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  /// Returns when every client has had an answer to a request with the new token: none shows the
  /// old one any more.
  void Switch(std::string token) {
    {
      const std::lock_guard lock(mutex_);
      token_ = std::move(token);
    }
    AwaitOneMore();
  }
  /// Returns when every client has had an answer to a request that it began after this call.
  void AwaitOneMore() {
    std::vector<std::int64_t> seen;
    for (const auto& count : answered_) seen.push_back(count);
    for (std::size_t i = 0; i < kClients; ++i)
      Eventually(fmt::format("client {} goes on", i), [&] {
        return answered_[i] >= seen[i] + 2 || !Failures().empty();  // one may have been under way
      });
  }
  void Stop() {
    stopping_ = true;
    for (std::thread& client : clients_)
      if (client.joinable()) client.join();
  }
  std::vector<std::string> Failures() const {
    const std::lock_guard lock(mutex_);
    return failures_;
  }
  std::int64_t answered() const {
    std::int64_t sum = 0;
    for (const auto& count : answered_) sum += count;
    return sum;
  }

 private:
  static constexpr std::size_t kClients = 6;

  void Run(std::size_t number) {
    const bool keeps = number % 2 == 0;
    const std::string path = fmt::format("/api/v1/leases/rotation-{}/acquire", number);
    const std::string body =
        fmt::format(R"({{"term":"{}","holder":"client","ttl_ms":60000}})", NewUuid());
    std::optional<http::Client> client;
    while (!stopping_) {
      if (!client || !keeps)
        client.emplace(http::ClientOptions{.base_url = server_.Url(), .ca_file = server_.CaFile()});
      Ask(*client, path, body);
      ++answered_[number];
    }
  }
  void Ask(http::Client& client, const std::string& path, const std::string& body) {
    std::string token;
    {
      const std::lock_guard lock(mutex_);
      token = token_;
    }
    try {
      const auto answer =
          client.Send(http::Method::kPost, path, body, {{"Authorization", "Bearer " + token}});
      if (answer.status != 200) Fail(fmt::format("{} {}", answer.status, answer.body));
    } catch (const base::Fault& fault) {
      Fail(fault.what());
    }
  }
  void Fail(std::string what) {
    const std::lock_guard lock(mutex_);
    failures_.push_back(std::move(what));
  }

  const TlsServer& server_;
  std::array<std::atomic<std::int64_t>, kClients> answered_{};
  std::atomic<bool> stopping_ = false;
  mutable std::mutex mutex_;
  std::string token_;                  // guarded by mutex_
  std::vector<std::string> failures_;  // guarded by mutex_
  std::vector<std::thread> clients_;
};

class Rotation : public testing::Test {
 protected:
  static std::string KeysText(std::initializer_list<const Signer*> signers) {
    std::string text = R"({"keys":[)";
    for (const Signer* signer : signers)
      text += (text.ends_with('[') ? "" : ",") + signer->public_jwk();
    return text + "]}";
  }
  /// The server reads the file before it is started: it lies in a folder of its own.
  std::string WriteKeys(std::initializer_list<const Signer*> signers) const {
    const std::string path = folder_ / "keys.json";
    support::ReplaceFile(path, KeysText(signers));
    return path;
  }
  static int StatusOf(const TlsServer& server, const std::string& token) {
    http::Client client({.base_url = server.Url(), .token = token, .ca_file = server.CaFile()});
    return client
        .Send(http::Method::kPost, "/api/v1/leases/probe/acquire",
              R"({"term":"00000000-0000-4000-8000-000000000001","holder":"probe","ttl_ms":60000})")
        .status;
  }

  const support::TempDir folder_;
};

TEST_F(Rotation, OfCertificatesAndKeysUnderLoadFailsNoRequest) {
  Signer current = Signer::Generate(Algorithm::kEs256);
  TlsServer server(
      {"auth.issuer=tenure", "auth.audience=tenure", "auth.keys=" + WriteKeys({&current})});
  const auto reload = [&] { server.process().process().Kill(SIGHUP); };
  Load load(server, TokenOf(current));
  load.AwaitOneMore();
  for (int round = 0; round < 4; ++round) {
    server.Renew();
    reload();
    Eventually("the new certificate is served",
               [&] { return server.Served() == server.last_serial(); });

    const Signer next = Signer::Generate(round % 2 == 0 ? Algorithm::kEdDsa : Algorithm::kEs256);
    WriteKeys({&current, &next});
    reload();
    Eventually("the new key counts", [&] { return StatusOf(server, TokenOf(next)) == 200; });
    load.Switch(TokenOf(next));
    WriteKeys({&next});
    reload();
    Eventually("the old key is gone", [&] { return StatusOf(server, TokenOf(current)) == 401; });
    current = next;
    load.AwaitOneMore();
  }
  load.Stop();
  EXPECT_THAT(load.Failures(), testing::IsEmpty());
  EXPECT_GT(load.answered(), 50);
}

}  // namespace
}  // namespace tenure::api
