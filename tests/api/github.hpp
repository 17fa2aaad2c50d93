#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "api/api.hpp"
#include "support/temp_dir.hpp"

namespace tenure::api {

/// "sha256=…", as GitHub signs a body.
std::string SignatureOf(std::string_view body, std::string_view secret);

/// One webhook of GitHub, to a source whose secret lies in a file.
class GitHub {
 public:
  explicit GitHub(std::string source = "github") : source_(std::move(source)) { Rotate("first"); }

  /// From now on this is signed with, and stands in the file.
  void Rotate(const std::string& secret);
  const std::string& secret() const { return secret_; }
  std::string SecretFile(const std::string& name = "secret") const { return folder_ / name; }

  /// A file of bots as JSON: this source and these bots, such as
  /// {"name":"b","events":["*"],"ordering_scope":"none"}. `more`: further members of the source.
  std::string Bots(const std::string& bots, const std::string& more = "") const;

  struct Sent {
    std::string event = "issues";
    std::string body = R"({"action":"opened","issue":{"number":7},)"
                       R"("repository":{"id":1,"full_name":"acme/shop"}})";
    std::string id = NewUuid();
    support::HttpHeaders headers = {};  ///< other ones; one with an empty value is left out
  };
  support::HttpHeaders HeadersOf(const Sent& sent) const;
  std::string Path() const {
    return source_ == "github" ? "/webhooks/github" : "/webhooks/github/" + source_;
  }
  support::HttpResponse Post(const Api& api, const Sent& sent) const {
    return api.Call("POST", Path(), sent.body, HeadersOf(sent));
  }

 private:
  std::string source_;
  std::string secret_;
  support::TempDir folder_;
};

}  // namespace tenure::api
