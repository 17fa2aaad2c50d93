#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/rate.hpp"
#include "http/message.hpp"
#include "http/rate_limiter.hpp"
#include "http/router.hpp"
#include "telemetry/metrics.hpp"

namespace tenure::http {

/// Routes that share a limit: all whose pattern is one of these paths or goes on below it.
struct RateClass {
  std::string name{};  ///< "messages": the label of its metric
  std::vector<std::string> paths{};
  base::Rate rate{};
};

/// Whether the route is of that class.
bool Covers(const RateClass& of, const Route& route);

/// Where a request leaves its asker: what the answer's headers say. (RateLimit-Limit, -Remaining,
/// -Reset and -Policy as the IETF's draft "RateLimit header fields for HTTP" has them.)
struct Quota {
  std::int64_t limit = 0;  ///< 0: there is none
  std::int64_t remaining = 0;
  std::int64_t reset_s = 0;
  std::int64_t window_s = 0;
  int retry_after_s = 0;  ///< 0: the request is allowed

  void AddTo(Response& response) const;
};

/// 429 `rate-limited`. REQUIRES: quota.retry_after_s > 0.
Problem RateLimited(const Quota& quota);

/// Whose requests are counted together: those of a person of a tenant, by the token; without one,
/// those of an address, and of IPv6 those of a network (/64, which one host has to itself).
std::string RateKey(const Request& request);

/// The limits of the routes. Constant but for the limiters' own tables; any loop's thread. Without
/// a limit it costs a look at an empty vector.
class RateLimits {
 public:
  RateLimits(std::span<const Route> routes, const std::vector<RateClass>& classes,
             const base::Clock& clock, telemetry::Registry& metrics);

  /// Counts the request against the limit of its route's class, if that has one.
  /// REQUIRES: `route` is one of those that this was built with; who asks is known.
  std::optional<Quota> Count(const Route& route, const Request& request) {
    if (of_route_.empty()) return std::nullopt;
    Class* const of = of_route_[static_cast<std::size_t>(&route - first_route_)];
    if (!of) return std::nullopt;
    return CountIn(*of, request);
  }

 private:
  struct Class {
    Class(const RateClass& of, const base::Clock& clock, telemetry::Registry& metrics);

    RateLimiter limiter;
    telemetry::Counter& refused;
  };
  static Quota CountIn(Class& of, const Request& request);

  std::deque<Class> classes_;
  const Route* first_route_;
  std::vector<Class*> of_route_;  // null: no limit; empty: nothing has one
};

}  // namespace tenure::http
