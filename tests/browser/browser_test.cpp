// The page in a real browser, against real servers. The steps are in tests/node/page.mjs; here are
// the servers, and what is compared without a browser.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "api/store_under_test.hpp"
#include "auth/signer.hpp"

namespace tenure::api {
namespace {

/// Good until the year 2100; of one who may all.
constexpr const char* kClaims =
    R"({"iss":"https://issuer.example","aud":"tenure","tid":"acme","sub":"ada","exp":4102444800,)"
    R"("scope":"sessions:read sessions:write leases:read leases:write messages:read messages:write )"
    R"(usage:read jobs:read jobs:write subscriptions:read subscriptions:write ops:read admin seats:use seats:operate licenses:read licenses:admin"})";
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

TEST_F(Browser, ThePageOfPostgresWithTokens) {
  const StoreUnderTest store(Engine::kPostgres);
  const support::TempDir folder;
  const auth::Signer signer = auth::Signer::Generate(auth::Algorithm::kEs256);
  const std::string key = folder / "key.pub";
  std::ofstream(key) << signer.public_jwk();
  const auto server =
      store.Serve({"--set", "auth.keys=" + key, "--set", "auth.issuer=https://issuer.example",
                   "--set", "auth.audience=tenure"});
  Walk(server->Url(), {signer.Sign(kClaims)});
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
