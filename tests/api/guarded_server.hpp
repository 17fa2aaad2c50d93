#pragma once

#include <fstream>
#include <functional>
#include <span>
#include <string>

#include "api/api.hpp"
#include "app/service.hpp"
#include "auth/signer.hpp"
#include "support/temp_dir.hpp"

namespace tenure::api {

inline constexpr const char* kAllScopes[] = {"sessions:read", "sessions:write", "leases:read",
                                             "leases:write",  "messages:read",  "messages:write",
                                             "usage:read",    "ops:read",       "admin"};

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
  std::span<const http::Route> routes() const { return service_.router().routes(); }
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
    if (change) change(settings);
    return settings;
  }

  support::TempDir folder_;
  const auth::Signer signer_;
  app::Service service_;
  int port_ = 0;
};

}  // namespace tenure::api
