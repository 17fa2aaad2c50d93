#pragma once

#include <fstream>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/api.hpp"
#include "api/sample_requests.hpp"
#include "api/store_under_test.hpp"
#include "app/service.hpp"
#include "auth/signer.hpp"
#include "support/server_process.hpp"
#include "support/temp_dir.hpp"

namespace tenure::api {

inline constexpr const char* kAllScopes[] = {
    "sessions:read",  "sessions:write",     "leases:read",         "leases:write",
    "messages:read",  "messages:write",     "usage:read",          "ops:read",
    "admin",          "seats:use",          "seats:operate",       "licenses:read",
    "licenses:admin", "subscriptions:read", "subscriptions:write", "jobs:read",
    "jobs:write",     "queues:read",        "queues:write",        "queues:operate"};

inline std::string EveryScopeBut(const std::string& missing) {
  std::string scopes;
  for (const char* scope : kAllScopes)
    if (scope != missing) scopes += std::string(" ") + scope;
  return scopes;
}

/// What a token says; the defaults are those of a good one.
struct Says {
  std::string tenant = {};
  std::string scopes = EveryScopeBut("");
  std::string issuer = "https://issuer.example";
  std::string audience = "tenure";
  std::int64_t lives_s = 600;
  std::string person = "ada";

  std::string Claims() const {
    return R"({"iss":")" + issuer + R"(","aud":")" + audience + R"(","tid":")" + tenant +
           R"(","sub":")" + person + R"(","scope":")" + scopes + R"(","exp":)" +
           std::to_string(WallMs() / 1'000 + lives_s) + "}";
  }
};

/// One server with authentication, and all its parts, inside of the test's own process.
class GuardedServer {
 public:
  using Change = std::function<void(config::Settings&)>;

  /// `change`: what is not as usual.
  explicit GuardedServer(const Change& change = nullptr)
      : signer_(auth::Signer::Generate(auth::Algorithm::kEs256)),
        service_(Settings(change), "test") {
    service_.Start();
    const std::string url = service_.Url();
    port_ = std::stoi(url.substr(url.rfind(':') + 1));
  }
  ~GuardedServer() { service_.Stop(); }
  GuardedServer(const GuardedServer&) = delete;
  GuardedServer& operator=(const GuardedServer&) = delete;

  std::string Token(const Says& says) const { return signer_.Sign(says.Claims()); }
  Api As(const Says& says) const { return Api(port_, Token(says)); }
  /// Past the server.
  void Execute(const std::string& sql) const {
    ExecuteSqlite(folder_.path() / "data" / "tenure.db", sql);
  }
  /// Those of the API: pages hold no data (page_test.cpp).
  std::vector<http::Route> routes() const {
    std::vector<http::Route> routes;
    std::ranges::copy_if(service_.router().routes(), std::back_inserter(routes),
                         [](const http::Route& route) { return !route.page; });
    return routes;
  }
  const auth::Signer& signer() const { return signer_; }
  int port() const { return port_; }

 private:
  config::Settings Settings(const Change& change) const {
    const std::string key = folder_.path() / "key.pub";
    std::ofstream(key) << signer_.public_jwk();
    config::Settings settings;
    settings.listen.port = 0;
    settings.data = folder_.path() / "data";
    settings.auth.issuer = "https://issuer.example";
    settings.auth.audience = "tenure";
    settings.auth.keys = {key};
    settings.usage.interval_ms = 1'000;
    settings.push.allow = {base::AllowedHost::Parse(PushSettings::kAllow).value()};
    settings.secrets.key_file = PushSettings::KeyFile();
    if (change) change(settings);
    return settings;
  }

  support::TempDir folder_;
  const auth::Signer signer_;
  app::Service service_;
  int port_ = 0;
};

/// A real `tenure serve` that asks for tokens, and the key that they are made with.
class GuardedProcess {
 public:
  /// `flags`: more of `tenure serve`.
  explicit GuardedProcess(const std::vector<std::string>& flags = {})
      : signer_(auth::Signer::Generate(auth::Algorithm::kEdDsa)) {
    const std::string key = folder_ / "key.pub";
    std::ofstream(key) << signer_.public_jwk();
    std::vector<std::string> all{"--set", "auth.issuer=test", "--set", "auth.audience=tenure",
                                 "--set", "auth.keys=" + key};
    all.insert(all.end(), flags.begin(), flags.end());
    process_.emplace(support::ServerOptions{.flags = std::move(all)});
  }

  /// Of the tenant "acme", good for ten minutes; `scopes` with spaces between.
  std::string Token(const std::string& scopes, const std::string& person = "ada") const {
    return signer_.Sign(R"({"iss":"test","aud":"tenure","tid":"acme","sub":")" + person +
                        R"(","scope":")" + scopes + R"(","exp":)" +
                        std::to_string(WallMs() / 1'000 + 600) + "}");
  }
  /// The path of a file with such a token.
  std::string TokenFile(const std::string& scopes) const {
    const std::string path = folder_ / ("token-" + NewUuid());
    std::ofstream(path) << Token(scopes) << "\n";
    return path;
  }
  Api As(const std::string& scopes, const std::string& person = "ada") const {
    return Api(process_->Port(), Token(scopes, person));
  }
  /// For the library: the server's address with such a token.
  std::string UrlAs(const std::string& scopes) const {
    return "http://" + Token(scopes) + "@127.0.0.1:" + std::to_string(port());
  }

  support::ServerProcess& process() { return *process_; }
  int port() const { return process_->Port(); }
  std::string Url() const { return process_->Url(); }

 private:
  support::TempDir folder_;
  const auth::Signer signer_;
  std::optional<support::ServerProcess> process_;
};

}  // namespace tenure::api
