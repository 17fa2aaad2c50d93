#include "messages/consumers.hpp"

#include <algorithm>
#include <list>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace tenure::messages {
namespace {

using base::Task;

constexpr std::int64_t kUnsettledMs = 50;
constexpr std::int64_t kFirstPollMs = 250;
/// How long a flag lasts by itself, and how much of that must be left.
constexpr std::int64_t kFlagMs = 60'000;
constexpr std::int64_t kFlagLeftMs = 30'000;

/// One that waits.
struct Consumer {
  Consumers::Id id = 0;
  ClaimRequest request{};
  std::int64_t deadline_boot_ms = 0;
  base::Caller caller{};
  Consumers::Callback done{};
  bool asking = false;                // a question is under way
  bool again = false;                 // it was signalled meanwhile
  std::vector<std::string> paused{};  // as the last question found
  wake::Registry::Id timer = 0;
};
using ConsumerPtr = std::shared_ptr<Consumer>;

/// Those who wait for one topic, in order of arrival.
struct Line {
  std::list<ConsumerPtr> waiting{};
  wake::Registry::Id signal = 0;
};

}  // namespace

/// Everything but the constructor's arguments is guarded by `mutex`. Nothing outside is called with
/// it held, except the registry, which calls nobody back inside of its functions.
struct Consumers::State : std::enable_shared_from_this<State> {
  State(Store functions, wake::Registry& registry, const base::Clock& machine_clock,
        std::int64_t poll_max)
      : store(std::move(functions)), wake(registry), clock(machine_clock), poll_max_ms(poll_max) {}

  const Store store;
  wake::Registry& wake;
  const base::Clock& clock;
  const std::int64_t poll_max_ms;

  std::mutex mutex;
  std::map<TopicKey, Line> lines;
  std::unordered_map<Id, ConsumerPtr> by_id;
  Id next_id = 1;
  bool stopped = false;

  // The looks. One at a time: a timer that is set, or a step that is under way.
  wake::Registry::Id poll_timer = 0;
  bool polling = false;
  std::int64_t poll_ms = kFirstPollMs;
  std::map<TopicKey, std::int64_t> flags;  // until when (boot time) others tell us of the topic
  bool settled = true;                     // nobody is under way who may have missed a flag
  std::int64_t noted_xmax = 0;

  /// What to do once the mutex is let go.
  using Actions = std::vector<Task>;
  static void Run(Actions actions) {
    for (Task& action : actions) action();
  }

  // REQUIRES: mutex held, for all of these.
  void Ask(const ConsumerPtr& consumer, Actions& actions);
  void WakeFirst(const TopicKey& topic, std::size_t many, Actions& actions);
  void AwaitSignal(const TopicKey& topic, Line& line);
  void AwaitPoll(std::int64_t in_ms);
  void AwaitDeadline(Consumer& consumer);
  void Remove(const ConsumerPtr& consumer);
  void Answer(Consumer& consumer, db::Result<ClaimReply> result, Actions& actions);
  WatchRequest NeededFlags();

  // REQUIRES: mutex not held.
  void OnAnswer(Id id, const ClaimRequest& asked, db::Result<ClaimReply> result);
  void OnSignal(const TopicKey& topic);
  void OnDeadline(Id id);
  void OnPollDue();
  void OnFlagged(const WatchRequest& request, bool ok);
  void Look();
  void OnSnapshot(const db::Result<WatchReply>& result);
  void GiveBack(const ClaimRequest& asked, const db::Result<ClaimReply>& result) const;
};

void Consumers::State::Ask(const ConsumerPtr& consumer, Actions& actions) {
  if (consumer->asking) {
    consumer->again = true;
    return;
  }
  consumer->asking = true;
  consumer->again = false;
  actions.emplace_back([self = shared_from_this(), id = consumer->id, request = consumer->request,
                        fences = consumer->caller.fences]() mutable {
    auto* const state = self.get();
    state->store.claim(request, std::move(fences),
                       [self = std::move(self), id, request](db::Result<ClaimReply> result) {
                         self->OnAnswer(id, request, std::move(result));
                       });
  });
}

void Consumers::State::WakeFirst(const TopicKey& topic, std::size_t many, Actions& actions) {
  const auto found = lines.find(topic);
  if (found == lines.end()) return;
  for (const ConsumerPtr& consumer : found->second.waiting) {
    if (many-- == 0) return;
    Ask(consumer, actions);
  }
}

void Consumers::State::AwaitSignal(const TopicKey& topic, Line& line) {
  line.signal = wake.Wait(WakeKey(topic.first, topic.second), wake::Registry::kNever,
                          [self = shared_from_this(), topic] { self->OnSignal(topic); });
}

void Consumers::State::AwaitPoll(std::int64_t in_ms) {
  polling = true;
  poll_timer =
      wake.Wait("", clock.BootMs() + in_ms, [self = shared_from_this()] { self->OnPollDue(); });
}

