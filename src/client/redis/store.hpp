#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/mutex.hpp"
#include "client/redis/bell.hpp"
#include "client/redis/fitness.hpp"
#include "client/redis/link.hpp"
#include "tenure/leases/provider.hpp"

namespace tenure::client {

/// A script by its text, and by the digest under which a Redis remembers it.
struct RedisScript {
  std::string_view operation;  ///< for the counters
  std::string text;
  std::string sha;
};

/// What the connections of a provider share: which Redis it is, what it promises, for how long
/// nothing is granted, who listens, what is counted.
///
/// Why one holder (L1) holds, on one Redis: a script decides and writes while nothing else runs, by
/// the server's own clock. What it may forget:
///  - A Redis that keeps every answered grant (append-only file, always synced, no replicas, no
///    eviction) comes back with all of them.
///  - Any other grants nothing until its process has been up for `max_ttl`, the longest ttl that it
///    ever grants: whoever was granted something that it forgot has stopped believing by then. That
///    needs no memory of its own, and is decided inside of the script that grants.
///    Its uptime is a difference of times of day, and so is wrong after a step of that machine's
///    clock. So a provider also counts for itself, by its own clock: for `max_ttl` from when it met
///    a process that began after the one before was last heard of, if that was less than `max_ttl`
///    ago; else for what the first script that it ran there said was left. What is not covered: a
///    step between the start and the first look of a program that had not been there for long.
///  - After a failover the process that answers has been up for long and lacks the last writes. A
///    provider that was there before notices another process, or another history of writes, and
///    itself grants nothing for `max_ttl`. One that was not there cannot: across a failover L1 is
///    not promised, only that fences rise (they come from the clock) is.
///
/// Threads: any.
class RedisStore {
 public:
  /// Connects once. Throws leases::ProviderUnavailable, UnfitStore, AccessDenied,
  /// std::invalid_argument.
  explicit RedisStore(RedisAddress address);

  /// A connection to a Redis that is fit for leases. Throws as the constructor, and WireError.
  std::unique_ptr<RedisLink> Connect(int cancel_fd, std::int64_t until_ms);

  const RedisAddress& address() const { return address_; }
  bool durable() const { return durable_; }
  const std::string& advice() const { return advice_; }
  /// Of a Redis that may forget, which grants nothing longer; else 0.
  leases::Milliseconds may_forget() const { return durable_ ? leases::Milliseconds(0) : max_ttl_; }
  /// For how much longer this provider grants nothing.
  std::int64_t ApartMs() const;
  RedisBell& bell() { return bell_; }

  /// It answered just now.
  void Heard();
  void Count(std::string_view operation, std::string_view outcome, double seconds);
  void CountReconnect();
  leases::ProviderStats stats() const;

 private:
  void Meet(RedisLink& link, std::int64_t until_ms);
  /// For how much longer the Redis grants nothing.
  std::int64_t AgreeOnTtl(RedisLink& link, std::int64_t until_ms);
  RedisFacts AskFacts(RedisLink& link, std::int64_t until_ms) const;

  const RedisAddress address_;
  const std::unique_ptr<WireTls> tls_;
  // Set by the constructor, then never changed.
  bool durable_ = false;
  std::string advice_;
  leases::Milliseconds max_ttl_;

  mutable base::Mutex mutex_;
  std::optional<RedisFacts> facts_ TENURE_GUARDED_BY(mutex_);
  std::int64_t heard_ms_ TENURE_GUARDED_BY(mutex_) = 0;
  std::int64_t apart_until_ms_ TENURE_GUARDED_BY(mutex_) = 0;
  std::map<std::pair<std::string, std::string>, std::pair<std::int64_t, double>> counts_
      TENURE_GUARDED_BY(mutex_);
  std::int64_t reconnects_ TENURE_GUARDED_BY(mutex_) = 0;

  RedisBell bell_;  // last: its thread uses the rest
};

/// Leases on that Redis.
std::unique_ptr<leases::Connection> ConnectRedisLeases(std::shared_ptr<RedisStore> store);

}  // namespace tenure::client
