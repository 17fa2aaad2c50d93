#include "usage/arithmetic.hpp"

#include <algorithm>

#include "db/rows.hpp"

namespace tenure::usage {
namespace {

/// 10^9 units for 100 years are below 2^102.
__extension__ using Int128 = __int128;

}  // namespace

Factors::Factors(const std::vector<Factor>& factors) {
  for (const Factor& factor : factors) {
    if (factor.kind < 1 || factor.kind > kKinds) db::ThrowBadRow("a factor of no kind");
    by_kind_[static_cast<std::size_t>(factor.kind - 1)].push_back(factor);
  }
}

std::int64_t Factors::MicrosUntil(int kind, const Interval& active, std::int64_t t_ms) const {
  const std::int64_t until_ms = std::min(active.end_ms, t_ms);
  Int128 weight = 0;
  if (kind < 1 || kind > kKinds) db::ThrowBadRow("a session of no kind");
  const auto& factors = by_kind_[static_cast<std::size_t>(kind - 1)];
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const std::int64_t from_ms = std::max(active.start_ms, factors[i].from_ms);
    const std::int64_t to_ms =
        i + 1 < factors.size() ? std::min(until_ms, factors[i + 1].from_ms) : until_ms;
    if (to_ms > from_ms) weight += static_cast<Int128>(to_ms - from_ms) * factors[i].millionths;
  }
  return static_cast<std::int64_t>(weight / kUnitMs);
}

std::int64_t NextBoundary(std::int64_t start_ms, std::int64_t interval_ms) {
  return (start_ms / interval_ms + 1) * interval_ms;
}

}  // namespace tenure::usage
