// A server that strangers can reach: how often they may ask, who stands behind a proxy, what is
// open without a token, that secrets stay secret; and what the library and the commands make of a
// refusal: an error for good, in the server's words, and no second try.
#include <unistd.h>

#include <deque>
#include <filesystem>
#include <fstream>
#include <regex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/calls.hpp"
#include "api/guarded.hpp"
#include "api/store_under_test.hpp"
#include "auth/signer.hpp"
#include "base/base64.hpp"
#include "client/messages/test/signal.hpp"
#include "config/table.hpp"
#include "tenure/leases/leader.hpp"
#include "tenure/leases/manager.hpp"
#include "tenure/messages/client.hpp"
#include "tenure/messages/worker.hpp"

namespace tenure::api {
namespace {

using namespace std::chrono_literals;
using support::HttpResponse;
using support::ServerProcess;
using support::TempDir;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kLeases = "/api/v1/leases";

// ---- rate limits

TEST(RateLimits, BeyondItsLimitAPersonIsToldSoAndNobodyElse) {
  const GuardedProcess server({"--set", "rate_limits.leases=2/h"});
  const Api ada = server.As("leases:read ops:read");
  EXPECT_EQ(ada.Get(kLeases).FindHeader("RateLimit-Remaining"), "1");
  EXPECT_EQ(ada.Get(kLeases).status, 200);
  const HttpResponse refused = ada.Get(kLeases);  // held to openapi.json, as every answer
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(ProblemType(refused), "rate-limited");
  EXPECT_EQ(std::to_string(refused.Json()["retry_after_seconds"].Int()),
            refused.FindHeader("Retry-After"));
  EXPECT_EQ(refused.FindHeader("RateLimit-Policy"), "2;w=3600");
  EXPECT_EQ(server.As("leases:read", "bob").Get(kLeases).status, 200);
  EXPECT_EQ(ada.Get("/health").status, 200) << "another class";
  EXPECT_THAT(ada.Get("/metrics").body,
              HasSubstr(R"(tenure_http_rate_limited_total{class="leases"} 1)"));
}

TEST(RateLimits, OneWordSwitchesAllOff) {
  const GuardedProcess server({"--set", "rate_limits.leases=1/h", "--set", "rate_limits=off"});
  const Api ada = server.As("leases:read");
  for (int i = 0; i < 3; ++i) {
    const HttpResponse response = ada.Get(kLeases);
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.FindHeader("RateLimit-Limit"), std::nullopt);
  }
}

TEST(RateLimits, ACommandThatIsRefusedMayTryAgainLater) {
  const GuardedProcess server({"--set", "rate_limits.leases=1/h"});
  const std::string token = server.TokenFile("leases:read");
  const auto list = [&] {
    return RunTenure({"lease", "list", "--server", server.Url(), "--token-file", token});
  };
  EXPECT_EQ(list().exit_code, 0);
  const auto refused = list();
  EXPECT_EQ(refused.exit_code, 5);
  EXPECT_THAT(refused.err, HasSubstr("Try again in"));
}

// ---- proxies

TEST(Proxies, WithoutATokenTheAddressBehindATrustedProxyCounts) {
  const GuardedProcess server(
      {"--set", "rate_limits.ops=1/h", "--set", "http.trusted_proxies=127.0.0.0/8"});
  const auto status = [&](const std::string& from) {
    return Api(server.port())
        .Call("GET", "/openapi.json", "", {{"X-Forwarded-For", "203.0.113.9, " + from}})
        .status;
  };
  EXPECT_EQ(status("192.0.2.1"), 200);
  EXPECT_EQ(status("192.0.2.1"), 429);
  EXPECT_EQ(status("192.0.2.2"), 200);
  EXPECT_EQ(status("192.0.2.2, 127.0.0.9"), 429) << "two proxies, one behind the other";
}

TEST(Proxies, TheAuditNamesWhoStandsBehindThem) {
  const GuardedProcess server({"--set", "http.trusted_proxies=127.0.0.0/8"});
  const Api ada = server.As("leases:write admin");
  Lease lease(ada);
  ASSERT_EQ(lease.Acquire().status, 200);
  const support::HttpHeaders by_proxy{{"X-Forwarded-For", "192.0.2.1"}};
  ASSERT_EQ(lease.Post("break", R"({"reason":"a test"})", by_proxy).status, 200);
  const support::Json entry = ada.Get("/api/v1/audit").Json()["items"][0];
  EXPECT_EQ(entry["act"].Text(), "lease.break");
  EXPECT_EQ(entry["person"].Text(), "ada");
  EXPECT_EQ(entry["address"].Text(), "192.0.2.1");
}

TEST(Proxies, NobodyElsesWordCounts) {
  const GuardedProcess server(
      {"--set", "rate_limits.ops=1/h", "--set", "http.trusted_proxies=10.0.0.0/8"});
  const auto status = [&](const std::string& from) {
    return Api(server.port())
        .Call("GET", "/openapi.json", "", {{"X-Forwarded-For", from}, {"Forwarded", "for=" + from}})
        .status;
  };
  EXPECT_EQ(status("192.0.2.1"), 200);
  EXPECT_EQ(status("192.0.2.2"), 429) << "both came from this machine";
}

// ---- the second listener

/// Its port, from what the server said at its start.
int OpsPort(const ServerProcess& server) {
  const std::string output = server.Output();
  std::smatch match;
  if (!std::regex_search(output, match, std::regex("also on http://[0-9.]+:([0-9]+)")))
    throw std::runtime_error("no second listener is named: " + output);
  return std::stoi(match[1]);
}

TEST(OpsListener, ServesWhatWatchesWithoutATokenAndNothingElse) {
  GuardedProcess server({"--ops-listen", "127.0.0.1:0"});
  const int port = OpsPort(server.process());
  for (const char* path : {"/livez", "/readyz", "/health", "/metrics"}) {
    EXPECT_EQ(Api(port).Get(path).status, 200) << path;
    // A Prometheus comes from elsewhere, by another name, perhaps through a proxy.
    EXPECT_EQ(support::Call(port, "GET", path, "",
                            {{"Host", "tenure.internal:9100"}, {"X-Forwarded-For", "192.0.2.1"}})
                  .status,
              200)
        << path;
  }
  const std::string token = server.Token("leases:read sessions:read ops:read");
  for (const char* path : {kLeases, "/sessions", "/openapi.json", "/"})
    EXPECT_EQ(support::Call(port, "GET", path, "", {{"Authorization", "Bearer " + token}}).status,
              404)
        << path;
  EXPECT_EQ(Api(server.port()).Get("/health").status, 401) << "the main one is as it was";
  EXPECT_EQ(Api(server.port()).Get("/metrics").status, 401);
  EXPECT_EQ(server.As("ops:read").Get("/health").status, 200);
  EXPECT_EQ(server.process().Terminate(), 0);
}

TEST(OpsListener, InProtectedModeItServesThisMachineOnly) {
  const TempDir dir;
  const auto refused = RunTenure(
      {"serve", "--data", dir / "data", "--listen", "127.0.0.1:0", "--ops-listen", "0.0.0.0:0"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("--ops-listen 127.0.0.1:8080"));
  EXPECT_FALSE(std::filesystem::exists(dir / "data")) << "the store was not touched";
  const StoreUnderTest store(Engine::kSqlite);
  const auto server = store.Serve({"--ops-listen", "127.0.0.1:0"});
  const int port = OpsPort(*server);
  EXPECT_EQ(Api(port).Get("/health").status, 200);
  for (const int each : {port, server->Port()})
    EXPECT_EQ(support::Call(each, "GET", "/health", "", {{"Host", "tenure.internal"}}).status, 403);
}

TEST(OpsListener, TellsOfTopicsOnlyThereAndOnlyWhenItShall) {
  for (const char* topics : {"on", "off"}) {
    GuardedProcess server(
        {"--ops-listen", "127.0.0.1:0", "--set", std::string("metrics.topics=") + topics});
    const int port = OpsPort(server.process());
    const Topic topic(server.As("messages:read messages:write"));
    topic.Send();
    const auto shown = [&](const Api& api) {
      return api.Get("/metrics").body.find(topic.name()) != std::string::npos;
    };
    if (topics == std::string("on"))
      Eventually(
          "the topic is counted", [&] { return shown(Api(port)); }, std::chrono::seconds(90));
    else
      EXPECT_FALSE(shown(Api(port)));
    EXPECT_FALSE(shown(server.As("ops:read")));
  }
}

TEST(Serve, TouchesNoStoreWhenItsDoorsCannotBeOpened) {
  const TempDir dir;
  const std::string data = dir / "data";
  const std::string taken = "127.0.0.1:" + std::to_string(SharedServer(Engine::kSqlite).Port());
  std::ofstream(dir / "no.pem") << "no certificate";
  const std::string pem = dir / "no.pem";
  const std::vector<std::vector<std::string>> wrong{
      {"--listen", taken},
      {"--listen", "192.0.2.1:1"},
      {"--listen", "127.0.0.1:0", "--set", "tls.certificate=" + pem, "--set", "tls.key=" + pem},
      {"--listen", "127.0.0.1:0", "--ops-listen", "192.0.2.1:1"},
      {"--listen", "127.0.0.1:0", "--set", "webhooks.listen=192.0.2.1:1"},
      {"--listen", "127.0.0.1:0", "--set", "secrets.key_file=" + pem}};
  for (const auto& flags : wrong) {
    std::vector<std::string> words{"serve", "--data", data};
    words.insert(words.end(), flags.begin(), flags.end());
    EXPECT_NE(RunTenure(words).exit_code, 0) << flags.back();
    EXPECT_FALSE(std::filesystem::exists(data)) << flags.back();
  }
  const std::string file = dir / "tenure.yaml";
  std::ofstream(file) << "tls: {certificate: '" << pem << "', key: '" << pem << "'}\n";
  EXPECT_EQ(RunTenure({"config", "check", file}).exit_code, 2);
  std::ofstream(file) << "listen: " << taken << "\n";
  EXPECT_EQ(RunTenure({"config", "check", file}).exit_code, 0) << "its server may be running";
}

TEST(DataFolder, ThatIsThereKeepsItsRightsAndItsFilesAreOurs) {
  namespace fs = std::filesystem;
  const TempDir dir;
  const fs::path data = dir.path() / "data";
  fs::create_directory(data);
  fs::permissions(data, fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec);
  support::ServerOptions options;
  options.data_dir = data;
  {
    ServerProcess server(options);
    for (const auto& entry : fs::directory_iterator(data))
      EXPECT_EQ(entry.status().permissions() & (fs::perms::group_all | fs::perms::others_all),
                fs::perms::none)
          << entry.path();
  }
  EXPECT_NE(fs::status(data).permissions() & fs::perms::group_read, fs::perms::none);
  if (geteuid() != 0) return;
  const fs::path theirs = dir.path() / "theirs";
  fs::create_directory(theirs);
  ASSERT_EQ(chown(theirs.c_str(), 65534, 65534), 0);
  const auto refused = RunTenure({"serve", "--data", theirs, "--listen", "127.0.0.1:0"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("belongs to another user"));
  EXPECT_TRUE(fs::is_empty(theirs));
}

TEST(OpsListener, AnswersWhenTheMainOneHasNoConnectionLeft) {
  const StoreUnderTest store(Engine::kSqlite);
  const auto server =
      store.Serve({"--ops-listen", "127.0.0.1:0", "--set", "http.max_connections=1"});
  const Topic topic{Api(*server)};
  WaitingClaim last(topic);
  AwaitWaiting(Api(OpsPort(*server)), 1);
  EXPECT_EQ(support::Call(server->Port(), "GET", "/livez").status, 503);
  for (const char* path : {"/livez", "/readyz", "/metrics"})
    EXPECT_EQ(Api(OpsPort(*server)).Get(path).status, 200) << path;
}

TEST(OpsListener, HasAPlaceForProbesWhoeverHoldsItsConnections) {
  const StoreUnderTest store(Engine::kSqlite);
  const auto server = store.Serve({"--ops-listen", "127.0.0.1:0"});
  const int port = OpsPort(*server);
  std::deque<support::HttpConnection> silent;
  for (int i = 0; i < 100; ++i) silent.emplace_back(port);
  for (const char* path : {"/livez", "/readyz", "/metrics"})
    EXPECT_EQ(Api(port).Get(path).status, 200) << path;
}

TEST(OpsListener, IsRefusedWhereTheMainOneIsOrWhenItCannotBeHad) {
  const TempDir dir;
  const auto same = RunTenure(
      {"serve", "--data", dir / "data", "--listen", "127.0.0.1:1", "--ops-listen", "127.0.0.1:1"});
  EXPECT_EQ(same.exit_code, 2);
  EXPECT_THAT(same.err, HasSubstr("ops.listen"));
  const std::string taken = "127.0.0.1:" + std::to_string(SharedServer(Engine::kSqlite).Port());
  const auto busy = RunTenure(
      {"serve", "--data", dir / "data", "--listen", "127.0.0.1:0", "--ops-listen", taken});
  EXPECT_EQ(busy.exit_code, 1);
  EXPECT_THAT(busy.err, HasSubstr("choose another address with --ops-listen"));
}

// ---- secrets

TEST(Secrets, NoneIsPrintedLoggedOrTold) {
  const TempDir dir;
  const std::string secret = "hunter2-" + NewUuid() + NewUuid();
  std::vector<std::pair<std::string, std::string>> environment;
  for (const config::Setting& setting : config::Table()) {
    // The password of a database is tried by the tests of the store.
    if (!config::IsSecret(setting.kind) || setting.name == "store.password") continue;
    const std::string file = dir / std::string(setting.name);
    std::ofstream(file) << secret << "\n";
    environment.emplace_back(config::EnvironmentName(setting.name) + "_FILE", file);
  }
  ASSERT_GE(environment.size(), 2U);
  support::ServerOptions options;
  options.environment = environment;
  options.flags = {"--set",        "auth.issuer=test",
                   "--set",        "auth.audience=tenure",
                   "--set",        "log.level=debug",
                   "--set",        "usage.interval=1s",
                   "--set",        "usage.endpoint=http://127.0.0.1:1/usages",
                   "--ops-listen", "127.0.0.1:0"};
  ServerProcess server(options);
  // A receiver that is not there, a token that is nonsense, a secret that changes.
  const auth::Signer signer =
      auth::Signer::Parse(R"({"kty":"oct","k":")" + base::EncodeBase64Url(secret) + R"("})");
  const Key key = NewKey();
  const std::string token =
      signer.Sign(R"({"iss":"test","aud":"tenure","sub":"ada","scope":"sessions:write","tid":")" +
                  key.tenant + R"(","exp":)" + std::to_string(WallMs() / 1'000 + 600) + "}");
  EXPECT_EQ(Api(server.Port(), token).Put(key, 1).status, 201);
  Eventually("the receiver was tried",
             [&] { return server.Output().find("usage.failing") != std::string::npos; });
  const HttpResponse refused = Api(server.Port(), "nonsense").Get(kLeases);
  EXPECT_EQ(refused.status, 401);
  EXPECT_THAT(refused.body, Not(HasSubstr("hunter2")));
  std::ofstream(dir / "auth.secret") << secret << "-changed\n";
  server.process().Kill(SIGHUP);
  Eventually("the change is told",
             [&] { return server.Output().find("auth.secret") != std::string::npos; });
  for (const char* path : {"/health", "/metrics", "/readyz"})
    EXPECT_THAT(Api(OpsPort(server)).Get(path).body, Not(HasSubstr("hunter2"))) << path;
  EXPECT_THAT(server.Output(), Not(HasSubstr("hunter2")));
  const auto shown =
      RunTenure({"config", "show", "--set", "auth.issuer=test", "--set", "auth.audience=tenure"},
                environment);
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("***"));
  const auto help = RunTenure({"serve", "--help"}, environment);
  EXPECT_THAT(shown.out + shown.err + help.out + help.err, Not(HasSubstr("hunter2")));
}

