#pragma once

#include <cstdint>
#include <string>

#include "api/api.hpp"

namespace tenure::api {

/// A message in somebody's hands.
struct Claimed {
  std::string id;
  std::int64_t fence = 0;

  /// As an element of `claims`; `more`: further fields, ",\"error\":\"no\"".
  std::string Json(const std::string& more = "") const {
    return R"({"id":")" + id + R"(","fence":)" + std::to_string(fence) + more + "}";
  }
};

/// A topic that no other test has. Threads may share it.
class Topic {
 public:
  explicit Topic(const Api& api, std::string name = "test/" + NewUuid())
      : api_(api), name_(std::move(name)) {}

  /// `more`: further fields, ",\"priority\":1".
  support::HttpResponse Enqueue(const std::string& more = "",
                                const support::HttpHeaders& headers = {}) const {
    return api_.Call("POST", "/api/v1/messages", Message(more), headers);
  }
  /// The id of a new message; throws when it was not taken.
  std::string Send(const std::string& more = "") const { return Enqueue(more).Json()["id"].Text(); }
  /// A new timer's id.
  std::string SetTimer(std::int64_t delay_ms) const;
  std::string Message(const std::string& more = "") const {
    return R"({"topic":")" + name_ + R"(","payload":{"n":1})" + more + "}";
  }

  support::HttpResponse Claim(const std::string& more = "") const {
    return api_.Call("POST", "/api/v1/messages/claim", ClaimBody(more));
  }
  std::string ClaimBody(const std::string& more = "") const {
    return R"({"topics":[")" + name_ + R"("],"owner":"test")" + more + "}";
  }
  /// The one that there is; throws when there is none.
  Claimed Take(const std::string& more = "") const;
  /// `action`: ack, extend, abandon, fail.
  support::Json Report(const std::string& action, const Claimed& claimed,
                       const std::string& more = "") const {
    return api_
        .Call("POST", "/api/v1/messages/" + action, R"({"claims":[)" + claimed.Json(more) + "]}")
        .Json();
  }

  support::Json Look(const std::string& id) const {
    return api_.Get("/api/v1/messages/" + id).Json();
  }
  support::HttpResponse Change(const std::string& body) const {
    return api_.Call("PATCH", Path(), body);
  }
  support::Json View() const { return api_.Get(Path()).Json(); }
  std::string Path() const { return "/api/v1/topics/test%2F" + name_.substr(5); }

  const std::string& name() const { return name_; }
  const Api& api() const { return api_; }
  Topic SeenBy(const Api& api) const { return Topic(api, name_); }

 private:
  Api api_;
  std::string name_;
};

/// What became of the one message of a report: "done", "stale", "gone".
std::string OutcomeOf(const support::Json& reported);

/// A claim that is sent and not yet answered, on a connection of its own.
class WaitingClaim {
 public:
  explicit WaitingClaim(const Topic& topic, const std::string& more = "");
  support::HttpResponse Answer();
  /// Hangs up.
  void Leave() { connection_.Reset(); }

 private:
  support::HttpConnection connection_;
};

/// Waits until that many requests of the server wait for messages.
void AwaitWaiting(const Api& api, std::int64_t claims);

}  // namespace tenure::api
