// The page in a real browser, against real servers. The steps are in tests/node/page.mjs; here are
// the servers, and what is compared without a browser.
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/calls.hpp"
#include "api/store_under_test.hpp"
#include "auth/signer.hpp"
#include "support/port.hpp"
#include "support/process.hpp"
#include "support/raw_http.hpp"
#include "support/temp_dir.hpp"

namespace tenure::api {
namespace {

/// Good until the year 2100; of one who may all.
constexpr const char* kClaims =
    R"({"iss":"https://issuer.example","aud":"tenure","tid":"acme","sub":"ada","exp":4102444800,)"
    R"("scope":"sessions:read sessions:write leases:read leases:write messages:read messages:write )"
    R"(usage:read jobs:read jobs:write subscriptions:read subscriptions:write ops:read admin seats:use seats:operate licenses:read licenses:admin )"
    R"(queues:read queues:write queues:operate"})";
const std::filesystem::path kNode = support::SourceDir() / "tests" / "node";

class Browser : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kNode / "node_modules" / "playwright-core"))
      GTEST_SKIP() << "npm ci was not run in tests/node; ./test does it";
  }
  static void Walk(const std::string& url, const std::vector<std::string>& token = {}) {
    std::vector<std::string> argv{"node", kNode / "page.mjs", url};
    argv.insert(argv.end(), token.begin(), token.end());
    // Throws with all that it printed when a step fails.
    support::RunCommand({.argv = argv}, std::chrono::minutes(4));
  }
};

TEST_F(Browser, ThePageOfTheEmbeddedStoreInProtectedMode) {
  const StoreUnderTest store(Engine::kSqlite);
  Walk(store.Serve({})->Url());
}

/// A real nginx before servers, which shows them below /tenure and takes nothing off the path. It
/// answers when the constructor returns, and ends with this object.
class Nginx {
 public:
  explicit Nginx(const std::vector<std::uint16_t>& servers) {
    std::string upstream;
    for (const std::uint16_t port : servers) upstream += fmt::format("server 127.0.0.1:{};", port);
    const std::string folder = dir_.path();
    std::ofstream(dir_ / "nginx.conf")
        << fmt::format(kConfiguration, folder, upstream, port_.number());
    process_ = std::make_unique<support::Process>(support::ProcessOptions{
        .argv = {"/usr/sbin/nginx", "-p", folder, "-e", "stderr", "-c", dir_ / "nginx.conf"}});
    process_->WaitForLine("nginx/");
  }
  std::uint16_t port() const { return port_.number(); }
  std::string Url() const { return fmt::format("http://127.0.0.1:{}/tenure", port()); }

 private:
  static constexpr const char* kConfiguration = R"(
daemon off; master_process off; pid {0}/pid; error_log stderr notice;
events {{ worker_connections 512; }}
http {{
  access_log off;
  client_body_temp_path {0}/body; proxy_temp_path {0}/proxy; fastcgi_temp_path {0}/fastcgi;
  uwsgi_temp_path {0}/uwsgi; scgi_temp_path {0}/scgi;
  upstream tenure {{ {1} }}
  server {{
    listen 127.0.0.1:{2};
    location /tenure/ {{
      proxy_pass http://tenure;
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    }}
  }}
}}
)";

  support::TempDir dir_;
  support::ReservedPort port_;
  std::unique_ptr<support::Process> process_;
};

TEST_F(Browser, ThePageOfThreeProcessesOnPostgresWithTokensBelowAPathOfAProxy) {
  const StoreUnderTest store(Engine::kPostgres);
  const support::TempDir folder;
  const auth::Signer signer = auth::Signer::Generate(auth::Algorithm::kEs256);
  const std::string key = folder / "key.pub";
  std::ofstream(key) << signer.public_jwk();
  std::vector<std::unique_ptr<support::ServerProcess>> servers;
  std::vector<std::uint16_t> ports;
  for (int i = 0; i < 3; ++i) {
    servers.push_back(
        store.Serve({"--set", "auth.keys=" + key, "--set", "auth.issuer=https://issuer.example",
                     "--set", "auth.audience=tenure", "--set", "http.base_path=/tenure"}));
    ports.push_back(static_cast<std::uint16_t>(servers.back()->Port()));
  }
  const Nginx nginx(ports);
  const auto root = support::Call(nginx.port(), "GET", "/tenure/");
  EXPECT_EQ(root.status, 303);
  EXPECT_EQ(root.FindHeader("Location"), "/tenure/ui/");
  const std::string token = signer.Sign(kClaims);
  // The tool asks below the path, too, and a proxy may have taken it off.
  const auto tool = RunTenure({"why", "task", "leases.retention", "--server", nginx.Url()},
                              {{"TENURE_TOKEN", token}});
  EXPECT_EQ(tool.exit_code, 0) << tool.err;
  EXPECT_EQ(support::Call(ports.front(), "GET", "/ui/").status, 200);
  Walk(nginx.Url(), {token});
}

TEST_F(Browser, ItsTypesAreStrict) {
  support::RunCommand(
      {.argv = {kNode / "node_modules" / ".bin" / "tsc", "-p", kNode / "dashboard.tsconfig.json"}},
      std::chrono::minutes(2));
}

/// Nobody edits what others wrote: it is what the lock file's hashes fetch, byte for byte.
TEST_F(Browser, WhatIsVendoredIsWhatWasPublished) {
  const std::filesystem::path vendored = support::SourceDir() / "dashboard" / "vendor";
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(vendored)) {
    if (!entry.is_regular_file()) continue;
    const auto published =
        kNode / "node_modules" / std::filesystem::relative(entry.path(), vendored);
    EXPECT_EQ(support::ReadFile(entry.path()), support::ReadFile(published)) << entry.path();
    ++files;
  }
  EXPECT_GE(files, 8);
}

}  // namespace
}  // namespace tenure::api
