#include "app/store_watch.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/log.hpp"
#include "base/time_text.hpp"

namespace tenure::app {
namespace {

constexpr std::int64_t kBeatMs = 1'000;
constexpr std::int64_t kLeastStepMs = 1'000;
/// A reading that took longer is compared with the one before it, and not with the one after it, for so long: else
/// what steps while the store hangs would be in doubt on both sides. Clocks drift, so not for ever.
constexpr std::int64_t kLongReadingMs = 250;
constexpr std::int64_t kKeptReadingMs = 60'000;

}  // namespace

StoreWatch::StoreWatch(db::Store& store, tasks::Tasks& tasks, wake::Registry& wake,
                       std::string process, const base::Clock& clock, telemetry::Registry& metrics)
    : store_(store),
      tasks_(tasks),
      wake_(wake),
      process_(std::move(process)),
      clock_(clock),
      step_seconds_(metrics.GetGauge(
          "store_clock_step_seconds",
          "How far the store's clock last stepped away from this machine's, in seconds.")),
      committed_boot_ms_(clock.BootMs()) {}

void StoreWatch::Start() {
  {
    const base::Lock lock(mutex_);
    committed_boot_ms_ = clock_.BootMs();
  }
  poller_.emplace(wake_, clock_, "", *this).PollWithin(0);
}

void StoreWatch::Stop() {
  if (poller_) poller_->Stop();
}

StoreWatch::View StoreWatch::Seen() const {
  const base::Lock lock(mutex_);
  const std::int64_t now_boot_ms = clock_.BootMs();
  // Any commit counts: where the process is overloaded, its own beat may wait for long.
  const std::int64_t committed_boot_ms = std::max(committed_boot_ms_, store_.CommittedBootMs());
  View view{.is_writable = now_boot_ms - committed_boot_ms <= kPatienceMs,
            .frozen_until_ms = frozen_until_ms_,
            .forgotten = store_.evidence().Last(),
            .tasks = listed_};
  if (step_ && now_boot_ms - step_->boot_ms < kStepWarningMs) view.step = step_;
  return view;
}

std::optional<StoreWatch::ClockStep> StoreWatch::StepBetween(const Reading& first,
                                                             const Reading& second) {
  // The store was read somewhere between before and after: what may be doubt is no step.
  const std::int64_t doubt_ms =
      (first.after_boot_ms - first.before_boot_ms) + (second.after_boot_ms - second.before_boot_ms);
  const std::int64_t expected_ms = first.store_ms + (second.before_boot_ms - first.before_boot_ms);
  if (std::llabs(second.store_ms - expected_ms) <= kLeastStepMs + doubt_ms) return std::nullopt;
  return ClockStep{expected_ms, second.store_ms, second.after_boot_ms};
}

void StoreWatch::Poll(wake::Poller::Cause, base::UniqueFunction<wake::Poller::Next> done) {
  const std::int64_t before_boot_ms = clock_.BootMs();
  LookAtTasks();
  store_.Submit(beat_, {}, {process_},
                [this, before_boot_ms,
                 done = std::move(done)](const db::Result<db::BeatReply>& result) mutable {
                  if (result.ok()) OnBeat(result.value(), before_boot_ms);
                  done({.in_ms = kBeatMs});
                });
}

void StoreWatch::OnBeat(const db::BeatReply& reply, std::int64_t before_boot_ms) {
  const Reading reading{reply.now_ms, before_boot_ms, clock_.BootMs()};
  std::optional<ClockStep> step;
  {
    const base::Lock lock(mutex_);
    committed_boot_ms_ = reading.after_boot_ms;
    if (reply.frozen_until_ms == 0) frozen_until_ms_ = 0;
    if (reading_) step = StepBetween(*reading_, reading);
    const bool took_long = reading.after_boot_ms - reading.before_boot_ms > kLongReadingMs;
    if (!reading_ || step || !took_long ||
        reading.after_boot_ms - reading_->after_boot_ms > kKeptReadingMs)
      reading_ = reading;
    if (step) step_ = step;
  }
  if (reply.frozen_until_ms > 0) LookAtFreeze(reply.now_ms);
  if (!step) return;
  step_seconds_.Set(step->size_ms() / 1'000);
  base::LogWarn("store.clock_step", "the store's clock has stepped",
                {{"from", base::UtcText(step->from_ms)},
                 {"to", base::UtcText(step->to_ms)},
                 {"step_ms", step->size_ms()}});
}

/// Once a second while something may be frozen.
void StoreWatch::LookAtFreeze(std::int64_t now_ms) {
  store_.Submit(freeze_, {}, {}, [this, now_ms](const db::Result<db::FreezeReply>& result) {
    if (!result.ok()) return;
    const std::int64_t until_ms = result.value().frozen_until_ms;
    const base::Lock lock(mutex_);
    frozen_until_ms_ = until_ms > now_ms ? until_ms : 0;
  });
}

void StoreWatch::LookAtTasks() {
  tasks_.List(std::string(tasks::kOwnTenant), {},
              [this](const db::Result<tasks::ListReply>& listed) {
                if (!listed.ok()) return;
                auto copy = std::make_shared<const tasks::ListReply>(listed.value());
                const base::Lock lock(mutex_);
                listed_ = std::move(copy);
              });
}

}  // namespace tenure::app