void Consumers::State::AwaitDeadline(Consumer& consumer) {
  consumer.timer =
      wake.Wait("", consumer.deadline_boot_ms,
                [self = shared_from_this(), id = consumer.id] { self->OnDeadline(id); });
}

void Consumers::State::Remove(const ConsumerPtr& consumer) {
  wake.Cancel(consumer->timer);
  by_id.erase(consumer->id);
  for (const std::string& name : consumer->request.topics) {
    const auto found = lines.find({consumer->request.tenant, name});
    found->second.waiting.remove(consumer);
    if (!found->second.waiting.empty()) continue;
    wake.Cancel(found->second.signal);
    lines.erase(found);
  }
  store.count(static_cast<std::int64_t>(by_id.size()));
}

void Consumers::State::Answer(Consumer& consumer, db::Result<ClaimReply> result, Actions& actions) {
  Task answer = [done = std::move(consumer.done), result = std::move(result)]() mutable {
    done(std::move(result));
  };
  if (consumer.caller.home)
    consumer.caller.home->Post(std::move(answer));
  else
    actions.push_back(std::move(answer));
}

void Consumers::State::GiveBack(const ClaimRequest& asked,
                                const db::Result<ClaimReply>& result) const {
  if (!result.ok() || asked.claim_id || result.value().messages.empty()) return;
  ReportRequest request{asked.tenant, Verdict::kUntouched, {}, {}};
  for (const ClaimedMessage& each : result.value().messages)
    request.reports.push_back({each.id, each.fence, {}, {}, {}});
  store.give_back(std::move(request));
}

void Consumers::State::OnAnswer(Id id, const ClaimRequest& asked, db::Result<ClaimReply> result) {
  Actions actions;
  {
    std::unique_lock lock(mutex);
    const auto found = by_id.find(id);
    if (found == by_id.end()) {  // abandoned
      lock.unlock();
      return GiveBack(asked, result);
    }
    const ConsumerPtr consumer = found->second;
    consumer->asking = false;
    const bool empty = result.ok() && result.value().messages.empty();
    if (result.ok()) consumer->paused = result.value().paused;
    if (empty && clock.BootMs() < consumer->deadline_boot_ms) {
      if (consumer->again) Ask(consumer, actions);
      const bool flagged = !store.others_commit || NeededFlags().watch.empty();
      if (!polling || !flagged) {
        if (polling && wake.Cancel(poll_timer)) polling = false;
        if (!polling) AwaitPoll(flagged ? poll_ms : 0);
      }
    } else {
      Remove(consumer);
      if (!empty) poll_ms = kFirstPollMs;
      // There may be more. After a fault somebody else must ask in its place, and so after a signal
      // that came too late for one whose time is over.
      if (!empty || consumer->again)
        for (const std::string& topic : asked.topics) WakeFirst({asked.tenant, topic}, 2, actions);
      Answer(*consumer, std::move(result), actions);
    }
  }
  Run(std::move(actions));
}

void Consumers::State::OnSignal(const TopicKey& topic) {
  Actions actions;
  {
    const std::lock_guard lock(mutex);
    const auto found = lines.find(topic);
    if (found == lines.end() || stopped) return;
    AwaitSignal(topic, found->second);
    WakeFirst(topic, 1, actions);
  }
  Run(std::move(actions));
}

void Consumers::State::OnDeadline(Id id) {
  Actions actions;
  {
    const std::lock_guard lock(mutex);
    const auto found = by_id.find(id);
    if (found == by_id.end()) return;
    const ConsumerPtr consumer = found->second;
    // Everybody is woken when signals may have been missed; its time is not over by that.
    if (clock.BootMs() < consumer->deadline_boot_ms) return AwaitDeadline(*consumer);
    // One whose question is under way is answered with what that brings.
    if (consumer->asking) return;
    Remove(consumer);
    ClaimReply nothing;
    nothing.paused = std::move(consumer->paused);
    Answer(*consumer, std::move(nothing), actions);
  }
  Run(std::move(actions));
}

/// Topics that somebody waits for and others do not know of (for long), and those that nobody waits
/// for any more.
WatchRequest Consumers::State::NeededFlags() {
  WatchRequest request;
  request.for_ms = kFlagMs;
  const std::int64_t now_boot_ms = clock.BootMs();
  for (const auto& [topic, line] : lines) {
    const auto flag = flags.find(topic);
    if (flag == flags.end() || flag->second < now_boot_ms + kFlagLeftMs)
      request.watch.push_back(topic);
  }
  for (const auto& [topic, until] : flags)
    if (!lines.contains(topic)) request.leave.push_back(topic);
  return request;
}

