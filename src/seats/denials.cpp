#include "seats/denials.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace tenure::seats {

void Denials::Note(const base::Uuid& license, std::string_view machine, std::int64_t now_ms) {
  const base::Lock lock(mutex_);
  if (sums_.size() >= kMaxLicenses && !sums_.contains(license)) {
    ++others_;
    return;
  }
  Sum& sum = sums_[license];
  if (sum.count++ == 0) sum.from_ms = now_ms;
  sum.to_ms = now_ms;
  if (sum.machines.size() < kMaxMachines)
    sum.machines.insert(std::hash<std::string_view>()(machine));
}

Denials::Taken Denials::Take() {
  std::map<base::Uuid, Sum> sums;
  Taken taken;
  {
    const base::Lock lock(mutex_);
    sums = std::exchange(sums_, {});
    taken.others = std::exchange(others_, 0);
  }
  for (const auto& [license, sum] : sums)
    taken.sums.push_back({license, sum.count,
                          static_cast<std::int64_t>(sum.machines.size()) + sum.machines_before,
                          sum.from_ms, sum.to_ms});
  return taken;
}

void Denials::PutBack(const NoteDenialsCommand& sum) {
  const base::Lock lock(mutex_);
  if (sums_.size() >= kMaxLicenses && !sums_.contains(sum.license)) {
    others_ += sum.count;
    return;
  }
  Sum& kept = sums_[sum.license];
  kept.to_ms = std::max(kept.to_ms, sum.to_ms);
  kept.from_ms = kept.count == 0 ? sum.from_ms : std::min(kept.from_ms, sum.from_ms);
  kept.count += sum.count;
  kept.machines_before += sum.machines;
}

}  // namespace tenure::seats
