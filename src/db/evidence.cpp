#include "db/evidence.hpp"

#include <algorithm>
#include <utility>

#include "base/log.hpp"

namespace tenure::db {
namespace {

/// Not more often: whoever makes fences up could fill the log.
constexpr std::int64_t kLogEveryMs = 60'000;

}  // namespace

ForgottenEvidence::ForgottenEvidence(std::function<std::int64_t()> incarnation,
                                     const base::Clock& clock, telemetry::Registry& metrics)
    : incarnation_(std::move(incarnation)),
      clock_(clock),
      count_(metrics.GetCounter("tenure_store_forgotten_evidence_total",
                                "Fences that clients named and the store never gave: it may have "
                                "been restored unnoticed.")) {}

void ForgottenEvidence::Look(std::string_view what, std::int64_t fence, std::int64_t highest) {
  if (fence <= std::max(highest, FenceFloor(incarnation_()))) return;
  count_.Add();
  const std::int64_t now_boot_ms = clock_.BootMs();
  {
    const base::Lock lock(mutex_);
    found_ = Found{std::string(what), fence, highest};
    found_boot_ms_ = now_boot_ms;
    if (logged_boot_ms_ && now_boot_ms - *logged_boot_ms_ < kLogEveryMs) return;
    logged_boot_ms_ = now_boot_ms;
  }
  base::LogWarn("store.forgotten_evidence",
                "a client named a fence that the store never gave; if the database was restored, "
                "run `tenure admin new-incarnation`",
                {{"of", what}, {"fence", fence}, {"highest", highest}});
}

std::optional<ForgottenEvidence::Found> ForgottenEvidence::Last() const {
  const base::Lock lock(mutex_);
  if (found_ && clock_.BootMs() - found_boot_ms_ < kWarningMs) return found_;
  return std::nullopt;
}

}  // namespace tenure::db
