#include "client/cas/counters.hpp"

#include <algorithm>

#include "tenure/clock.hpp"

namespace tenure::client {

void ProviderCounters::Count(std::string_view operation, std::string_view outcome, double seconds) {
  const base::Lock lock(mutex_);
  auto& [count, total] = requests_[{std::string(operation), std::string(outcome)}];
  ++count;
  total += seconds;
}

void ProviderCounters::Conflict() {
  const base::Lock lock(mutex_);
  ++others_.conflicts;
}

void ProviderCounters::Throttled() {
  const base::Lock lock(mutex_);
  ++others_.throttled;
}

void ProviderCounters::RequestUnits(double units) {
  const base::Lock lock(mutex_);
  others_.request_units += units;
}

void ProviderCounters::ClockOffset(std::int64_t store_ahead_ms) {
  const base::Lock lock(mutex_);
  others_.clock_offset_seconds = static_cast<double>(store_ahead_ms) / 1'000;
}

void ProviderCounters::Token(std::string_view mode, std::string_view result,
                             double remaining_seconds) {
  const base::Lock lock(mutex_);
  ++tokens_[{std::string(mode), std::string(result)}];
  if (remaining_seconds > 0)
    token_ends_ms_ = BootClock().NowMs() + static_cast<std::int64_t>(remaining_seconds * 1'000);
}

leases::ProviderStats ProviderCounters::stats() const {
  const base::Lock lock(mutex_);
  leases::ProviderStats stats = others_;
  for (const auto& [key, value] : requests_)
    stats.requests.push_back({.operation = key.first,
                              .outcome = key.second,
                              .count = value.first,
                              .seconds = value.second});
  for (const auto& [key, count] : tokens_)
    stats.token_fetches.push_back({.mode = key.first, .result = key.second, .count = count});
  const std::int64_t left_ms = token_ends_ms_ - BootClock().NowMs();
  stats.token_remaining_seconds = static_cast<double>(std::max<std::int64_t>(left_ms, 0)) / 1'000;
  if (included_) {
    const leases::ProviderStats tokens = included_->stats();
    stats.token_fetches = tokens.token_fetches;
    stats.token_remaining_seconds = tokens.token_remaining_seconds;
  }
  return stats;
}

}  // namespace tenure::client
