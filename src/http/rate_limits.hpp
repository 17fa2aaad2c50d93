#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/keyed_hash.hpp"
#include "base/mutex.hpp"
#include "base/rate.hpp"
#include "http/message.hpp"
#include "http/router.hpp"
#include "telemetry/metrics.hpp"

namespace tenure::http {

/// One limit, for each of many keys by itself: how often somebody may do something.
///
/// Of "10/min" a key has 10 at once and gets one back every six seconds (a token bucket, as GCRA:
/// one number per key, the time at which all of its tokens are back). So the time unit is also the
/// size of a burst: 6000/min lets as many through in the long run as 100/s, but 6,000 at once.
///
/// Bounded: kKeys keys, in sets of kWays where a key's hash chooses the set. A key whose tokens are
/// all back is as good as one that was never seen, so forgetting it changes nothing, and it is the
/// first to be replaced. Only when all of a set are in use is one forgotten too early, that which
/// would have been back first: then somebody may do more than the limit. Nobody may do less, except
/// two keys with the same 64 bits. Nobody can aim at either: the hash has a random key.
///
/// It is of this process: an ensemble of n lets n times as many through.
///
/// Threads: any; a look-up holds one of kLocks mutexes for a few comparisons.
class RateLimiter {
 public:
  static constexpr std::size_t kKeys = 16'384;

  struct Decision {
    bool allowed = false;
    std::int64_t remaining = 0;    ///< how many more would be allowed now
    std::int64_t full_in_ms = 0;   ///< when all of them are back, if nothing more is asked
    std::int64_t retry_in_ms = 0;  ///< when one is; 0 when there is one now
  };

  /// REQUIRES: rate.limits().
  RateLimiter(const base::Rate& rate, const base::Clock& clock);

  /// One more of `key`. What is not allowed does not count.
  Decision Take(std::string_view key);
  /// What `Take` would say; nothing counts.
  Decision Peek(std::string_view key);

  const base::Rate& rate() const { return rate_; }

 private:
  static constexpr std::size_t kWays = 8;
  static constexpr std::size_t kSets = kKeys / kWays;
  static constexpr std::size_t kLocks = 64;

  struct Bucket {
    std::uint64_t hash = 0;
    std::int64_t full_ns = 0;  // when all tokens are back; in the past: they are
  };
  using Set = std::array<Bucket, kWays>;
  struct alignas(64) Lock {
    base::Mutex mutex;
  };

  static Bucket& BucketOf(Set& set, std::uint64_t hash);
  Decision Decide(Bucket& bucket, std::int64_t now_ns) const;

  const base::Rate rate_;
  const base::Clock& clock_;
  const base::KeyedHash hash_;
  const std::int64_t interval_ns_;  // after so long one token is back; rounded up
  std::array<Lock, kLocks> locks_;
  std::vector<Set> sets_;  // set i is guarded by lock i % kLocks
};

/// The limit that routes of one class (Route::rate_class) share.
struct RateClass {
  std::string name{};  ///< "messages": the label of its metric
  base::Rate rate{};
};

/// Where a decision leaves whoever asked.
Quota QuotaOf(const base::Rate& rate, const RateLimiter::Decision& decision);

/// 429 `rate-limited`. REQUIRES: quota.retry_after_s > 0.
Problem RateLimited(const Quota& quota);

/// Whose requests are counted together: those of a person of a tenant, by the token; without one,
/// those of an address, and of IPv6 those of a network (/64, which one host has to itself).
std::string RateKey(const Request& request);

/// The limits of the routes. Any loop's thread; they can be changed while requests are counted.
/// Without a limit it costs a look at a flag.
class RateLimits {
 public:
  RateLimits(std::span<const Route> routes, const std::vector<RateClass>& classes,
             const base::Clock& clock, telemetry::Registry& metrics);

  /// From now on these. A class whose rate is as it was goes on with what it has counted; one whose
  /// rate is another begins anew. A request that is being counted is counted by the old ones.
  void Use(const std::vector<RateClass>& classes);

  /// Counts the request against the limit of its route's class, if that has one.
  /// REQUIRES: `route` is one of those that this was built with; who asks is known.
  std::optional<Quota> Count(const Route& route, const Request& request) {
    if (!limits_.load(std::memory_order_acquire)) return std::nullopt;
    return CountLimited(route, request);
  }

 private:
  struct Class {
    Class(RateClass of, const base::Clock& clock, telemetry::Registry& metrics);

    const RateClass of;
    RateLimiter limiter;
    telemetry::Counter& refused;
  };
  using Classes = std::vector<std::shared_ptr<Class>>;
  /// By route; null: no limit. Constant once it is in use.
  using Table = std::vector<std::shared_ptr<Class>>;

  std::optional<Quota> CountLimited(const Route& route, const Request& request);
  static Quota CountIn(Class& of, const Request& request);

  const std::span<const Route> routes_;
  const base::Clock& clock_;
  telemetry::Registry& metrics_;
  std::atomic<bool> limits_{false};  // whether any class has a limit
  base::Mutex mutex_;
  Classes classes_ TENURE_GUARDED_BY(mutex_);
  std::shared_ptr<const Table> table_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure::http
