#pragma once

#include <cstdint>
#include <string>

#include "api/api.hpp"

namespace tenure::api {

/// The body of an acquisition; each has a term of its own.
struct Ask {
  std::string term = NewUuid();
  std::int64_t ttl_ms = 600'000;
  std::string holder = "test";
  std::int64_t wait_ms = 0;

  std::string Body() const {
    return R"({"term":")" + term + R"(","ttl_ms":)" + std::to_string(ttl_ms) + R"(,"holder":")" +
           holder + R"(","wait_ms":)" + std::to_string(wait_ms) + "}";
  }
};

/// What a holder says of its grant; `more`: further fields.
inline std::string GrantJson(std::int64_t fence, const std::string& term,
                             const std::string& more = "") {
  return R"({"fence":)" + std::to_string(fence) + R"(,"term":")" + term + "\"" + more + "}";
}
inline std::string GrantJson(const support::Json& grant, const std::string& more = "") {
  return GrantJson(grant["fence"].Int(), grant["term"].Text(), more);
}

/// A lease that no other test has, and what its caller knows of it. Threads may share it once it is
/// held.
class Lease {
 public:
  explicit Lease(const Api& api, std::string name = "test/" + NewUuid())
      : api_(api), name_(std::move(name)) {}

  /// Remembers the grant, if it is one.
  support::HttpResponse Acquire(const Ask& ask = {}) {
    support::HttpResponse response = Post("acquire", ask.Body());
    if (response.status == 200) {
      term_ = ask.term;
      fence_ = response.Json()["fence"].Int();
    }
    return response;
  }

  support::HttpResponse Renew() const { return Post("renew", FenceAndTerm()); }
  support::HttpResponse Release() const { return Post("release", R"({"term":")" + term_ + "\"}"); }
  /// `more`: further fields, ",\"force\":true".
  support::HttpResponse Break(const std::string& more = "",
                              const support::HttpHeaders& headers = {}) const {
    return Post("break", R"({"reason":"a test")" + more + "}", headers);
  }
  support::HttpResponse Post(const std::string& action, const std::string& body,
                             const support::HttpHeaders& headers = {}) const {
    return api_.Call("POST", Path(action), body, headers);
  }
  support::Json Look() const { return api_.Get(Path()).Json(); }

  /// "/api/v1/leases/NAME/acquire", the name percent-encoded.
  std::string Path(const std::string& action = "") const {
    std::string path = "/api/v1/leases/";
    for (const char c : name_) path += c == '/' ? std::string("%2F") : std::string(1, c);
    return action.empty() ? path : path + "/" + action;
  }
  std::string FenceAndTerm() const { return GrantJson(fence_, term_); }
  /// For Tenure-Fence.
  std::string Claim() const { return name_ + "=" + std::to_string(fence_); }

  const std::string& name() const { return name_; }
  const std::string& term() const { return term_; }
  std::int64_t fence() const { return fence_; }
  /// The same name by another way: of another process, or of somebody else.
  Lease SeenBy(const Api& api) const { return Lease(api, name_); }

 private:
  Api api_;
  std::string name_;
  std::string term_;
  std::int64_t fence_ = 0;
};

/// An acquisition that waits.
class WaitingAcquire : public WaitingCall {
 public:
  WaitingAcquire(const Api& api, const Lease& lease, const Ask& ask)
      : WaitingCall(api, lease.Path("acquire"), ask.Body()) {}
};

/// Waits until that many stand in line.
inline void AwaitLine(const Lease& lease, std::int64_t waiters) {
  Eventually(std::to_string(waiters) + " stand in line",
             [&] { return lease.Look()["waiters"].Int() == waiters; });
}

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
  std::string SetTimer(std::int64_t delay_ms) const {
    return api_
        .Call("POST", "/api/v1/timers", Message(R"(,"delay_ms":)" + std::to_string(delay_ms)))
        .Json()["id"]
        .Text();
  }
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
  Claimed Take(const std::string& more = "") const {
    const support::Json message = Claim(more).Json()["messages"][0];
    return {message["id"].Text(), message["fence"].Int()};
  }
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
inline std::string OutcomeOf(const support::Json& reported) {
  for (const char* outcome : {"done", "stale", "gone"})
    if (reported[outcome].Size() == 1) return outcome;
  return "none: " + reported.Dump();
}

/// A claim that waits for a minute.
class WaitingClaim : public WaitingCall {
 public:
  explicit WaitingClaim(const Topic& topic, const std::string& more = "")
      : WaitingCall(topic.api(), "/api/v1/messages/claim",
                    topic.ClaimBody(R"(,"wait_ms":60000)" + more)) {}
};

/// Waits until that many requests of the server wait for messages.
inline void AwaitWaiting(const Api& api, std::int64_t claims) {
  Eventually(std::to_string(claims) + " claims wait",
             [&] { return Metric(api, "tenure_messages_waiting_claims") == claims; });
}

}  // namespace tenure::api
