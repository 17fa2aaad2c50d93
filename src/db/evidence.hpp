#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/mutex.hpp"
#include "telemetry/metrics.hpp"

namespace tenure::db {

/// What is below this was given by an earlier incarnation, or may have been (docs/ground.md,
/// Incarnation).
constexpr std::int64_t FenceFloor(std::int64_t incarnation) {
  return incarnation > 1 ? incarnation << 40 : 0;
}

/// A client that names a fence which the store never gave: the store may have forgotten commits
/// and nobody noticed, as when a snapshot was put back while no process ran. It is logged, counted,
/// and a warning in /health. It changes nothing by itself, since a client could make it up.
///
/// Threads: any.
class ForgottenEvidence {
 public:
  /// For so long it stays a warning.
  static constexpr std::int64_t kWarningMs = 3'600'000;

  struct Found {
    std::string what{};        ///< "lease orders"
    std::int64_t fence = 0;    ///< that was named
    std::int64_t highest = 0;  ///< that the store gave
  };

  ForgottenEvidence(std::function<std::int64_t()> incarnation, const base::Clock& clock,
                    telemetry::Registry& metrics);

  /// Somebody named a fence of `what`, of which the store gave `highest` at most. Most are not
  /// beyond it; those of earlier incarnations are no news.
  void Look(std::string_view what, std::int64_t fence, std::int64_t highest);
  /// The last one, within the last hour.
  std::optional<Found> Last() const;

 private:
  const std::function<std::int64_t()> incarnation_;
  const base::Clock& clock_;
  telemetry::Counter& count_;

  mutable base::Mutex mutex_;
  std::optional<Found> found_ TENURE_GUARDED_BY(mutex_);
  std::int64_t found_boot_ms_ TENURE_GUARDED_BY(mutex_) = 0;
  std::optional<std::int64_t> logged_boot_ms_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure::db