class Denial : public testing::Test {
 protected:
  static void SetUpTestSuite() { server_ = new GuardedProcess(); }
  static void TearDownTestSuite() { delete std::exchange(server_, nullptr); }

  static ProgramResult Run(std::vector<std::string> arguments, const std::string& scopes = "") {
    arguments.insert(arguments.begin() + 2, {"--server", server_->Url()});
    if (!scopes.empty())
      arguments.insert(arguments.begin() + 2, {"--token-file", server_->TokenFile(scopes)});
    return RunTenure(std::move(arguments));
  }
  /// How often a route answered with a status.
  static std::string Answered(const std::string& route, int status) {
    const std::string text = server_->As("ops:read").Get("/metrics").body;
    const std::string metric = "tenure_http_requests_total{route=\"" + route +
                               "\",method=\"POST\",status=\"" + std::to_string(status) + "\"} ";
    const std::size_t at = text.find(metric);
    if (at == std::string::npos) return "0";
    return text.substr(at + metric.size(), text.find('\n', at) - at - metric.size());
  }

  static GuardedProcess* server_;
};
GuardedProcess* Denial::server_ = nullptr;

TEST_F(Denial, ACommandWithoutATokenSaysHowToGiveOne) {
  const auto result = Run({"lease", "list"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("A token is needed"));
  EXPECT_THAT(result.err, HasSubstr("--token-file FILE or TENURE_TOKEN"));
}

TEST_F(Denial, ACommandNamesTheScopeThatIsMissing) {
  const auto result = Run({"lease", "list"}, "messages:read");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("lacks the scope leases:read"));
}

