#include "messages/probe.hpp"

#include <algorithm>

#include "messages/look.hpp"
#include "messages/upkeep.hpp"

namespace tenure::messages {
namespace {

constexpr const char* kReports = "messages_reports_total";
constexpr const char* kReportsHelp = "What holders said of messages, by what became of it.";
constexpr const char* kStage = "messages_stage_seconds";
constexpr const char* kStageHelp =
    "Time of a message by stage: wait (ready to claimed), handling (claimed to done), total.";
constexpr const char* kReaped = "messages_crashes_total";
constexpr const char* kReapedHelp = "Messages whose claim ended without a word, by what followed.";
/// Topics with a gauge of their own; the others are in the sum.
constexpr std::size_t kMaxTopicGauges = 200;

telemetry::Histogram& Stage(telemetry::Registry& metrics, const char* stage) {
  return metrics.GetHistogram(kStage, kStageHelp, telemetry::LatencyBounds(),
                              telemetry::kMicrosPerSecond, {{"stage", stage}});
}

}  // namespace

Probe::Probe(telemetry::Registry& metrics)
    : enqueued_(metrics.GetCounter("messages_enqueued_total", "Messages that were enqueued.")),
      duplicates_(metrics.GetCounter("messages_duplicates_total",
                                     "Messages that were not enqueued: their key was used.")),
      claimed_(metrics.GetCounter("messages_claimed_total", "Messages that were handed out.")),
      done_(metrics.GetCounter(kReports, kReportsHelp, {{"outcome", "done"}})),
      retried_(metrics.GetCounter(kReports, kReportsHelp, {{"outcome", "retry"}})),
      failed_(metrics.GetCounter(kReports, kReportsHelp, {{"outcome", "failed"}})),
      returned_(metrics.GetCounter(kReports, kReportsHelp, {{"outcome", "untouched"}})),
      stale_(metrics.GetCounter(kReports, kReportsHelp, {{"outcome", "stale"}})),
      gone_(metrics.GetCounter(kReports, kReportsHelp, {{"outcome", "gone"}})),
      crashed_(metrics.GetCounter(kReaped, kReapedHelp, {{"then", "ready"}})),
      crashed_dead_(metrics.GetCounter(kReaped, kReapedHelp, {{"then", "dead"}})),
      promoted_(
          metrics.GetCounter("messages_promoted_total", "Timers and retries whose time came.")),
      wait_(Stage(metrics, "wait")),
      handling_(Stage(metrics, "handling")),
      total_(Stage(metrics, "total")),
      lateness_(
          metrics.GetHistogram("messages_timer_lateness_seconds",
                               "From when a timer was due to when it was ready; of each batch "
                               "the latest.",
                               telemetry::LatencyBounds(), telemetry::kMicrosPerSecond)),
      waiting_claims_(metrics.GetGauge("messages_waiting_claims",
                                       "Requests of this process that wait for messages.")),
      ready_(metrics.GetGauge("messages_ready", "Messages that are ready, counted every minute.")),
      oldest_(metrics.GetGauge("messages_oldest_seconds",
                               "For how long the oldest message of any topic has been ready.")),
      unhandled_(
          metrics.GetGauge("messages_unhandled", "Ready messages of topics that nobody asks for.")),
      delayed_(metrics.GetGauge("messages_delayed", "Messages that wait for their time.")),
      dead_(metrics.GetGauge("messages_dead", "Dead letters that were not redriven.")),
      metrics_(metrics) {}

void Probe::Enqueued(const EnqueueRequest&, const EnqueueReply& reply) {
  const auto duplicates = std::count_if(reply.messages.begin(), reply.messages.end(),
                                        [](const auto& each) { return each.duplicate; });
  enqueued_.Add(reply.messages.size() - static_cast<std::size_t>(duplicates));
  duplicates_.Add(static_cast<std::uint64_t>(duplicates));
}

void Probe::Claimed(const ClaimRequest&, const ClaimReply& reply) {
  claimed_.Add(reply.messages.size());
  for (const ClaimedMessage& each : reply.messages)
    wait_.Observe(
        std::max<std::int64_t>(0, reply.now_ms - std::max(each.enqueued_ms, each.due_ms)) * 1'000);
}

void Probe::Reported(const ReportRequest& request, const ReportReply& reply) {
  for (const ReportOutcome outcome : reply.outcomes) {
    if (outcome == ReportOutcome::kPassedOver) continue;  // counted when it is decided
    if (outcome == ReportOutcome::kStale) {
      stale_.Add();
    } else if (outcome == ReportOutcome::kGone) {
      gone_.Add();
    } else if (request.verdict == Verdict::kDone) {
      done_.Add();
    } else if (request.verdict == Verdict::kRetry) {
      retried_.Add();
    } else if (request.verdict == Verdict::kDead) {
      failed_.Add();
    } else if (request.verdict == Verdict::kUntouched) {
      returned_.Add();
    }
  }
}

void Probe::Handled(std::int64_t handling_ms, std::int64_t total_ms) {
  handling_.Observe(std::max<std::int64_t>(0, handling_ms) * 1'000);
  total_.Observe(std::max<std::int64_t>(0, total_ms) * 1'000);
}

void Probe::Promoted(std::int64_t count, std::int64_t late_ms) {
  if (count == 0) return;
  promoted_.Add(static_cast<std::uint64_t>(count));
  lateness_.Observe(late_ms * 1'000);
}

void Probe::Reaped(const ReapReply& reply) {
  returned_.Add(static_cast<std::uint64_t>(reply.returned));
  crashed_.Add(static_cast<std::uint64_t>(reply.crashed));
  crashed_dead_.Add(static_cast<std::uint64_t>(reply.dead));
}

void Probe::Counted(const CountsReply& counts) {
  std::int64_t ready = 0, oldest_ms = 0, unhandled = 0;
  const std::lock_guard lock(mutex_);
  for (auto& [topic, gauge] : by_topic_) gauge->Set(0);
  for (const CountsReply::Topic& topic : counts.topics) {
    ready += topic.ready;
    oldest_ms = std::max(oldest_ms, topic.oldest_age_ms);
    if (topic.unhandled) unhandled += topic.ready;
    auto found = by_topic_.find({topic.tenant, topic.name});
    if (found == by_topic_.end()) {
      if (by_topic_.size() >= kMaxTopicGauges) continue;
      auto& gauge = metrics_.GetGauge("messages_topic_ready",
                                      "Ready messages by topic, for the first 200 topics.",
                                      {{"tenant", topic.tenant}, {"topic", topic.name}});
      found = by_topic_.emplace(std::pair(topic.tenant, topic.name), &gauge).first;
    }
    found->second->Set(topic.ready);
  }
  ready_.Set(ready);
  oldest_.Set(oldest_ms / 1'000);
  unhandled_.Set(unhandled);
  delayed_.Set(counts.waiting);
  dead_.Set(counts.dead);
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
