#include "messages/clockwork.hpp"

#include <algorithm>
#include <mutex>
#include <string>
#include <utility>

#include "messages/heartbeat.hpp"
#include "messages/message.hpp"

namespace tenure::messages {
namespace {

constexpr std::int64_t kReapEveryMs = 1'000;
/// After a fault; the store is away.
constexpr std::int64_t kTryAgainMs = 1'000;
constexpr std::int64_t kFlagMs = 60'000;

}  // namespace

struct Clockwork::State : std::enable_shared_from_this<State> {
  State(Store functions, wake::Registry& registry, const base::Clock& machine_clock,
        std::int64_t poll_max)
      : store(std::move(functions)), wake(registry), clock(machine_clock), poll_max_ms(poll_max) {}

  const Store store;
  wake::Registry& wake;
  const base::Clock& clock;
  const std::int64_t poll_max_ms;

  std::mutex mutex;
  // Guarded by mutex:
  bool stopped = true;
  std::int64_t patient_since_boot_ms = 0;  // since when the store has been there
  std::int64_t flag_until_boot_ms = 0;

  bool IsStopped() {
    const std::lock_guard lock(mutex);
    return stopped;
  }
  void StoreWasAway() {
    const std::lock_guard lock(mutex);
    patient_since_boot_ms = clock.BootMs();
  }

  void AwaitPromote(std::int64_t in_ms) {
    wake.Wait(std::string(kTimerKey), clock.BootMs() + in_ms,
              [self = shared_from_this()] { self->Promote(); });
  }
  void Promote() {
    if (IsStopped()) return;
    RefreshFlag();
    // Registered before the look, so a signal that comes while it is under way is not lost.
    const auto signal = wake.Wait(std::string(kTimerKey), wake::Registry::kNever, [] {});
    store.promote([self = shared_from_this(), signal](const db::Result<PromoteReply>& result) {
      self->OnPromoted(result, !self->wake.Cancel(signal));
    });
  }
  void OnPromoted(const db::Result<PromoteReply>& result, bool was_signalled) {
    if (!result.ok()) {
      StoreWasAway();
      return AwaitPromote(kTryAgainMs);
    }
    const PromoteReply& reply = result.value();
    std::int64_t wait_ms = poll_max_ms;
    if (reply.has_more || was_signalled)
      wait_ms = 0;
    else if (reply.next_due_ms)
      wait_ms = std::clamp<std::int64_t>(*reply.next_due_ms - reply.now_ms, 0, poll_max_ms);
    AwaitPromote(wait_ms);
  }

  /// Others tell us of timers that are set. Who sets one just before the flag is there tells
  /// nobody: the look after poll_max_ms finds it.
  void RefreshFlag() {
    {
      const std::lock_guard lock(mutex);
      if (!store.others_commit || clock.BootMs() < flag_until_boot_ms - kFlagMs / 2) return;
      flag_until_boot_ms = clock.BootMs() + kFlagMs;
    }
    store.watch({{{"", ""}}, {}, kFlagMs},
                [self = shared_from_this()](const db::Result<WatchReply>& result) {
                  if (result.ok()) return;
                  const std::lock_guard lock(self->mutex);
                  self->flag_until_boot_ms = 0;
                });
  }

  void AwaitReap(std::int64_t in_ms) {
    wake.Wait("", clock.BootMs() + in_ms, [self = shared_from_this()] { self->Reap(); });
  }
  void Reap() {
    std::int64_t patient_ms = 0;
    {
      const std::lock_guard lock(mutex);
      if (stopped) return;
      patient_ms = clock.BootMs() - patient_since_boot_ms;
    }
    if (patient_ms < kWorkerTtlMs) return AwaitReap(kReapEveryMs);
    store.reap({patient_ms >= kDefaultLeaseMs},
               [self = shared_from_this()](const db::Result<ReapReply>& result) {
                 if (!result.ok()) self->StoreWasAway();
                 self->AwaitReap(result.ok() && result.value().has_more ? 0 : kReapEveryMs);
               });
  }
};

Clockwork::Clockwork(Store store, wake::Registry& wake, const base::Clock& clock,
                     std::int64_t poll_max_ms)
    : state_(std::make_shared<State>(std::move(store), wake, clock, poll_max_ms)) {}

Clockwork::~Clockwork() { Stop(); }

void Clockwork::Start() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopped = false;
    state_->patient_since_boot_ms = state_->clock.BootMs();
  }
  state_->AwaitPromote(0);
  state_->AwaitReap(kReapEveryMs);
}

void Clockwork::Stop() {
  const std::lock_guard lock(state_->mutex);
  state_->stopped = true;
}

}  // namespace tenure::messages
