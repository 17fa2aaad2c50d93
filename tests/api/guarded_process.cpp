#include "api/guarded_process.hpp"

#include <fstream>

namespace tenure::api {

GuardedProcess::GuardedProcess(const std::vector<std::string>& flags)
    : signer_(auth::Signer::Generate(auth::Algorithm::kEdDsa)) {
  const std::string key = folder_ / "key.pub";
  std::ofstream(key) << signer_.public_jwk();
  std::vector<std::string> all{"--set", "auth.issuer=test", "--set", "auth.audience=tenure",
                               "--set", "auth.keys=" + key};
  all.insert(all.end(), flags.begin(), flags.end());
  process_.emplace(support::ServerOptions{.flags = std::move(all)});
}

std::string GuardedProcess::Token(const std::string& scopes, const std::string& person) const {
  return signer_.Sign(R"({"iss":"test","aud":"tenure","tid":"acme","sub":")" + person +
                      R"(","scope":")" + scopes + R"(","exp":)" +
                      std::to_string(WallMs() / 1'000 + 600) + "}");
}

std::string GuardedProcess::TokenFile(const std::string& scopes) const {
  const std::string path = folder_ / ("token-" + NewUuid());
  std::ofstream(path) << Token(scopes) << "\n";
  return path;
}

std::string GuardedProcess::UrlAs(const std::string& scopes) const {
  return "http://" + Token(scopes) + "@127.0.0.1:" + std::to_string(port());
}

}  // namespace tenure::api
