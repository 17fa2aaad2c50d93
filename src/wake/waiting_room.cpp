#include "wake/waiting_room.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "base/mutex.hpp"
#include "wake/poller.hpp"

namespace tenure::wake {
namespace {

using base::Fault;
using base::FaultKind;
using Id = WaitingRoom::Id;
using Answer = Waiter::Answer;

/// What the room knows of a waiter.
struct Standing {
  std::shared_ptr<Waiter> waiter;
  std::int64_t deadline_boot_ms = 0;
  std::int64_t ask_at_boot_ms = Registry::kNever;
  Registry::Id timer = 0;
  std::int64_t timer_boot_ms = Registry::kNever;
  bool asking = false;  // a question is under way
  bool last = false;    // and it is the last one
  bool again = false;   // it was woken meanwhile
  Backoff backoff{};
};

/// Those who wait for one key. Ids rise: they stand in order of arrival.
struct Line {
  std::set<Id> ids{};
  Registry::Id signal = 0;
};

/// What to do once the mutex is let go.
using Actions = std::vector<base::Task>;

void Run(Actions actions) {
  for (base::Task& action : actions) action();
}

void Finish(const std::shared_ptr<Waiter>& waiter, std::optional<Fault> fault, Actions& actions) {
  base::Task finish = [waiter, fault = std::move(fault)] {
    waiter->Finish(fault ? &*fault : nullptr);
  };
  base::Executor* const home = waiter->place().home;
  if (!home) return actions.push_back(std::move(finish));
  actions.emplace_back(
      [home, finish = std::move(finish)]() mutable { home->Post(std::move(finish)); });
}

}  // namespace

struct WaitingRoom::State final : std::enable_shared_from_this<State>, Poller::Work {
  State(Registry& the_registry, const base::Clock& the_clock, Policy& the_policy,
        Options the_options)
      : registry(the_registry),
        clock(the_clock),
        policy(the_policy),
        options(std::move(the_options)) {}

  Registry& registry;
  const base::Clock& clock;
  Policy& policy;
  const Options options;

  base::Mutex mutex;
  // Made with the first waiter: before, a signal would find a room and a policy half built.
  std::optional<Poller> poller TENURE_GUARDED_BY(mutex);
  using Standings = std::map<Id, Standing>;
  Standings standings TENURE_GUARDED_BY(mutex);
  std::map<std::string, Line, std::less<>> lines TENURE_GUARDED_BY(mutex);
  std::unordered_map<std::string, std::set<Id>> tickets TENURE_GUARDED_BY(mutex);
  Id next_id TENURE_GUARDED_BY(mutex) = 1;
  bool stopped TENURE_GUARDED_BY(mutex) = false;
  std::deque<std::shared_ptr<Waiter>> leaving
      TENURE_GUARDED_BY(mutex);  // those who have not begun to leave the store
  std::size_t leaves_under_way TENURE_GUARDED_BY(mutex) = 0;
  // Somebody is in BeginLeaves, and goes on for everybody.
  bool begins_leaves TENURE_GUARDED_BY(mutex) = false;

