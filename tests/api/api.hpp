#pragma once

#include <chrono>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/server_process.hpp"

namespace tenure::api {

/// Who holds a session on what, and under which tenant: three UUIDs as text.
struct Key {
  std::string user;
  std::string tenant;
  std::string capacity;
};

std::string NewUuid();
/// A key that no other test has.
Key NewKey();
std::string PutBody(const Key& key, int kind);

/// A client of one server that holds every answer to openapi.json; what is not as it says there
/// fails the test. Threads may share it.
class Api {
 public:
  /// With a token, every request shows it.
  explicit Api(int port, std::string token = {}) : port_(port), token_(std::move(token)) {}
  explicit Api(const support::ServerProcess& server) : port_(server.Port()) {}

  support::HttpResponse Call(std::string_view method, std::string_view target,
                             std::string_view body = {},
                             const support::HttpHeaders& headers = {}) const;

  support::HttpResponse Get(std::string_view target) const { return Call("GET", target); }
  support::HttpResponse Put(const Key& key, int kind) const {
    return Call("PUT", "/sessions", PutBody(key, kind));
  }
  support::HttpResponse Delete(const std::string& id) const {
    return Call("DELETE", "/sessions/" + id);
  }
  /// The session with that id; throws when there is none.
  support::Json Session(const std::string& id) const { return Get("/sessions/" + id).Json(); }

  int port() const { return port_; }

 private:
  int port_;
  std::string token_;
};

/// What `openapi.json` has to say against this answer becomes a failure of the test.
void ExpectDocumented(std::string_view method, std::string_view target,
                      const support::HttpResponse& response);

/// For answers to what is no proper request: a problem document of that status.
void ExpectProblem(const support::HttpResponse& response, int status);

/// The last part of a problem's type: "invalid-request".
std::string ProblemType(const support::HttpResponse& response);

/// The fields that a refusal with status 400 names.
using Fields = std::set<std::string>;
Fields FieldsOf(const support::HttpResponse& response);
/// A JSON string of that many letters.
std::string LongText(std::size_t size);

/// A request that is sent and not yet answered, on a connection of its own.
class WaitingCall {
 public:
  WaitingCall(const Api& api, std::string path, const std::string& body);
  support::HttpResponse Answer();
  /// Hangs up.
  void Leave() { connection_.Reset(); }

 private:
  std::string path_;
  support::HttpConnection connection_;
};

/// Asks again and again until `holds`; throws after `limit`, naming `what`.
void Eventually(const std::string& what, const std::function<bool()>& holds,
                std::chrono::seconds limit = std::chrono::seconds(30));

/// "2026-01-31T12:34:56.789Z", and back.
std::string TimeText(std::int64_t ms);
std::int64_t TimeMs(const std::string& text);
/// The machine's clock, which is also the store's on this machine.
std::int64_t WallMs();

/// The value of a metric without labels; throws when it is not there.
std::int64_t Metric(const Api& api, const std::string& name);

struct ProgramResult {
  int exit_code = 0;
  std::string out;
  std::string err;
};

/// Runs `tenure ARGUMENTS` to its end. Nothing of the caller's environment configures it.
ProgramResult RunTenure(std::vector<std::string> arguments,
                        std::vector<std::pair<std::string, std::string>> environment = {});

}  // namespace tenure::api
