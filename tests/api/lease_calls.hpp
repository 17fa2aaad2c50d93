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

  std::string Body() const;
};

/// A lease that no other test has, and what its caller knows of it. Threads may share it once it is
/// held.
class Lease {
 public:
  explicit Lease(const Api& api, std::string name = "test/" + NewUuid())
      : api_(api), name_(std::move(name)) {}

  /// Remembers the grant, if it is one.
  support::HttpResponse Acquire(const Ask& ask = {});
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
  std::string Path(const std::string& action = "") const;
  std::string FenceAndTerm() const;
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

/// An acquisition that is sent and not yet answered, on a connection of its own.
class WaitingAcquire {
 public:
  WaitingAcquire(const Api& api, const Lease& lease, const Ask& ask);
  support::HttpResponse Answer();
  /// Hangs up.
  void Leave() { connection_.Reset(); }

 private:
  std::string path_;
  support::HttpConnection connection_;
};

/// Waits until that many stand in line.
void AwaitLine(const Lease& lease, std::int64_t waiters);

}  // namespace tenure::api
