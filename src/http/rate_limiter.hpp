#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/keyed_hash.hpp"
#include "base/rate.hpp"

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

  struct Verdict {
    bool allowed = false;
    std::int64_t remaining = 0;    ///< how many more would be allowed now
    std::int64_t full_in_ms = 0;   ///< when all of them are back, if nothing more is asked
    std::int64_t retry_in_ms = 0;  ///< when one is; 0 when there is one now
  };

  /// REQUIRES: rate.limits().
  RateLimiter(const base::Rate& rate, const base::Clock& clock);

  /// One more of `key`. What is not allowed does not count.
  Verdict Take(std::string_view key);

  const base::Rate& rate() const { return rate_; }

 private:
  static constexpr std::size_t kWays = 8;
  static constexpr std::size_t kSets = kKeys / kWays;
  static constexpr std::size_t kLocks = 64;

  struct Entry {
    std::uint64_t hash = 0;
    std::int64_t full_ns = 0;  // when all tokens are back; in the past: they are
  };
  using Set = std::array<Entry, kWays>;
  struct alignas(64) Lock {
    std::mutex mutex;
  };

  static Entry& EntryOf(Set& set, std::uint64_t hash);
  Verdict Decide(Entry& entry, std::int64_t now_ns) const;

  const base::Rate rate_;
  const base::Clock& clock_;
  const base::KeyedHash hash_;
  const std::int64_t interval_ns_;  // after so long one token is back; rounded up
  std::array<Lock, kLocks> locks_;
  std::vector<Set> sets_;  // set i is guarded by lock i % kLocks
};

}  // namespace tenure::http
