#include "http/rate_limiter.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace tenure::http {
namespace {

constexpr std::int64_t kNanosPerMs = 1'000'000;

std::int64_t RoundedUp(std::int64_t amount, std::int64_t unit) {
  return (amount + unit - 1) / unit;
}

std::int64_t IntervalNs(const base::Rate& rate) {
  TENURE_CHECK(rate.limits(), "a limiter has a limit");
  return RoundedUp(rate.per_ms * kNanosPerMs, rate.count);
}

}  // namespace

RateLimiter::RateLimiter(const base::Rate& rate, const base::Clock& clock)
    : rate_(rate), clock_(clock), interval_ns_(IntervalNs(rate)), sets_(kSets) {}

RateLimiter::Verdict RateLimiter::Take(std::string_view key) {
  const std::uint64_t hash = hash_(key);
  const std::size_t set = hash % kSets;
  const std::int64_t now_ns = clock_.BootMs() * kNanosPerMs;
  const std::lock_guard lock(locks_[set % kLocks].mutex);
  return Decide(EntryOf(sets_[set], hash), now_ns);
}

RateLimiter::Entry& RateLimiter::EntryOf(Set& set, std::uint64_t hash) {
  const auto found = std::ranges::find(set, hash, &Entry::hash);
  if (found != set.end()) return *found;
  Entry& replaced = *std::ranges::min_element(set, {}, &Entry::full_ns);
  replaced = {.hash = hash};
  return replaced;
}

RateLimiter::Verdict RateLimiter::Decide(Entry& entry, std::int64_t now_ns) const {
  const std::int64_t taken_ns = std::max<std::int64_t>(entry.full_ns - now_ns, 0);
  const std::int64_t most_ns = (rate_.count - 1) * interval_ns_;  // with more, none is left
  if (taken_ns > most_ns)
    return {.full_in_ms = RoundedUp(taken_ns, kNanosPerMs),
            .retry_in_ms = RoundedUp(taken_ns - most_ns, kNanosPerMs)};
  entry.full_ns = now_ns + taken_ns + interval_ns_;
  return {.allowed = true,
          .remaining = (most_ns - taken_ns) / interval_ns_,
          .full_in_ms = RoundedUp(taken_ns + interval_ns_, kNanosPerMs)};
}

}  // namespace tenure::http
