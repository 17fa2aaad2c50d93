#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/mutex.hpp"
#include "base/uuid.hpp"
#include "seats/redis_kept.hpp"

namespace tenure::seats {

/// What a process remembers of holdings, so that a heartbeat in a Redis asks the store nothing. A
/// holding's seat, fence and person never change; its licence's terms do, and are remembered under
/// their revision: who hears of another one says so, and all of the licence is forgotten.
///
/// Bounded: what was not asked for since so many others were is forgotten.
/// Threads: any.
class HoldingCache {
 public:
  explicit HoldingCache(std::size_t most) : half_(most / 2 + 1) {}

  std::optional<HoldingFacts> Find(const base::Uuid& session);
  void Remember(const base::Uuid& session, const HoldingFacts& facts);
  /// Of which something is remembered.
  std::vector<base::Uuid> Licenses();
  /// As it is in the store; another one than is remembered: it is forgotten.
  void Learn(const base::Uuid& license, std::int64_t revision);
  void Forget(const base::Uuid& license);

 private:
  /// Shared by the holdings of a licence.
  struct Terms {
    base::Uuid license{};
    std::string tenant{};
    std::int64_t ttl_ms = 0;
    std::int64_t revision = 0;
    bool is_true = true;  // false: forgotten
  };
  struct Known {
    std::shared_ptr<const Terms> terms{};
    std::string person{};
    std::int64_t slot = 0;
    std::int64_t fence = 0;
  };
  using Generation = std::unordered_map<base::Uuid, Known>;

  void Put(const base::Uuid& session, Known known) TENURE_REQUIRES(mutex_);
  void ForgetTerms(const base::Uuid& license) TENURE_REQUIRES(mutex_);

  const std::size_t half_;
  base::Mutex mutex_;
  Generation young_ TENURE_GUARDED_BY(mutex_);  // asked for since the last change of generations
  Generation old_ TENURE_GUARDED_BY(mutex_);
  std::unordered_map<base::Uuid, std::shared_ptr<Terms>> terms_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure::seats
