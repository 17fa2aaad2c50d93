#include "queues/probe.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <tuple>

#include "base/time_text.hpp"

namespace tenure::queues {
namespace {

constexpr std::size_t kMaxNames = 200;
constexpr std::int64_t kMinuteMs = 60'000;
constexpr std::int64_t kMinutes = 5;
constexpr std::int64_t kMsPerSecond = 1'000;
constexpr std::array<std::int64_t, 7> kDurations{1'000,  5'000,   10'000,   30'000,
                                                 60'000, 300'000, 1'800'000};
constexpr std::array<std::int64_t, 7> kCounts{1, 2, 5, 10, 20, 50, 100};
constexpr std::array<std::string_view, 3> kTimeouts{"lease", "idle", "max_duration"};
constexpr const char* kBot = "bot_name";
constexpr const char* kMessages = "queue_messages_total";
constexpr const char* kDuration = "queue_session_duration";
constexpr const char* kCount = "queue_session_message_count";
constexpr const char* kTimeoutCount = "queue_session_timeouts_total";

/// What stands in a store may have been written by hand.
std::int64_t Bounded(std::int64_t figure) {
  return std::clamp<std::int64_t>(figure, 0, 1'000'000'000'000);
}

/// Which time-out ended it, if one did.
std::optional<std::size_t> TimeoutOf(const EndedTurn& turn) {
  if (turn.end == End::kMaxDuration) return 2;
  if (turn.end != End::kExpired) return std::nullopt;
  return turn.was_idle ? 1 : 0;
}

/// Of the same names in several tenants the sum, or the largest.
class Summed {
 public:
  enum class How { kSum, kMost };
  explicit Summed(How how = How::kSum) : how_(how) {}
  void Add(telemetry::Labels labels, std::int64_t value) {
    std::int64_t& here = by_labels_[std::move(labels)];
    here = how_ == How::kSum ? here + value : std::max(here, value);
  }
  std::vector<std::pair<telemetry::Labels, std::int64_t>> Values() const {
    return {by_labels_.begin(), by_labels_.end()};
  }