TEST_F(Denial, LeaseRunDoesNotWaitForWhatItWillNeverGet) {
  const std::string before = Answered("acquireLease", 403);
  const auto result = Run({"lease", "run", "nightly", "--wait", "1h", "--", "true"}, "leases:read");
  EXPECT_EQ(result.exit_code, 1) << "not 5, which says: try again";
  EXPECT_THAT(result.err, HasSubstr("access denied (403): It lacks the scope leases:write"));
  EXPECT_EQ(std::stoi(Answered("acquireLease", 403)), std::stoi(before) + 1) << "asked once";
}

TEST_F(Denial, TheManagerThrowsItAtOnce) {
  leases::Manager manager(leases::OpenProvider(server_->UrlAs("leases:read")));
  try {
    manager.TryAcquireFor("nightly", 1h);
    FAIL() << "it was granted";
  } catch (const leases::AccessDenied& error) {
    EXPECT_THAT(error.what(), HasSubstr("leases:write"));
    EXPECT_EQ(error.lease(), "nightly");
    EXPECT_FALSE(error.outcome_unknown());
  }
  leases::Manager nobody(leases::OpenProvider(server_->Url()));
  EXPECT_THROW(nobody.TryAcquire("nightly"), leases::AccessDenied);
}

TEST_F(Denial, WhoMayNotLeadIsToldAndDoesNotStandForElectionForEver) {
  leases::Manager manager(leases::OpenProvider(server_->UrlAs("leases:read")));
  EXPECT_THROW(
      RunAsLeader(
          manager, "leader", [](leases::Lease&, std::stop_token) { FAIL(); }, std::stop_token()),
      leases::AccessDenied);
}

TEST_F(Denial, TheClientOfMessagesThrowsIt) {
  messages::Client client(server_->UrlAs("messages:read"));
  EXPECT_THROW(client.Enqueue({.topic = "orders", .payload = "{}"}), messages::AccessDenied);
}

TEST_F(Denial, AWorkerSaysSoAndLives) {
  client::Counter told;
  messages::WorkerOptions options;
  options.on_trouble = [&](const std::string& what) {
    EXPECT_THAT(what, HasSubstr("access denied (403)"));
    told.Add();
  };
  messages::Worker worker(server_->UrlAs("messages:read"),
                          {{"orders", [](const messages::Delivery&, messages::Context&) {}}},
                          std::move(options));
  EXPECT_TRUE(told.Await(1));
  worker.Stop();
}

TEST_F(Denial, TheWelcomeOfAGuardedServerSaysThatATokenIsNeeded) {
  EXPECT_THAT(server_->process().Output(), HasSubstr("Requests need a token"));
  EXPECT_THAT(server_->process().Output(), HasSubstr("docs/security.md"));
}

}  // namespace
}  // namespace tenure::api