  bool IsFull(const Waiter& waiter) const TENURE_REQUIRES(mutex) {
    const auto& keys = waiter.place().keys;
    const auto added = std::count_if(keys.begin(), keys.end(), [&](const std::string& key) {
      mutex.AssertHeld();
      return !lines.contains(key);
    });
    return lines.size() + static_cast<std::size_t>(added) > options.max_keys;
  }
  void Enter(Id id, Standing standing) TENURE_REQUIRES(mutex) {
    if (!poller) poller.emplace(registry, clock, options.look_key, *this);
    const Waiter::Place& place = standing.waiter->place();
    for (const std::string& key : place.keys) {
      Line& line = lines[key];
      if (line.ids.empty()) AwaitSignal(key, line);
      line.ids.insert(id);
    }
    if (!place.ticket.empty()) tickets[place.ticket].insert(id);
    SetTimer(id, standings[id] = std::move(standing));
    policy.Counted(static_cast<std::int64_t>(standings.size()));
  }
  /// Takes it out. `heirs` of each of its lines ask now.
  std::shared_ptr<Waiter> Remove(Standings::iterator found, std::size_t heirs, Actions& actions)
      TENURE_REQUIRES(mutex) {
    const auto [id, standing] = std::move(*found);
    standings.erase(found);
    registry.Cancel(standing.timer);
    const Waiter::Place& place = standing.waiter->place();
    if (const auto twins = tickets.find(place.ticket); twins != tickets.end()) {
      twins->second.erase(id);
      if (twins->second.empty()) tickets.erase(twins);
    }
    std::set<Id> asking;
    for (const std::string& key : place.keys) {
      const auto line = lines.find(key);
      auto& ids = line->second.ids;
      const bool was_first = *ids.begin() == id;
      ids.erase(id);
      if (ids.empty()) {
        registry.Cancel(line->second.signal);
        lines.erase(line);
        continue;
      }
      if (was_first) AskBy(*ids.begin(), standing.ask_at_boot_ms);
      const auto end =
          std::next(ids.begin(), static_cast<std::ptrdiff_t>(std::min(heirs, ids.size())));
      asking.insert(ids.begin(), end);
    }
    AskAll(asking, actions);
    policy.Counted(static_cast<std::int64_t>(standings.size()));
    return standing.waiter;
  }
  bool IsFirst(Id id, const Waiter& waiter) const TENURE_REQUIRES(mutex) {
    const auto& keys = waiter.place().keys;
    return std::any_of(keys.begin(), keys.end(), [&](const std::string& key) {
      mutex.AssertHeld();
      return *lines.find(key)->second.ids.begin() == id;
    });
  }
  bool HasTwin(const Waiter& waiter) const TENURE_REQUIRES(mutex) {
    return tickets.contains(waiter.place().ticket);
  }
  void AwaitSignal(const std::string& key, Line& line) TENURE_REQUIRES(mutex) {
    line.signal = registry.Wait(key, Registry::kNever,
                                [self = shared_from_this(), key] { self->OnSignal(key); });
  }
  void SetTimer(Id id, Standing& standing) TENURE_REQUIRES(mutex) {
    const std::int64_t boot_ms = std::min(standing.deadline_boot_ms, standing.ask_at_boot_ms);
    if (standing.timer_boot_ms == boot_ms) return;
    registry.Cancel(standing.timer);
    standing.timer_boot_ms = boot_ms;
    standing.timer =
        registry.Wait("", boot_ms, [self = shared_from_this(), id] { self->OnTimer(id); });
  }
  void AskBy(Id id, std::int64_t boot_ms) TENURE_REQUIRES(mutex) {
    Standing& standing = standings.at(id);
    if (boot_ms >= standing.ask_at_boot_ms) return;
    standing.ask_at_boot_ms = boot_ms;
    SetTimer(id, standing);
  }
  void Ask(Id id, Actions& actions) TENURE_REQUIRES(mutex) {
    Standing& standing = standings.at(id);
    standing.ask_at_boot_ms = Registry::kNever;
    standing.again = standing.asking;
    if (std::exchange(standing.asking, true)) return;
    standing.last = clock.BootMs() >= standing.deadline_boot_ms;
    actions.emplace_back(
        [self = shared_from_this(), id, waiter = standing.waiter, last = standing.last]() mutable {
          Waiter& asked = *waiter;
          asked.Ask(last, [self = std::move(self), id, waiter = std::move(waiter)](
                              const Answer& answer) { self->OnAnswer(id, *waiter, answer); });
        });
  }
  void AskAll(const std::set<Id>& ids, Actions& actions) TENURE_REQUIRES(mutex) {
    for (const Id id : ids) Ask(id, actions);
  }
  void WaitOn(Id id, Standing& standing, const Answer& answer, Actions& actions)
      TENURE_REQUIRES(mutex) {
    if (answer.look_in_ms) poller->PollWithin(*answer.look_in_ms);
    if (standing.again) return Ask(id, actions);
    // Whoever stands behind another one asks when that one has gone.
    if (IsFirst(id, *standing.waiter)) {
      const std::int64_t now_boot_ms = clock.BootMs();
      if (answer.ask_in_ms) AskBy(id, now_boot_ms + *answer.ask_in_ms);
      if (answer.kind == Answer::Kind::kLocked) AskBy(id, now_boot_ms + standing.backoff.NextMs());
    }
    if (answer.kind == Answer::Kind::kNotYet) standing.backoff.Reset();
  }
  void End(Standings::iterator found, const Answer& answer, Actions& actions)
      TENURE_REQUIRES(mutex) {
    Standing& standing = found->second;
    if (answer.ask_in_ms) standing.ask_at_boot_ms = clock.BootMs() + *answer.ask_in_ms;
    const std::size_t heirs = std::max<std::size_t>(answer.successors, standing.again ? 1 : 0);
    Finish(standing.waiter, std::nullopt, actions);
    const auto waiter = Remove(found, heirs, actions);
    // What was given to a ticket is for everybody who has it.
    if (const auto twins = tickets.find(waiter->place().ticket); twins != tickets.end())
      AskAll(twins->second, actions);
  }
  void TimeIsOver(Standings::iterator found, const Answer& answer, Actions& actions)
      TENURE_REQUIRES(mutex) {
    const Standing& standing = found->second;
    if (standing.waiter->asks_last() && !standing.last) return Ask(found->first, actions);
    End(found, answer, actions);
  }

