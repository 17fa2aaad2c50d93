#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "base/mutex.hpp"
#include "db/beat.hpp"
#include "db/store.hpp"
#include "tasks/tasks.hpp"
#include "telemetry/metrics.hpp"
#include "wake/poller.hpp"

namespace tenure::app {

/// What this process knows of its store without asking it: whether writes are committed, whether
/// names are frozen, whether the store's clock has stepped, how Tenure's own tasks are doing. It
/// asks once a second, so whoever looks (/readyz, /health) is answered from memory, also while the
/// store hangs.
///
/// Life: construct, Start, Stop. Threads: Seen from any.
class StoreWatch final : public wake::Poller::Work {
 public:
  /// Without a commit for so long requests should go elsewhere.
  static constexpr std::int64_t kPatienceMs = 3'000;
  /// For so long a step of the clock stays a warning.
  static constexpr std::int64_t kStepWarningMs = 3'600'000;

  /// The store's time did not go with the machine's.
  struct ClockStep {
    std::int64_t from_ms = 0;  ///< what it should have been
    std::int64_t to_ms = 0;    ///< what it was
    std::int64_t boot_ms = 0;  ///< when

    std::int64_t size_ms() const { return to_ms - from_ms; }
  };
  struct View {
    bool is_writable = false;
    std::int64_t frozen_until_ms = 0;                         ///< 0: nothing is frozen
    std::optional<ClockStep> step{};                          ///< within the last hour
    std::optional<db::ForgottenEvidence::Found> forgotten{};  ///< within the last hour
    std::shared_ptr<const tasks::ListReply> tasks{};          ///< null: not known yet
  };

  StoreWatch(db::Store& store, tasks::Tasks& tasks, wake::Registry& wake, std::string process,
             const base::Clock& clock, telemetry::Registry& metrics);
  void Start();
  void Stop();
  View Seen() const;

  /// A reading of the store's clock, and between which instants of the machine's it was taken.
  struct Reading {
    std::int64_t store_ms = 0;
    std::int64_t before_boot_ms = 0;
    std::int64_t after_boot_ms = 0;
  };
  /// The step between two readings, if it is certain to be longer than a second.
  static std::optional<ClockStep> StepBetween(const Reading& first, const Reading& second);

 private:
  void Poll(wake::Poller::Cause cause, base::UniqueFunction<wake::Poller::Next> done) override;
  void OnBeat(const db::BeatReply& reply, std::int64_t before_boot_ms);
  void LookAtFreeze(std::int64_t now_ms);
  void LookAtTasks();

  db::Store& store_;
  tasks::Tasks& tasks_;
  wake::Registry& wake_;
  const std::string process_;
  const base::Clock& clock_;
  telemetry::Gauge& step_seconds_;
  db::BeatHandler beat_;
  db::FreezeHandler freeze_;
  std::optional<wake::Poller> poller_;

  mutable base::Mutex mutex_;
  std::int64_t committed_boot_ms_ TENURE_GUARDED_BY(mutex_);
  std::int64_t frozen_until_ms_ TENURE_GUARDED_BY(mutex_) = 0;
  std::optional<Reading> reading_ TENURE_GUARDED_BY(mutex_);
  std::optional<ClockStep> step_ TENURE_GUARDED_BY(mutex_);
  std::shared_ptr<const tasks::ListReply> listed_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure::app
