#pragma once

#include <cstdint>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "auth/crypto.hpp"
#include "base/clock.hpp"
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

  struct Entry {
    http::PrincipalPtr principal{};
    std::int64_t expires_wall_ms = 0;
    std::uint64_t generation = 0;  ///< of the keys that it was verified with
    std::int64_t since_boot_ms = 0;
  };

  explicit TokenCache(const base::Clock& clock) : clock_(clock) {}

  /// Null when it is not known, or no more.
  http::PrincipalPtr Find(const Digest& token, std::uint64_t generation);
  void Insert(const Digest& token, Entry entry);
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
  using Map = std::unordered_map<Digest, Entry, Hash>;

  bool IsFresh(const Entry& entry, std::uint64_t generation) const;
  void InsertLocked(const Digest& token, Entry entry);

  const base::Clock& clock_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  Map young_;
  Map old_;
};

}  // namespace tenure::auth
