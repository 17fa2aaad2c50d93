#include "leases/waiters.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"

namespace tenure::leases {
namespace {

using Task = base::Task;

constexpr std::int64_t kRefreshMs = kTicketMs / 3;

}  // namespace

struct Waiters::Waiter {
  Id id = 0;
  AcquireCommand command;
  std::int64_t deadline_boot_ms = 0;
  base::Caller caller;
  Callback done;
  bool asking = false;  // a question is under way
  bool again = false;   // it was signalled meanwhile
  wake::Registry::Id timer = 0;
};

/// Those who wait for one name, in order of arrival.
struct Waiters::Line {
  std::list<std::shared_ptr<Waiter>> waiting;
  wake::Registry::Id signal = 0;
  wake::Registry::Id timer = 0;  // for the deadline of the grant in the way; 0: none
};

/// Everything but the constructor's arguments is guarded by `mutex`. Nothing outside is called with
/// it held, except the registry, which calls nobody back inside of its functions.
struct Waiters::State : std::enable_shared_from_this<State> {
  State(Store store_functions, wake::Registry& registry, const base::Clock& machine_clock)
      : store(std::move(store_functions)), wake(registry), clock(machine_clock) {}

  const Store store;
  wake::Registry& wake;
  const base::Clock& clock;

  std::mutex mutex;
  std::map<LeaseKey, Line> lines;
  std::unordered_map<Id, std::shared_ptr<Waiter>> by_id;
  Id next_id = 1;
  bool refreshing = false;  // a refresh is due or under way
  bool rechecking = false;  // a signal to look again is awaited, or a look is under way
  bool stopped = false;

  /// What to do once the mutex is let go.
  using Actions = std::vector<Task>;
  static void Run(Actions actions) {
    for (Task& action : actions) action();
  }

  // REQUIRES: mutex held, for all of these.
  void Ask(const std::shared_ptr<Waiter>& waiter, Actions& actions);
  void AskFirst(Line& line, Actions& actions);
  void AwaitSignal(const LeaseKey& key, Line& line);
  void AwaitTime(const LeaseKey& key, Line& line, std::int64_t until_boot_ms);
  void AwaitDeadline(Waiter& waiter);
  void AwaitRefresh();
  void AwaitRecheck();
  RefreshRequest AllTickets() const;
  /// Takes it out of its line. Returns whether it was the first of it.
  bool Remove(const std::shared_ptr<Waiter>& waiter);
  void Answer(Waiter& waiter, db::Result<AcquireOutcome> result, Actions& actions);

