#include "messages/probe.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "base/utf8.hpp"
#include "messages/hold/reap.hpp"
#include "messages/reads.hpp"

namespace tenure::messages {
namespace {

constexpr const char* kReports = "tenure_messages_reports_total";
constexpr const char* kReportsHelp = "What holders said of messages, by what became of it.";
constexpr const char* kStage = "tenure_messages_stage_seconds";
constexpr const char* kStageHelp =
    "Time of a message by stage: wait (ready to claimed), handling (claimed to done), total.";
constexpr const char* kReaped = "tenure_messages_crashes_total";
constexpr const char* kReapedHelp = "Messages whose claim ended without a word, by what followed.";
/// Topics with a gauge of their own, the fullest; the others are in the sum.
constexpr std::size_t kMaxTopicGauges = 200;

telemetry::Histogram& Stage(telemetry::Registry& metrics, const char* stage) {
  return metrics.GetHistogram(kStage, kStageHelp, telemetry::LatencyBounds(),
                              telemetry::kMicrosPerSecond, {{"stage", stage}});
}

}  // namespace

Probe::Probe(telemetry::Registry& metrics, bool show_topics)
    : enqueued_(
          metrics.GetCounter("tenure_messages_enqueued_total", "Messages that were enqueued.")),
      duplicates_(metrics.GetCounter("tenure_messages_duplicates_total",
                                     "Messages that were not enqueued: their key was used.")),
      claimed_(
          metrics.GetCounter("tenure_messages_claimed_total", "Messages that were handed out.")),
      done_(metrics.GetCounter(kReports, kReportsHelp, {{"outcome", "done"}})),
      retried_(metrics.GetCounter(kReports, kReportsHelp, {{"outcome", "retry"}})),
      failed_(metrics.GetCounter(kReports, kReportsHelp, {{"outcome", "failed"}})),
      returned_(metrics.GetCounter(kReports, kReportsHelp, {{"outcome", "untouched"}})),
      stale_(metrics.GetCounter(kReports, kReportsHelp, {{"outcome", "stale"}})),
      gone_(metrics.GetCounter(kReports, kReportsHelp, {{"outcome", "gone"}})),
      crashed_(metrics.GetCounter(kReaped, kReapedHelp, {{"then", "ready"}})),
      crashed_dead_(metrics.GetCounter(kReaped, kReapedHelp, {{"then", "dead"}})),
      promoted_(metrics.GetCounter("tenure_messages_promoted_total",
                                   "Timers and retries whose time came.")),
      wait_(Stage(metrics, "wait")),
      handling_(Stage(metrics, "handling")),
      total_(Stage(metrics, "total")),
      lateness_(
          metrics.GetHistogram("tenure_messages_timer_lateness_seconds",
                               "From when a timer was due to when it was ready; of each batch "
                               "the latest.",
                               telemetry::LatencyBounds(), telemetry::kMicrosPerSecond)),
      waiting_claims_(metrics.GetGauge("tenure_messages_waiting_claims",
                                       "Requests of this process that wait for messages.")),
      ready_(metrics.GetGauge("tenure_messages_ready",
                              "Messages that are ready, counted every minute.")),
      oldest_(metrics.GetGauge("messages_oldest_seconds",
                               "For how long the oldest message of any topic has been ready.")),
      unhandled_(metrics.GetGauge("tenure_messages_unhandled",
                                  "Ready messages of topics that nobody asks for.")),
      delayed_(metrics.GetGauge("tenure_messages_delayed", "Messages that wait for their time.")),
      dead_(metrics.GetGauge("messages_dead", "Dead letters that were not redriven.")),
      metrics_(metrics),
      show_topics_(show_topics) {}

void Probe::Enqueued(const EnqueueRequest&, const EnqueueReply& reply) {
  const auto duplicates = std::count_if(reply.messages.begin(), reply.messages.end(),
                                        [](const auto& each) { return each.duplicate; });
  enqueued_.Add(reply.messages.size() - static_cast<std::size_t>(duplicates));
  duplicates_.Add(static_cast<std::uint64_t>(duplicates));
}

void Probe::Claimed(const ClaimRequest&, const ClaimReply& reply) {
  claimed_.Add(reply.messages.size());
  for (const ClaimedMessage& each : reply.messages)
    wait_.ObserveMs(reply.now_ms - std::max(each.enqueued_ms, each.due_ms));
}

void Probe::Settled(const SettleRequest& request, const SettleReply& reply) {
  for (const SettleOutcome outcome : reply.outcomes) {
    if (outcome == SettleOutcome::kPassedOver) continue;  // counted when it is decided
    if (outcome == SettleOutcome::kStale) {
      stale_.Add();
    } else if (outcome == SettleOutcome::kGone) {
      gone_.Add();
    } else if (request.disposition == Disposition::kDone) {
      done_.Add();
    } else if (request.disposition == Disposition::kRetry) {
      retried_.Add();
    } else if (request.disposition == Disposition::kDead) {
      failed_.Add();
    } else if (request.disposition == Disposition::kUntouched) {
      returned_.Add();
    }
  }
}

void Probe::Handled(std::int64_t handling_ms, std::int64_t total_ms) {
  handling_.ObserveMs(handling_ms);
  total_.ObserveMs(total_ms);
}

void Probe::Promoted(std::int64_t count, std::int64_t late_ms) {
  if (count == 0) return;
  promoted_.Add(static_cast<std::uint64_t>(count));
  lateness_.ObserveMs(late_ms);
}

void Probe::Reaped(const ReapReply& reply) {
  returned_.Add(static_cast<std::uint64_t>(reply.returned));
  crashed_.Add(static_cast<std::uint64_t>(reply.crashed));
  crashed_dead_.Add(static_cast<std::uint64_t>(reply.dead));
}

void Probe::Counted(const CountsReply& counts) {
  std::int64_t ready = 0, oldest_ms = 0, unhandled = 0;
  for (const CountsReply::Topic& topic : counts.topics) {
    ready += topic.ready;
    oldest_ms = std::max(oldest_ms, topic.oldest_age_ms);
    if (topic.unhandled) unhandled += topic.ready;
  }
  if (show_topics_) ShowTopics(counts);
  ready_.Set(ready);
  oldest_.Set(oldest_ms / 1'000);
  unhandled_.Set(unhandled);
  delayed_.Set(counts.waiting);
  dead_.Set(counts.dead);
}

void Probe::ShowTopics(const CountsReply& counts) {
  std::vector<const CountsReply::Topic*> fullest;
  for (const CountsReply::Topic& topic : counts.topics) fullest.push_back(&topic);
  const std::size_t shown = std::min(fullest.size(), kMaxTopicGauges);
  std::partial_sort(fullest.begin(), fullest.begin() + static_cast<std::ptrdiff_t>(shown),
                    fullest.end(),
                    [](const auto* a, const auto* b) { return a->ready > b->ready; });
  std::vector<std::pair<telemetry::Labels, std::int64_t>> gauges;
  for (const CountsReply::Topic* topic : std::span(fullest).first(shown))
    gauges.emplace_back(telemetry::Labels{{"tenant", base::Printable(topic->tenant)},
                                          {"topic", base::Printable(topic->name)}},
                        topic->ready);
  metrics_.ReplaceGauges("tenure_messages_topic_ready",
                         "Ready messages by topic, of the 200 topics that have most.", gauges);
}

Figures Probe::figures() const {
  return {.ready = ready_.value(),
          .delayed = delayed_.value(),
          .dead = dead_.value(),
          .unhandled = unhandled_.value(),
          .oldest_seconds = oldest_.value(),
          .waiting_claims = waiting_claims_.value()};
}

}  // namespace tenure::messages
