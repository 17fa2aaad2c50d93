// The page in a real browser, against real servers. The steps are in tests/node/page; here are
// the servers, and what is compared without a browser.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>

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

const std::filesystem::path kNode = support::SourceDir() / "tests" / "node";
constexpr const char* kTenant = "11111111-1111-4111-8111-111111111111";
constexpr const char* kAllScopes =
    "sessions:read sessions:write leases:read leases:write messages:read messages:write usage:read "
    "jobs:read jobs:write subscriptions:read subscriptions:write ops:read admin seats:use "
    "seats:operate licenses:read licenses:admin queues:read queues:write queues:operate";
constexpr std::int64_t kYear2100 = 4'102'444'800;

struct Asker {
  const char* tenant = kTenant;
  const char* scopes = kAllScopes;
  const char* audience = "tenure";
  std::int64_t expires = kYear2100;
};

std::string TokenOf(const auth::Signer& signer, const Asker& asker) {
  return signer.Sign(
      fmt::format(R"({{"iss":"https://issuer.example","aud":"{}","tid":"{}","sub":"ada","exp":{},)"
                  R"("scope":"{}"}})",
                  asker.audience, asker.tenant, asker.expires, asker.scopes));
}

/// By what they are for in the steps.
std::string Tokens(const auth::Signer& signer) {
  const std::int64_t now = std::chrono::duration_cast<std::chrono::seconds>(
                               std::chrono::system_clock::now().time_since_epoch())
                               .count();
  return fmt::format(
      R"({{"all":"{}","reader":"{}","none":"{}","odd":"{}","expired":"{}",)"
      R"("audience":"{}","soon":"{}"}})",
      TokenOf(signer, {}), TokenOf(signer, {.scopes = "leases:read"}),
      TokenOf(signer, {.scopes = ""}), TokenOf(signer, {.scopes = "coffee:make tea:read"}),
      TokenOf(signer, {.expires = now - 3'600}), TokenOf(signer, {.audience = "others"}),
      TokenOf(signer, {.expires = now + 110}));
}

/// So that every capability is there: subscriptions need a host and a key.
std::vector<std::string> EveryPart(const support::TempDir& folder) {
  const std::filesystem::path keys = folder / "secrets";
  std::ofstream(keys) << "k1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n";
  std::filesystem::permissions(keys, std::filesystem::perms::owner_read);
  return {"--set", "push.allow=hooks.example.com", "--set", "secrets.key_file=" + keys.string()};
}

/// Servers that the steps may ask to be killed and started again.
using Servers = std::vector<std::unique_ptr<support::ServerProcess>>;

class Browser : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kNode / "node_modules" / "playwright-core"))
      GTEST_SKIP() << "npm ci was not run in tests/node; ./test does it";
  }

  /// Goes through parts of tests/node/page, and does what they ask for ("kill 2"). Throws with all that
  /// was printed when a step fails.
  static void Walk(const std::string& given, const std::vector<std::string>& parts,
                   const std::function<void(const std::string& what, std::size_t which)>& please) {
    std::vector<std::string> argv{"node", kNode / "page" / "run.mjs", given};
    argv.insert(argv.end(), parts.begin(), parts.end());
    support::Process node({.argv = argv});
    for (;;) {
      const std::string line = node.WaitForLine("^(please|done|failed)", std::chrono::minutes(4));
      if (!line.starts_with("please ")) break;
      const std::string what = line.substr(7, line.rfind(' ') - 7);
      please(what, std::stoul(line.substr(line.rfind(' ') + 1)));
    }
    const int code = node.Wait();
    std::cout << node.Output();
    EXPECT_EQ(code, 0) << "see above";
  }
};

TEST_F(Browser, ThePageOfTheEmbeddedStoreInProtectedMode) {
  const StoreUnderTest store(Engine::kSqlite);
  const support::ReservedPort port;
  const support::TempDir folder;
  support::ServerOptions options = store.Options(EveryPart(folder));
  options.port = port.number();
  auto server = std::make_unique<support::ServerProcess>(options);
  const std::string given =
      fmt::format(R"({{"url":"{}","servers":1,"once":true,"tool":"{}"}})", server->Url(),
                  support::TenureBinary().parent_path().string());
  Walk(given, {"empty", "look", "input", "acts", "lists", "trouble", "keyboard"},
       [&](const std::string& what, std::size_t) {
         if (what == "kill")
           server->Kill();
         else
           server = std::make_unique<support::ServerProcess>(options);
       });
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
  Servers servers;
  std::vector<std::uint16_t> ports;
  std::vector<std::string> flags = EveryPart(folder);
  for (const std::string& each :
       {"auth.keys=" + key, std::string("auth.issuer=https://issuer.example"),
        std::string("auth.audience=tenure"), std::string("http.base_path=/tenure")})
    flags.insert(flags.end(), {"--set", each});
  for (int i = 0; i < 3; ++i) {
    servers.push_back(store.Serve(flags));
    ports.push_back(static_cast<std::uint16_t>(servers.back()->Port()));
  }
  const Nginx nginx(ports);
  const auto root = support::Call(nginx.port(), "GET", "/tenure/");
  EXPECT_EQ(root.status, 303);
  EXPECT_EQ(root.FindHeader("Location"), "/tenure/ui/");
  // The tool asks below the path, too, and a proxy may have taken it off.
  const auto tool = RunTenure({"why", "task", "leases.retention", "--server", nginx.Url()},
                              {{"TENURE_TOKEN", TokenOf(signer, {})}});
  EXPECT_EQ(tool.exit_code, 0) << tool.err;
  EXPECT_EQ(support::Call(ports.front(), "GET", "/ui/").status, 200);
  const std::string given =
      fmt::format(R"({{"url":"{}","servers":3,"once":false,"tool":"{}","tokens":{}}})", nginx.Url(),
                  support::TenureBinary().parent_path().string(), Tokens(signer));
  Walk(given, {"signin", "empty", "look", "input", "acts", "lists", "trouble", "keyboard"},
       [&](const std::string& what, std::size_t which) {
         if (what == "kill") return servers[which]->Kill();
         // A process of another version came: all that the others see of it is its row.
         store.Execute(
             "insert into tenure.instances (instance, version, host, started_ms, seen_ms, left_ms, "
             "workers, requests_per_1000s, clock_gap_ms, lanes) select 'web-9:1:aa', '99.0.0', "
             "'web-9', now, now + 60000, 0, 1, 0, 0, 4 "
             "from (select (extract(epoch from now()) * 1000)::bigint as now) as clock");
       });
  for (const auto& server : servers)
    for (const char* part : {"eyJhbGciOi", "Bearer"})
      EXPECT_EQ(server->Output().find(part), std::string::npos) << "a token in what it logs";
}

/// A changed answer that the page does not know fails here.
TEST_F(Browser, ItsTypesAreStrictAndThoseOfTheAnswersAreOpenApisOwn) {
  const auto tools = kNode / "node_modules" / ".bin";
  support::RunCommand({.argv = {tools / "openapi-typescript", support::SourceDir() / "openapi.json",
                                "-o", kNode / "node_modules" / "openapi.d.ts"}});
  support::RunCommand({.argv = {tools / "tsc", "-p", kNode / "dashboard.tsconfig.json"}},
                      std::chrono::minutes(2));
}

/// packaging/pictures makes them anew.
TEST_F(Browser, ThePicturesOfTheDocumentsAreOfThePageAsItIs) {
  support::RunCommand({.argv = {"node", kNode / "page" / "stamp.mjs"}});
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