 private:
  const How how_;
  std::map<telemetry::Labels, std::int64_t> by_labels_;
};

/// Those with gauges of their own, so that a hundred queues that nobody uses hide none that is used.
std::set<std::string_view> Fullest(std::span<const QueueFigures> queues) {
  std::vector<const QueueFigures*> fullest;
  for (const QueueFigures& each : queues) fullest.push_back(&each);
  std::ranges::stable_sort(fullest, std::greater<>(), &QueueFigures::messages);
  std::set<std::string_view> names;
  for (const QueueFigures* each : fullest)
    if (names.size() < kMaxNames) names.insert(each->name);
  return names;
}

}  // namespace

void Tell(const Effects& effects, wake::Registry& wake, Probe* probe) {
  effects.notifications.Signal(wake);
  if (probe) probe->Done(effects);
}

bool RecordsTraces(const Probe* probe) { return probe && probe->RecordsTraces(); }

Probe::Probe(telemetry::Registry& metrics, telemetry::Tracer* tracer)
    : metrics_(metrics),
      tracer_(tracer),
      handout_(metrics.GetHistogram("queue_handout_seconds",
                                    "From a message's commit to when it was handed out.",
                                    telemetry::LatencyBounds(), telemetry::kMicrosPerSecond)) {
  for (const char* name : {kMessages, kDuration, kCount, kTimeoutCount})
    metrics.ForOperatorsOnly(name);
}

/// What is counted for ever keeps its name, so those that came first have one.
std::string Probe::NameOf(const std::string& queue) {
  if (names_.contains(queue)) return queue;
  if (names_.size() >= kMaxNames) return "other";
  return *names_.insert(queue).first;
}

void Probe::Done(const Effects& effects) {
  for (const std::int64_t ms : effects.handed_ms) handout_.ObserveMs(ms);
  if (RecordsTraces()) {
    for (const EndedTurn& turn : effects.turns) RecordTurn(turn);
    for (const HandledMessage& each : effects.handled) RecordHandling(each);
  }
  if (effects.turns.empty() && effects.moved.empty()) return;
  const base::Lock lock(mutex_);
  for (const EndedTurn& turn : effects.turns) EndTurn(turn);
  for (const auto& [queue, moved] : effects.moved) Move(NameOf(queue), moved);
}

/// From an accept to the end of its hold: a trace of its own, since it spans many deliveries.
void Probe::RecordTurn(const EndedTurn& turn) const {
  telemetry::Span span =
      tracer_->StartAgo("session_lifecycle", std::nullopt, std::max<std::int64_t>(0, turn.ms));
  span.Set("session.id", turn.session);
  span.Set("bot.name", turn.queue);
  span.Set("ordering.scope", ToText(turn.scope));
  span.Set("session.start_time", base::UtcText(turn.at_ms - turn.ms));
  span.Set("session.outcome", ToText(turn.end));
  span.Set("session.messages", turn.messages);
}

/// From the hand-out to the report, below what the message's sender said.
void Probe::RecordHandling(const HandledMessage& message) const {
  const auto parent = telemetry::ParseTraceParent(message.trace);
  if (!parent) return;
  telemetry::Span span = tracer_->StartAgo("message_processing", parent, message.ms);
  span.Set("message.id", message.id.ToString());
  span.Set("message.delivery_count", message.delivery_count);
  span.Set("processing.start_time", base::UtcText(message.at_ms - message.ms));
  span.Set("bot.name", message.queue);
  span.Set("message.result", message.done ? "done" : "failed");
}

void Probe::EndTurn(const EndedTurn& turn) {
  const std::string name = NameOf(turn.queue);
  metrics_
      .GetHistogram(kDuration, "How long turns of sessions lasted, by how they ended.", kDurations,
                    kMsPerSecond,
                    {{kBot, name}, {"session_outcome", std::string(ToText(turn.end))}})
      .Observe(std::clamp<std::int64_t>(turn.ms, 0, kMostMs));
  metrics_
      .GetHistogram(kCount, "Messages that were completed in a turn.", kCounts, 1,
                    {{kBot, name}, {"entity_type", turn.entity}})
      .Observe(std::clamp<std::int64_t>(turn.messages, 0, 1'000'000'000));
  std::deque<Minute>& minutes = minutes_[name];
  const std::int64_t minute = turn.at_ms / kMinuteMs;
  if (minutes.empty() || minutes.back().at != minute) minutes.push_back({minute, 0, {}});
  ++minutes.back().turns;
  const auto timeout = TimeoutOf(turn);
  if (!timeout) return;
  ++minutes.back().timeouts.at(*timeout);
  metrics_
      .GetCounter(kTimeoutCount, "Turns that a time-out ended, by which.",
                  {{kBot, name}, {"timeout_reason", std::string(kTimeouts.at(*timeout))}})
      .Add();
}

void Probe::Move(const std::string& name, const Moved& moved) {
  for (const auto& [outcome, count] :
       {std::pair("sent", moved.sent), std::pair("done", moved.done),
        std::pair("retried", moved.retried), std::pair("parked", moved.parked),
        std::pair("skipped", moved.skipped)})
    if (count > 0)
      metrics_
          .GetCounter(kMessages, "Messages of ordered queues, by what became of them.",
                      {{kBot, name}, {"outcome", outcome}})
          .Add(static_cast<std::uint64_t>(count));
}

void Probe::Counted(const FiguresReply& figures) {
  Summed active, ready, parked, waiting, bytes, over, full, blocked, staged;
  Summed oldest(Summed::How::kMost), taken(Summed::How::kMost);
  Health health;
  const base::Lock lock(mutex_);
  const std::set<std::string_view> shown = Fullest(figures.queues);
  for (const QueueFigures& each : figures.queues) {
    const std::string name = shown.contains(each.name) ? each.name : "other";
    const telemetry::Labels labels{{kBot, name}};
    const std::int64_t held = Bounded(each.held);
    const std::int64_t oldest_s =
        each.oldest_ms > 0
            ? std::clamp<std::int64_t>(figures.now_ms - each.oldest_ms, 0, kMostMs) / kMsPerSecond
            : 0;
    active.Add({{kBot, name}, {"ordering_scope", std::string(ToText(each.scope))}}, held);
    ready.Add(labels, Bounded(each.ready));
    parked.Add(labels, Bounded(each.parked));
    waiting.Add(labels, Bounded(each.messages));
    bytes.Add(labels, Bounded(each.bytes));
    oldest.Add(labels, oldest_s);
    over.Add(labels, each.depth_threshold > 0 && each.messages > each.depth_threshold ? 1 : 0);
    full.Add(labels, each.max_bytes > 0 && each.bytes >= each.max_bytes ? 1 : 0);
    blocked.Add(labels, Bounded(each.older_parked));
    staged.Add(labels, Bounded(each.staged));
    if (each.max_sessions > 0) taken.Add(labels, held * 100 / each.max_sessions);
    health.ready += Bounded(each.ready);
    health.held += held;
    health.parked += Bounded(each.parked);
    health.messages += Bounded(each.messages);
    health.oldest_seconds = std::max(health.oldest_seconds, oldest_s);
  }
  health_ = health;
  const auto show = [&](const char* name, const char* help, const Summed& summed) {
    metrics_.ReplaceGauges(name, help, summed.Values());
  };
  show("queue_active_sessions", "Sessions that somebody holds.", active);
  show("queue_ready_sessions", "Sessions with messages that nobody holds: what to scale by.",
       ready);
  show("queue_parked_sessions", "Sessions that a message has stopped.", parked);
  show("queue_messages", "Messages that are not done.", waiting);
  show("queue_bytes", "Their payloads.", bytes);
  show("queue_oldest_ready_seconds",
       "For how long the head of the session that is next in line has waited.", oldest);
  show("queue_depth_over_threshold", "1: there are more messages than queue_depth_threshold.",
       over);
  show("queue_full", "1: it has its max_size_in_megabytes.", full);
  show("queue_generation_blocked",
       "Parked sessions of an older generation, which the newer one waits for.", blocked);
  show("queue_staged", "Messages of users' transactions that have not entered their sessions.",
       staged);
  show("queue_concurrent_session_utilization", "Places under the cap that are taken, in percent.",
       taken);
  ShowRates(figures.now_ms / kMinuteMs);
}

/// The share of the turns of the last five minutes that each time-out ended, in percent.
void Probe::ShowRates(std::int64_t minute) {
  Gauges rates;
  for (auto& [name, minutes] : minutes_) {
    while (!minutes.empty() && minutes.front().at <= minute - kMinutes) minutes.pop_front();
    std::int64_t turns = 0;
    std::array<std::int64_t, 3> timeouts{};
    for (const Minute& each : minutes) {
      turns += each.turns;
      for (std::size_t i = 0; i < timeouts.size(); ++i) timeouts.at(i) += each.timeouts.at(i);
    }
    for (std::size_t i = 0; i < timeouts.size() && turns > 0; ++i)
      rates.emplace_back(
          telemetry::Labels{{kBot, name}, {"timeout_reason", std::string(kTimeouts.at(i))}},
          timeouts.at(i) * 100 / turns);
  }
  metrics_.ReplaceGauges("queue_session_timeout_rate",
                         "Turns of the last five minutes that a time-out ended, in percent.",
                         rates);
}

Probe::Health Probe::health() const {
  const base::Lock lock(mutex_);
  return health_;
}

}  // namespace tenure::queues