  /// A leave that ends at once comes back here: the one who is here already goes on, so nothing
  /// grows with the number of those who leave.
  void BeginLeaves() TENURE_EXCLUDES(mutex) {
    base::Lock lock(mutex);
    if (std::exchange(begins_leaves, true)) return;
    while (!leaving.empty() && leaves_under_way < kMaxLeaving) {
      const auto waiter = std::move(leaving.front());
      leaving.pop_front();
      if (HasTwin(*waiter)) continue;  // it has come back meanwhile, and has its place again
      ++leaves_under_way;
      lock.unlock();
      waiter->Leave([self = shared_from_this()] { self->OnLeft(); });
      lock.lock();
    }
    begins_leaves = false;
  }
  void OnLeft() TENURE_EXCLUDES(mutex) {
    {
      const base::Lock lock(mutex);
      --leaves_under_way;
    }
    BeginLeaves();
  }
  void Poll(Poller::Cause cause, base::UniqueFunction<Poller::Next> done) override {
    policy.Look(cause,
                [self = shared_from_this(), done = std::move(done)](const Found& found) mutable {
                  self->OnFound(found);
                  done(found.next);
                });
  }
  void OnFound(const Found& found) TENURE_EXCLUDES(mutex) {
    Actions actions;
    {
      const base::Lock lock(mutex);
      std::set<Id> asking;  // one may be the first of many lines
      for (const std::string& key : found.keys)
        if (const auto line = lines.find(key); line != lines.end())
          asking.insert(*line->second.ids.begin());
      if (found.everybody)
        for (const auto& [key, line] : lines) asking.insert(*line.ids.begin());
      AskAll(asking, actions);
    }
    Run(std::move(actions));
  }
  void OnSignal(const std::string& key) TENURE_EXCLUDES(mutex) {
    Actions actions;
    {
      const base::Lock lock(mutex);
      const auto line = lines.find(key);
      if (line == lines.end()) return;
      AwaitSignal(key, line->second);
      const Id first = *line->second.ids.begin();
      standings.at(first).backoff.Reset();
      Ask(first, actions);
    }
    Run(std::move(actions));
  }
  void OnTimer(Id id) TENURE_EXCLUDES(mutex) {
    Actions actions;
    {
      const base::Lock lock(mutex);
      const auto found = standings.find(id);
      if (found == standings.end()) return;
      Standing& standing = found->second;
      standing.timer_boot_ms = Registry::kNever;
      const std::int64_t now_boot_ms = clock.BootMs();
      if (now_boot_ms >= standing.deadline_boot_ms) {
        // The answer to a question that is under way sees that the time is over.
        if (!standing.asking) TimeIsOver(found, {}, actions);
      } else {
        if (now_boot_ms >= standing.ask_at_boot_ms) Ask(id, actions);
        SetTimer(id, standing);
      }
    }
    Run(std::move(actions));
  }
  void OnAnswer(Id id, Waiter& waiter, const Answer& answer) TENURE_EXCLUDES(mutex) {
    Actions actions;
    {
      const base::Lock lock(mutex);
      const auto found = standings.find(id);
      if (found == standings.end()) {
        actions.emplace_back([&waiter] { waiter.GiveBack(); });
      } else {
        found->second.asking = false;
        if (answer.kind == Answer::Kind::kEnd)
          End(found, answer, actions);
        else if (clock.BootMs() >= found->second.deadline_boot_ms)
          TimeIsOver(found, answer, actions);
        else
          WaitOn(id, found->second, answer, actions);
      }
    }
    Run(std::move(actions));
  }
};

WaitingRoom::WaitingRoom(Registry& registry, const base::Clock& clock, Policy& policy,
                         Options options)
    : state_(std::make_shared<State>(registry, clock, policy, std::move(options))) {}

Id WaitingRoom::Add(std::shared_ptr<Waiter> waiter, std::int64_t wait_ms) {
  Actions actions;
  Id id = 0;
  {
    const base::Lock lock(state_->mutex);
    id = state_->next_id++;
    if (state_->stopped) {
      Finish(waiter, Fault(FaultKind::kStopping, "this process is shutting down"), actions);
    } else if (state_->IsFull(*waiter)) {
      Finish(waiter, Fault(FaultKind::kOverloaded, "too much is waited for in this process"),
             actions);
    } else {
      Standing standing{std::move(waiter)};
      standing.deadline_boot_ms = state_->clock.BootMs() + wait_ms;
      state_->Enter(id, std::move(standing));
      state_->Ask(id, actions);
    }
  }
  Run(std::move(actions));
  return id;
}

void WaitingRoom::Abandon(Id id) {
  Actions actions;
  {
    const base::Lock lock(state_->mutex);
    const auto found = state_->standings.find(id);
    if (found == state_->standings.end()) return;
    const auto waiter = state_->Remove(found, found->second.asking ? 1 : 0, actions);
    if (!state_->HasTwin(*waiter)) state_->leaving.push_back(waiter);
  }
  state_->BeginLeaves();
  Run(std::move(actions));
}

void WaitingRoom::Stop() {
  Actions answers;
  {
    const base::Lock lock(state_->mutex);
    state_->stopped = true;
    if (state_->poller) state_->poller->Stop();
    while (!state_->standings.empty()) {
      const auto waiter = state_->Remove(state_->standings.begin(), 0, answers);
      if (!state_->HasTwin(*waiter)) state_->leaving.push_back(waiter);
      Finish(waiter, Fault(FaultKind::kStopping, "this process is shutting down"), answers);
    }
  }
  state_->BeginLeaves();
  Run(std::move(answers));
}

std::vector<WaitingRoom::WaiterPtr> WaitingRoom::Waiting() const {
  const base::Lock lock(state_->mutex);
  std::vector<WaiterPtr> all;
  all.reserve(state_->standings.size());
  for (const auto& [id, standing] : state_->standings) all.push_back(standing.waiter);
  return all;
}

std::vector<std::pair<std::string, WaitingRoom::WaiterPtr>> WaitingRoom::Firsts() const {
  const base::Lock lock(state_->mutex);
  std::vector<std::pair<std::string, WaiterPtr>> firsts;
  firsts.reserve(state_->lines.size());
  for (const auto& [key, line] : state_->lines)
    firsts.emplace_back(key, state_->standings.at(*line.ids.begin()).waiter);
  return firsts;
}

}  // namespace tenure::wake