void Consumers::State::OnPollDue() {
  WatchRequest request;
  {
    const std::lock_guard lock(mutex);
    if (stopped) return;
    if (store.others_commit) request = NeededFlags();
    if (by_id.empty() && request.leave.empty()) {
      polling = false;
      return;
    }
  }
  if (request.watch.empty() && request.leave.empty()) return Look();
  auto flags_to_set = request;
  store.watch(std::move(flags_to_set),
              [self = shared_from_this(), request = std::move(request)](
                  const db::Result<WatchReply>& result) { self->OnFlagged(request, result.ok()); });
}

void Consumers::State::OnFlagged(const WatchRequest& request, bool ok) {
  {
    const std::lock_guard lock(mutex);
    if (ok) {
      for (const TopicKey& topic : request.watch)
        if (flags.insert_or_assign(topic, clock.BootMs() + kFlagMs).second) {
          settled = false;
          noted_xmax = 0;
        }
      for (const TopicKey& topic : request.leave) flags.erase(topic);
    }
  }
  Look();
}

/// Asks for everybody, after it was seen which transactions are under way.
void Consumers::State::Look() {
  bool is_settled = true;
  {
    const std::lock_guard lock(mutex);
    is_settled = settled;
  }
  if (is_settled) return OnSnapshot(WatchReply{});  // there is nothing to learn from it
  store.watch({}, [self = shared_from_this()](const db::Result<WatchReply>& result) {
    self->OnSnapshot(result);
  });
}

void Consumers::State::OnSnapshot(const db::Result<WatchReply>& result) {
  Actions actions;
  {
    const std::lock_guard lock(mutex);
    if (stopped) return;
    std::int64_t next_ms = settled ? poll_ms : kUnsettledMs;
    if (!settled && result.ok()) {
      if (noted_xmax == 0)
        noted_xmax = result.value().xmax;
      else
        settled = result.value().xmin >= noted_xmax;
      if (noted_xmax == 0) settled = true;
    } else if (settled) {
      poll_ms = std::min(poll_ms * 2, poll_max_ms);
    }
    for (const auto& [topic, line] : lines) WakeFirst(topic, 1, actions);
    AwaitPoll(std::min(next_ms, poll_max_ms));
  }
  Run(std::move(actions));
}

Consumers::Consumers(Store store, wake::Registry& wake, const base::Clock& clock,
                     std::int64_t poll_max_ms)
    : state_(std::make_shared<State>(std::move(store), wake, clock, poll_max_ms)) {}

Consumers::~Consumers() { Stop(); }

Consumers::Id Consumers::Add(ClaimRequest request, std::int64_t wait_ms, base::Caller caller,
                             Callback done) {
  auto consumer = std::make_shared<Consumer>();
  State::Actions actions;
  {
    const std::lock_guard lock(state_->mutex);
    consumer->id = state_->next_id++;
    consumer->request = std::move(request);
    consumer->deadline_boot_ms = state_->clock.BootMs() + wait_ms;
    consumer->caller = std::move(caller);
    consumer->done = std::move(done);
    if (state_->stopped) {
      state_->Answer(*consumer, base::Fault(base::FaultKind::kStopping, "the server is stopping"),
                     actions);
    } else {
      state_->by_id[consumer->id] = consumer;
      for (const std::string& name : consumer->request.topics) {
        const TopicKey topic{consumer->request.tenant, name};
        Line& line = state_->lines[topic];
        if (line.waiting.empty()) state_->AwaitSignal(topic, line);
        line.waiting.push_back(consumer);
      }
      state_->poll_ms = kFirstPollMs;
      state_->AwaitDeadline(*consumer);
      state_->store.count(static_cast<std::int64_t>(state_->by_id.size()));
      state_->Ask(consumer, actions);
    }
  }
  State::Run(std::move(actions));
  return consumer->id;
}

void Consumers::Abandon(Id id) {
  State::Actions actions;
  {
    const std::lock_guard lock(state_->mutex);
    const auto found = state_->by_id.find(id);
    if (found == state_->by_id.end()) return;
    const ConsumerPtr consumer = found->second;
    const bool was_woken = consumer->again || consumer->asking;
    state_->Remove(consumer);
    // The signal that it was woken for is the next one's.
    if (was_woken)
      for (const std::string& topic : consumer->request.topics)
        state_->WakeFirst({consumer->request.tenant, topic}, 1, actions);
  }
  State::Run(std::move(actions));
}

void Consumers::Stop() {
  State::Actions actions;
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopped = true;
    state_->wake.Cancel(state_->poll_timer);
    while (!state_->by_id.empty()) {
      const ConsumerPtr consumer = state_->by_id.begin()->second;
      state_->Remove(consumer);
      state_->Answer(*consumer, base::Fault(base::FaultKind::kStopping, "the server is stopping"),
                     actions);
    }
  }
  State::Run(std::move(actions));
}

}  // namespace tenure::messages
