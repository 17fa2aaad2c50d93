#include "db/fence_check.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace tenure::db {
namespace {

std::vector<base::Fence> FencesOf(std::span<Operation* const> operations) {
  std::vector<base::Fence> fences;
  for (const Operation* operation : operations)
    fences.insert(fences.end(), operation->fences().begin(), operation->fences().end());
  std::sort(fences.begin(), fences.end());
  fences.erase(std::unique(fences.begin(), fences.end()), fences.end());
  return fences;
}

}  // namespace

Sifted SiftByFences(Transaction& tx, FenceCheck* check, std::span<Operation* const> operations) {
  Sifted sifted;
  const std::vector<base::Fence> fences = FencesOf(operations);
  if (fences.empty()) {
    sifted.live.assign(operations.begin(), operations.end());
    return sifted;
  }
  const std::vector<bool> live =
      check ? check->Check(tx, fences) : std::vector<bool>(fences.size(), false);
  TENURE_CHECK(live.size() == fences.size(), "a fence check answers for each fence");
  const auto is_stale = [&](const base::Fence& fence) {
    const auto place = std::lower_bound(fences.begin(), fences.end(), fence);
    return !live[static_cast<std::size_t>(place - fences.begin())];
  };
  for (Operation* operation : operations) {
    const auto& claimed = operation->fences();
    const auto stale = std::find_if(claimed.begin(), claimed.end(), is_stale);
    if (stale == claimed.end())
      sifted.live.push_back(operation);
    else
      sifted.stale.push_back({operation, *stale});
  }
  return sifted;
}

}  // namespace tenure::db
