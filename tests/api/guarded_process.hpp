#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/api.hpp"
#include "auth/signer.hpp"
#include "support/server_process.hpp"
#include "support/temp_dir.hpp"

namespace tenure::api {

/// A real `tenure serve` that asks for tokens, and the key that they are made with.
class GuardedProcess {
 public:
  /// `flags`: more of `tenure serve`.
  explicit GuardedProcess(const std::vector<std::string>& flags = {});

  /// Of the tenant "acme", good for ten minutes; `scopes` with spaces between.
  std::string Token(const std::string& scopes, const std::string& person = "ada") const;
  /// The path of a file with such a token.
  std::string TokenFile(const std::string& scopes) const;
  Api As(const std::string& scopes, const std::string& person = "ada") const {
    return Api(process_->Port(), Token(scopes, person));
  }
  /// For the library: the server's address with such a token.
  std::string UrlAs(const std::string& scopes) const;

  support::ServerProcess& process() { return *process_; }
  int port() const { return process_->Port(); }
  std::string Url() const { return process_->Url(); }

 private:
  support::TempDir folder_;
  const auth::Signer signer_;
  std::optional<support::ServerProcess> process_;
};

}  // namespace tenure::api
