#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "auth/key.hpp"
#include "base/clock.hpp"
#include "base/keyed_hash.hpp"
#include "base/mutex.hpp"

namespace tenure::auth {

/// Remembers for some seconds tokens that were refused after the work of a signature, so that a
/// flood of the same ones costs a hash each. Apart from the good ones (token_cache.hpp): strangers
/// can fill this, and push nothing out of that.
///
/// A token is known by its whole SHA-256: nobody is refused for another one's. What is found is of
/// the same generation of keys: a key that came makes its tokens good at once.
///
/// Bounded: kEntries, each in the one place that a keyed hash gives it, where the next one replaces
/// it. So nobody can aim at a place.
///
/// Threads: any. One mutex, held for a look-up.
class RefusedTokens {
 public:
  static constexpr std::size_t kEntries = 4'096;
  static constexpr std::int64_t kMaxAgeMs = 5'000;

  explicit RefusedTokens(const base::Clock& clock) : clock_(clock), entries_(kEntries) {}

  /// Why it was refused; nothing when that is not known, or not any more.
  std::optional<std::string> Find(const Digest& token, std::uint64_t generation) const;
  void Insert(const Digest& token, std::uint64_t generation, std::string_view why);

 private:
  struct Entry {
    Digest token{};
    std::uint64_t generation = 0;
    std::int64_t until_boot_ms = 0;  // 0: there is none
    std::string why{};
  };

  std::size_t PlaceOf(const Digest& token) const;

  const base::Clock& clock_;
  const base::KeyedHash hash_;
  mutable base::Mutex mutex_;
  std::vector<Entry> entries_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure::auth
