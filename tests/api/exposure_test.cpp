// A server that strangers can reach: how often they may ask, who stands behind a proxy, what is
// open without a token, and that secrets stay secret.
#include <fstream>
#include <regex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/guarded_process.hpp"
#include "api/lease_calls.hpp"
#include "api/program.hpp"
#include "api/store_under_test.hpp"
#include "auth/signer.hpp"
#include "base/base64.hpp"
#include "config/table.hpp"

namespace tenure::api {
namespace {

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
  EXPECT_THAT(ada.Get("/metrics").body, HasSubstr(R"(http_rate_limited_total{class="leases"} 1)"));
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

TEST(OpsListener, MayBeReachedFromElsewhereAlsoInProtectedMode) {
  const StoreUnderTest store(Engine::kSqlite);
  const auto server = store.Serve({"--ops-listen", "0.0.0.0:0"});
  EXPECT_EQ(Api(OpsPort(*server)).Get("/health").status, 200);
  EXPECT_EQ(
      support::Call(server->Port(), "GET", "/health", "", {{"Host", "tenure.internal"}}).status,
      403);
}

TEST(OpsListener, AnswersWhenTheMainOneHasNoConnectionLeft) {
  const StoreUnderTest store(Engine::kSqlite);
  const auto server =
      store.Serve({"--ops-listen", "127.0.0.1:0", "--set", "http.max_connections=1"});
  support::HttpConnection last(server->Port());
  EXPECT_EQ(last.Call("GET", "/livez").status, 200);
  EXPECT_EQ(support::Call(server->Port(), "GET", "/livez").status, 503);
  for (const char* path : {"/livez", "/readyz", "/metrics"})
    EXPECT_EQ(Api(OpsPort(*server)).Get(path).status, 200) << path;
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

}  // namespace
}  // namespace tenure::api
