#pragma once

#include <cstdint>
#include <cstring>
#include <unordered_map>

#include "auth/key.hpp"
#include "base/clock.hpp"
#include "base/mutex.hpp"
#include "http/message.hpp"

namespace tenure::auth {

/// Remembers tokens that were verified, so that the next request with one costs a hash instead of a
/// signature. Tokens are known by their SHA-256: what is kept here opens no door.
///
/// What is found is never older than kMaxAgeMs of the monotonic clock, never past the token's own
/// end by the wall clock as it stands now, and never from before the last change of the keys: a key
/// that was withdrawn ends its tokens at once.
///
/// Bounded: two maps of kMaxEntries / 2. A full young one becomes the old one, and the old one is
/// forgotten; what is found in the old one moves to the young. So what is used stays.
///
/// Threads: any. One mutex, held for a look-up.
class TokenCache {
 public:
  static constexpr std::size_t kMaxEntries = 16'384;
  static constexpr std::int64_t kMaxAgeMs = 60'000;

  struct CachedToken {
    http::PrincipalPtr principal{};
    std::int64_t expires_wall_ms = 0;
    std::uint64_t generation = 0;  ///< of the keys that it was verified with
    std::int64_t since_boot_ms = 0;
  };

  explicit TokenCache(const base::Clock& clock) : clock_(clock) {}

  /// Null when it is not known, or no more.
  http::PrincipalPtr Find(const Digest& token, std::uint64_t generation);
  void Insert(const Digest& token, CachedToken entry);
  std::size_t size() const;

 private:
  struct Hash {
    /// Only tokens of our own issuer get here, so nobody can aim at one bucket.
    std::size_t operator()(const Digest& digest) const {
      std::size_t value = 0;
      std::memcpy(&value, digest.data(), sizeof value);
      return value;
    }
  };
  using Map = std::unordered_map<Digest, CachedToken, Hash>;

  bool IsFresh(const CachedToken& entry, std::uint64_t generation) const;
  void InsertLocked(const Digest& token, CachedToken entry) TENURE_REQUIRES(mutex_);

  const base::Clock& clock_;
  mutable base::Mutex mutex_;
  Map young_ TENURE_GUARDED_BY(mutex_);
  Map old_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure::auth
