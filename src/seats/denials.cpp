#include "seats/denials.hpp"

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
    taken.sums.push_back({license, sum.count, static_cast<std::int64_t>(sum.machines.size()),
                          sum.from_ms, sum.to_ms});
  return taken;
}

}  // namespace tenure::seats
