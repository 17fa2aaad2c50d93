#include "wake/poller.hpp"

#include <algorithm>
#include <utility>

#include "base/mutex.hpp"

namespace tenure::wake {

struct Poller::State : std::enable_shared_from_this<State> {
  State(Registry& the_registry, const base::Clock& the_clock, std::string the_key, Work& the_work)
      : registry(the_registry), clock(the_clock), key(std::move(the_key)), work(the_work) {}

  Registry& registry;
  const base::Clock& clock;
  const std::string key;
  Work& work;

  base::Mutex mutex;
  // The registry calls nobody back inside of its functions.
  std::int64_t due_boot_ms TENURE_GUARDED_BY(mutex) = Registry::kNever;
  Registry::Id signal TENURE_GUARDED_BY(mutex) = 0;
  Registry::Id timer TENURE_GUARDED_BY(mutex) =
      0;  // 0: not set; it is never set while a poll is under way
  bool polling TENURE_GUARDED_BY(mutex) = false;
  bool signalled TENURE_GUARDED_BY(mutex) = false;  // since the poll began
  bool stopped TENURE_GUARDED_BY(mutex) = false;
  Backoff backoff TENURE_GUARDED_BY(mutex);

  void AwaitSignal() TENURE_REQUIRES(mutex) {
    if (key.empty()) return;
    signal =
        registry.Wait(key, Registry::kNever, [self = shared_from_this()] { self->OnSignal(); });
  }
  void SetTimer() TENURE_REQUIRES(mutex) {
    if (timer != 0) registry.Cancel(timer);
    timer = due_boot_ms == Registry::kNever
                ? 0
                : registry.Wait("", due_boot_ms, [self = shared_from_this()] { self->OnTimer(); });
  }
  void DueBy(std::int64_t boot_ms) TENURE_REQUIRES(mutex) {
    due_boot_ms = std::min(due_boot_ms, boot_ms);
  }

  void OnSignal() TENURE_EXCLUDES(mutex) {
    {
      const base::Lock lock(mutex);
      if (stopped) return;
      // Before the poll: a signal that comes while it is under way finds us.
      AwaitSignal();
      if (std::exchange(polling, true)) {
        signalled = true;
        return;
      }
    }
    Begin();
  }
  void OnTimer() TENURE_EXCLUDES(mutex) {
    {
      const base::Lock lock(mutex);
      timer = 0;
      if (stopped || polling) return;
      // Everybody was woken: our time has not come by that.
      if (clock.BootMs() < due_boot_ms) return SetTimer();
      polling = true;
    }
    Begin();
  }
  /// REQUIRES: the caller has set `polling`.
  void Begin() TENURE_EXCLUDES(mutex) {
    Cause cause = Cause::kSignal;
    {
      const base::Lock lock(mutex);
      if (stopped) return;
      if (timer != 0) registry.Cancel(std::exchange(timer, 0));
      if (clock.BootMs() >= due_boot_ms) {
        cause = Cause::kTime;
        due_boot_ms = Registry::kNever;
      }
    }
    work.Poll(cause, [self = shared_from_this()](Next next) { self->OnPolled(next); });
  }
  void OnPolled(Next next) TENURE_EXCLUDES(mutex) {
    const base::Lock lock(mutex);
    if (stopped) return;
    const std::int64_t now_boot_ms = clock.BootMs();
    if (next.in_ms) DueBy(now_boot_ms + *next.in_ms);
    if (next.locked)
      DueBy(now_boot_ms + backoff.NextMs());
    else
      backoff.Reset();
    if (std::exchange(signalled, false)) {
      // By the registry's thread: a poll that ends at once must not grow the stack.
      registry.Wait("", now_boot_ms, [self = shared_from_this()] { self->Begin(); });
      return;
    }
    polling = false;
    SetTimer();
  }
};

Poller::Poller(Registry& registry, const base::Clock& clock, std::string key, Work& work)
    : state_(std::make_shared<State>(registry, clock, std::move(key), work)) {
  const base::Lock lock(state_->mutex);
  state_->AwaitSignal();
}

void Poller::PollWithin(std::int64_t in_ms) {
  const base::Lock lock(state_->mutex);
  const std::int64_t boot_ms = state_->clock.BootMs() + in_ms;
  if (state_->stopped || boot_ms >= state_->due_boot_ms) return;
  state_->due_boot_ms = boot_ms;
  if (!state_->polling) state_->SetTimer();
}

void Poller::Stop() {
  const base::Lock lock(state_->mutex);
  // Whoever owns what is under way may outlive the registry, and us.
  if (std::exchange(state_->stopped, true)) return;
  state_->registry.Cancel(state_->signal);
  state_->registry.Cancel(state_->timer);
}

}  // namespace tenure::wake
