// Tokens by other people's hands: made by another library, by an issuer, by our own command line;
// and keys that change while the server runs.
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/api.hpp"
#include "support/process.hpp"
#include "support/server_process.hpp"
#include "support/temp_dir.hpp"

namespace tenure::api {
namespace {

using support::Json;
using support::ServerProcess;
using testing::HasSubstr;

std::filesystem::path NodeFolder() { return support::SourceDir() / "tests" / "node"; }

bool HasPackages() { return std::filesystem::exists(NodeFolder() / "node_modules" / "jose"); }

class Issued : public testing::Test {
 protected:
  std::string File(const std::string& name) const { return folder_.path() / name; }
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(File(name)) << text;
    return File(name);
  }
  static std::string Claims(const std::string& issuer = "tenure") {
    return R"({"iss":")" + issuer + R"(","aud":["other","tenure"],"tid":"acme","sub":"ada",)" +
           R"("scp":["leases:read"],"exp":)" + std::to_string(WallMs() / 1'000 + 600) + "}";
  }
  static support::ServerOptions Options(const std::string& setting, const std::string& value,
                                        const std::string& issuer = "tenure") {
    return {.flags = {"--set", "auth.issuer=" + issuer, "--set", "auth.audience=tenure", "--set",
                      setting + "=" + value}};
  }
  static int StatusOf(const ServerProcess& server, const std::string& token) {
    return Api(server.Port(), token).Get("/api/v1/leases").status;
  }
  /// A new key and a token of it, by the command line.
  std::string Issue(const std::string& key, const std::string& algorithm = "EdDSA") const {
    const auto made = RunTenure({"token", "keygen", "--algorithm", algorithm, "--out", File(key)});
    EXPECT_EQ(made.exit_code, 0) << made.err;
    const auto issued = RunTenure({"token", "issue", "--key", File(key), "--tenant", "acme",
                                   "--person", "ada", "--scope", "leases:read leases:write"});
    EXPECT_EQ(issued.exit_code, 0) << issued.err;
    return issued.out.substr(0, issued.out.find('\n'));
  }

  support::TempDir folder_;
};

TEST_F(Issued, TokensOfAnotherLibraryAreTaken) {
  if (!HasPackages()) GTEST_SKIP() << "npm ci was not run in tests/node; ./test does it";
  std::string keys = R"({"keys":[)";
  std::vector<std::string> tokens;
  for (const char* algorithm : {"HS256", "RS256", "ES256", "EdDSA"}) {
    const Json made = Json::Parse(support::RunCommand(
        {.argv = {"node", (NodeFolder() / "tokens.mjs").string(), algorithm, Claims()}}));
    keys += (tokens.empty() ? "" : ",") + made["key"].Dump();
    tokens.push_back(made["token"].Text());
  }
  const ServerProcess server(Options("auth.keys", Write("keys.json", keys + "]}")));
  for (const std::string& token : tokens) EXPECT_EQ(StatusOf(server, token), 200) << token;
}

TEST_F(Issued, AnIssuersTokensAreTakenByTheKeysThatItPublishes) {
  if (!HasPackages()) GTEST_SKIP() << "npm ci was not run in tests/node; ./test does it";
  support::Process issuer(
      {.argv = {"node", (NodeFolder() / "issuer.mjs").string(),
                R"({"aud":"tenure","tid":"acme","sub":"ada","scope":"leases:read"})"}});
  const Json at = Json::Parse(issuer.WaitForLine("jwks_uri"));
  const ServerProcess server(Options("auth.jwks_url", at["jwks_uri"].Text(), at["issuer"].Text()));
  const std::string endpoint = at["token_endpoint"].Text();
  const std::size_t path = endpoint.find('/', endpoint.find("//") + 2);
  const int port = std::stoi(endpoint.substr(endpoint.rfind(':') + 1));
  for (int i = 0; i < 4; ++i) {  // it uses its keys in turn
    const auto answer =
        support::Call(port, "POST", endpoint.substr(path), "grant_type=client_credentials",
                      {{"Content-Type", "application/x-www-form-urlencoded"}});
    const std::string token = answer.Json()["access_token"].Text();
    // 503 until the keys are fetched: nobody can tell before.
    Eventually("the issuer's keys are known", [&] { return StatusOf(server, token) == 200; });
  }
  EXPECT_EQ(StatusOf(server, Issue("other")), 401);
}

TEST_F(Issued, WithKeysTheServerListensElsewhere) {
  const std::string token = Issue("key");
  std::vector<std::string> command{
      support::TenureBinary(), "serve", "--listen", "0.0.0.0:0", "--data", File("data")};
  const support::ServerOptions options = Options("auth.keys", File("key.pub"));
  command.insert(command.end(), options.flags.begin(), options.flags.end());
  support::Process server({.argv = command});
  const std::string line = server.WaitForLine("http://0\\.0\\.0\\.0:[0-9]+");
  const int port = std::stoi(line.substr(line.rfind(':') + 1));
  EXPECT_EQ(Api(port, token).Get("/api/v1/leases").status, 200);
  EXPECT_EQ(Api(port).Get("/api/v1/leases").status, 401);
}

TEST_F(Issued, TheCommandLineShowsItsToken) {
  const std::string token = Issue("key", "HS256");
  const ServerProcess server(Options("auth.keys", File("key")));
  const std::string file = Write("token", token + "\n");
  const auto ask = [&](std::vector<std::string> more,
                       std::vector<std::pair<std::string, std::string>> environment = {}) {
    std::vector<std::string> arguments{"lease", "list", "--server", server.Url()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunTenure(arguments, std::move(environment));
  };
  EXPECT_EQ(ask({"--token-file", file}).exit_code, 0);
  EXPECT_EQ(ask({}, {{"TENURE_TOKEN", token}}).exit_code, 0);
  const auto refused = ask({});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("A token is needed"));
  EXPECT_EQ(ask({"--token-file", File("missing")}).exit_code, 1);

  const auto shown = RunTenure({"token", "inspect", "--token-file", file, "--key", File("key")});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  for (const char* part : {"HS256", "good", "acme", "ada", "leases:read leases:write", "in 59m"})
    EXPECT_THAT(shown.out, HasSubstr(part));
  Issue("other", "HS256");
  EXPECT_EQ(RunTenure({"token", "inspect", "--token-file", file, "--key", File("other")}).exit_code,
            1);
  EXPECT_EQ(RunTenure({"token", "keygen", "--out", File("key")}).exit_code, 1)
      << "a key is never overwritten";
}

TEST_F(Issued, HalfAnAuthenticationIsRefused) {
  Issue("key");
  for (const std::vector<std::string>& settings :
       std::vector<std::vector<std::string>>{{"auth.keys=" + File("key.pub")},
                                             {"auth.issuer=tenure", "auth.keys=" + File("key.pub")},
                                             {"auth.issuer=tenure", "auth.audience=tenure"}}) {
    std::vector<std::string> arguments{"serve", "--data", File("data")};
    for (const std::string& setting : settings) {
      arguments.emplace_back("--set");
      arguments.push_back(setting);
    }
    const auto result = RunTenure(arguments);
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr("auth."));
  }
  const auto result =
      RunTenure({"serve", "--data", File("data"), "--set", "auth.issuer=tenure", "--set",
                 "auth.audience=tenure", "--set", "auth.keys=" + File("key")});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("public half"));
}

}  // namespace
}  // namespace tenure::api