  void AskOthersOf(const Line& line, const base::Uuid& term, Actions& actions);
  /// REQUIRES, for what follows: mutex not held.
  void OnAnswer(Id id, const AcquireCommand& asked, db::Result<AcquireOutcome> result);
  void GiveBack(const AcquireCommand& asked, const db::Result<AcquireOutcome>& result) const;
  void OnHeld(const std::shared_ptr<Waiter>& waiter, const HeldByAnother& held, Actions& actions);
  void OnSignal(const LeaseKey& key);
  void OnTime(const LeaseKey& key);
  void OnDeadline(Id id);
  void OnRefreshDue();
  void OnRecheck();
  void OnFree(const db::Result<RefreshReply>& result);
};

void Waiters::State::Ask(const std::shared_ptr<Waiter>& waiter, Actions& actions) {
  waiter->asking = true;
  waiter->again = false;
  waiter->command.wait = clock.BootMs() >= waiter->deadline_boot_ms ? AcquireCommand::Wait::kGiveUp
                                                                    : AcquireCommand::Wait::kQueue;
  AcquireCommand command = waiter->command;
  actions.emplace_back([self = shared_from_this(), id = waiter->id, command = std::move(command),
                        fences = waiter->caller.fences]() mutable {
    auto* const state = self.get();
    state->store.ask(command, std::move(fences),
                     [self = std::move(self), id, command](db::Result<AcquireOutcome> result) {
                       self->OnAnswer(id, command, std::move(result));
                     });
  });
}

/// A term stands twice when its client repeated the request: the grant is for both of them.
void Waiters::State::AskOthersOf(const Line& line, const base::Uuid& term, Actions& actions) {
  for (const auto& waiter : line.waiting)
    if (waiter->command.term == term && !waiter->asking) Ask(waiter, actions);
}

void Waiters::State::AskFirst(Line& line, Actions& actions) {
  if (line.waiting.empty()) return;
  const auto& first = line.waiting.front();
  if (first->asking)
    first->again = true;
  else
    Ask(first, actions);
}

void Waiters::State::AwaitSignal(const LeaseKey& key, Line& line) {
  line.signal = wake.Wait(WakeKey(key), wake::Registry::kNever,
                          [self = shared_from_this(), key] { self->OnSignal(key); });
}

void Waiters::State::AwaitTime(const LeaseKey& key, Line& line, std::int64_t until_boot_ms) {
  if (line.timer != 0) wake.Cancel(line.timer);
  line.timer =
      wake.Wait("", until_boot_ms, [self = shared_from_this(), key] { self->OnTime(key); });
}

void Waiters::State::AwaitDeadline(Waiter& waiter) {
  waiter.timer = wake.Wait("", waiter.deadline_boot_ms,
                           [self = shared_from_this(), id = waiter.id] { self->OnDeadline(id); });
}

void Waiters::State::AwaitRefresh() {
  refreshing = true;
  wake.Wait("", clock.BootMs() + kRefreshMs, [self = shared_from_this()] { self->OnRefreshDue(); });
}

void Waiters::State::AwaitRecheck() {
  rechecking = true;
  wake.Wait(kRecheckKey, wake::Registry::kNever,
            [self = shared_from_this()] { self->OnRecheck(); });
}

bool Waiters::State::Remove(const std::shared_ptr<Waiter>& waiter) {
  wake.Cancel(waiter->timer);
  by_id.erase(waiter->id);
  const auto found = lines.find(waiter->command.key);
  Line& line = found->second;
  const bool was_first = line.waiting.front() == waiter;
  line.waiting.remove(waiter);
  if (line.waiting.empty()) {
    wake.Cancel(line.signal);
    if (line.timer != 0) wake.Cancel(line.timer);
    lines.erase(found);
  }
  store.count(static_cast<std::int64_t>(by_id.size()));
  return was_first;
}

void Waiters::State::Answer(Waiter& waiter, db::Result<AcquireOutcome> result, Actions& actions) {
  Task answer = [done = std::move(waiter.done), result = std::move(result)]() mutable {
    done(std::move(result));
  };
  if (waiter.caller.home)
    waiter.caller.home->Post(std::move(answer));
  else
    actions.push_back(std::move(answer));
}

void Waiters::State::GiveBack(const AcquireCommand& asked,
                              const db::Result<AcquireOutcome>& result) const {
  const auto* grant = result.ok() ? std::get_if<Grant>(&result.value()) : nullptr;
  if (grant) store.leave({asked.key, asked.term, grant->fence, true});
}

void Waiters::State::OnAnswer(Id id, const AcquireCommand& asked,
                              db::Result<AcquireOutcome> result) {
  Actions actions;
  {
    std::unique_lock lock(mutex);
    const auto found = by_id.find(id);
    if (found == by_id.end()) {  // abandoned
      lock.unlock();
      return GiveBack(asked, result);
    }
    const std::shared_ptr<Waiter> waiter = found->second;
    waiter->asking = false;
    const auto* held = result.ok() ? std::get_if<HeldByAnother>(&result.value()) : nullptr;
    if (held && clock.BootMs() < waiter->deadline_boot_ms) {
      OnHeld(waiter, *held, actions);
    } else if (held && waiter->command.wait != AcquireCommand::Wait::kGiveUp) {
      // Its time is over: one more question, which also leaves the line.
      Ask(waiter, actions);
    } else {
      const LeaseKey key = waiter->command.key;
      const auto* grant = result.ok() ? std::get_if<Grant>(&result.value()) : nullptr;
      const bool was_first = Remove(waiter);
      if (const auto line = lines.find(key); line != lines.end()) {
        if (grant) {
          AskOthersOf(line->second, asked.term, actions);
          AwaitTime(key, line->second, clock.BootMs() + grant->remaining.count());
        } else if (was_first) {
          AskFirst(line->second, actions);
        }
      }
      Answer(*waiter, std::move(result), actions);
    }
  }
  Run(std::move(actions));
}

/// It stands in line now, or still does.
void Waiters::State::OnHeld(const std::shared_ptr<Waiter>& waiter, const HeldByAnother& held,
                            Actions& actions) {
  Line& line = lines.at(waiter->command.key);
  if (line.waiting.front() != waiter) return;
  if (waiter->again)
    Ask(waiter, actions);
  else
    AwaitTime(waiter->command.key, line, clock.BootMs() + held.retry_after.count());
}

void Waiters::State::OnSignal(const LeaseKey& key) {
  Actions actions;
  {
    const std::lock_guard lock(mutex);
    const auto line = lines.find(key);
    if (stopped || line == lines.end()) return;
    AwaitSignal(key, line->second);
    AskFirst(line->second, actions);
  }
  Run(std::move(actions));
}

void Waiters::State::OnTime(const LeaseKey& key) {
  Actions actions;
  {
    const std::lock_guard lock(mutex);
    const auto line = lines.find(key);
    if (stopped || line == lines.end()) return;
    line->second.timer = 0;
    AskFirst(line->second, actions);
  }
  Run(std::move(actions));
}

void Waiters::State::OnDeadline(Id id) {
  Actions actions;
  {
    const std::lock_guard lock(mutex);
    const auto found = by_id.find(id);
    if (stopped || found == by_id.end()) return;
    const auto& waiter = found->second;
    if (clock.BootMs() < waiter->deadline_boot_ms) return AwaitDeadline(*waiter);  // woken early
    // When a question is under way, its answer sees that the time is over.
    if (!waiter->asking) Ask(waiter, actions);
  }
  Run(std::move(actions));
}

/// Of everybody who waits; each term of a name once, though its client may have repeated the
/// request while the first still waits.
RefreshRequest Waiters::State::AllTickets() const {
  RefreshRequest request;
  for (const auto& [id, waiter] : by_id)
    request.tickets.push_back({waiter->command.key, waiter->command.term});
  const auto order = [](const TicketRef& a, const TicketRef& b) {
    return std::tie(a.key, a.term) < std::tie(b.key, b.term);
  };
  std::sort(request.tickets.begin(), request.tickets.end(), order);
  const auto same = [](const TicketRef& a, const TicketRef& b) {
    return a.key == b.key && a.term == b.term;
  };
  request.tickets.erase(std::unique(request.tickets.begin(), request.tickets.end(), same),
                        request.tickets.end());
  return request;
}

/// The store may be away: then the tickets die after a while, and stand again, at the end of the
/// line, with the next question. Nobody is told: who waits learns it when its time is over.
void Waiters::State::OnRefreshDue() {
  RefreshRequest request;
  {
    const std::lock_guard lock(mutex);
    refreshing = !stopped && !by_id.empty();
    if (!refreshing) return;
    request = AllTickets();
  }
  store.refresh(std::move(request), [self = shared_from_this()](db::Result<RefreshReply> result) {
    self->OnFree(result);
    const std::lock_guard lock(self->mutex);
    if (!self->stopped) self->AwaitRefresh();
  });
}

void Waiters::State::OnRecheck() {
  RefreshRequest request;
  {
    const std::lock_guard lock(mutex);
    rechecking = !stopped && !by_id.empty();
    if (!rechecking) return;
    // Before the look: what is signalled while it is under way is looked at once more.
    AwaitRecheck();
    request = AllTickets();
  }
  store.look(std::move(request), [self = shared_from_this()](db::Result<RefreshReply> result) {
    self->OnFree(result);
  });
}

void Waiters::State::OnFree(const db::Result<RefreshReply>& result) {
  Actions actions;
  {
    const std::lock_guard lock(mutex);
    if (stopped || !result.ok()) return;
    for (const LeaseKey& key : result.value().free)
      if (const auto line = lines.find(key); line != lines.end()) AskFirst(line->second, actions);
  }
  Run(std::move(actions));
}

Waiters::Waiters(Store store, wake::Registry& wake, const base::Clock& clock)
    : state_(std::make_shared<State>(std::move(store), wake, clock)) {}

Waiters::~Waiters() { Stop(); }

Waiters::Id Waiters::Add(AcquireCommand command, std::int64_t wait_ms, base::Caller caller,
                         Callback done) {
  State& state = *state_;
  auto waiter = std::make_shared<Waiter>();
  waiter->command = std::move(command);
  waiter->deadline_boot_ms = state.clock.BootMs() + wait_ms;
  waiter->caller = std::move(caller);
  waiter->done = std::move(done);
  State::Actions actions;
  {
    const std::lock_guard lock(state.mutex);
    waiter->id = state.next_id++;
    if (state.stopped) {
      state.Answer(*waiter,
                   base::Fault(base::FaultKind::kStopping, "this process is shutting down"),
                   actions);
    } else {
      state.by_id[waiter->id] = waiter;
      Line& line = state.lines[waiter->command.key];
      line.waiting.push_back(waiter);
      if (line.signal == 0) state.AwaitSignal(waiter->command.key, line);
      state.AwaitDeadline(*waiter);
      if (!state.refreshing) state.AwaitRefresh();
      if (!state.rechecking) state.AwaitRecheck();
      state.store.count(static_cast<std::int64_t>(state.by_id.size()));
      state.Ask(waiter, actions);
    }
  }
  const Id id = waiter->id;
  State::Run(std::move(actions));
  return id;
}

void Waiters::Abandon(Id id) {
  State& state = *state_;
  State::Actions actions;
  ReleaseCommand release;
  bool stays = false;
  {
    const std::lock_guard lock(state.mutex);
    const auto found = state.by_id.find(id);
    if (found == state.by_id.end()) return;
    const auto waiter = found->second;
    release.key = waiter->command.key;
    release.term = waiter->command.term;
    release.fence = ReleaseCommand::kNoGrant;
    const bool was_first = state.Remove(waiter);
    const auto line = state.lines.find(release.key);
    if (line != state.lines.end()) {
      // The place in the line is its term's: another request may stand on it.
      stays = std::any_of(
          line->second.waiting.begin(), line->second.waiting.end(),
          [&](const auto& other) { return other->command.term == waiter->command.term; });
      if (was_first) state.AskFirst(line->second, actions);
    }
  }
  if (!stays) state.store.leave(std::move(release));
  State::Run(std::move(actions));
}

void Waiters::Stop() {
  State& state = *state_;
  State::Actions actions;
  std::vector<ReleaseCommand> left;
  {
    const std::lock_guard lock(state.mutex);
    if (std::exchange(state.stopped, true)) return;
    while (!state.by_id.empty()) {
      const auto waiter = state.by_id.begin()->second;
      state.Remove(waiter);
      left.push_back({waiter->command.key, waiter->command.term, ReleaseCommand::kNoGrant});
      state.Answer(*waiter,
                   base::Fault(base::FaultKind::kStopping, "this process is shutting down"),
                   actions);
    }
  }
  for (ReleaseCommand& release : left) state.store.leave(std::move(release));
  State::Run(std::move(actions));
}

}  // namespace tenure::leases
