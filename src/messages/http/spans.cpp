#include "messages/http/spans.hpp"

#include <algorithm>

namespace tenure::messages {
namespace {

using telemetry::Span;

constexpr std::string_view kCount = "message.count";
constexpr std::string_view kTopic = "message.topic";

std::string_view WordOf(Disposition disposition) {
  switch (disposition) {
    case Disposition::kDone:
      return "done";
    case Disposition::kRetry:
      return "failed";
    case Disposition::kDead:
      return "failed-for-good";
    case Disposition::kUntouched:
      return "untouched";
    case Disposition::kExtend:
      return "extended";
  }
  return "";
}

}  // namespace

std::string TraceOf(const http::ExchangePtr& exchange) {
  if (const auto context = exchange->span().context()) return FormatTraceParent(*context);
  const auto header = exchange->request().FindHeader("traceparent");
  if (!header || !telemetry::ParseTraceParent(*header)) return "";
  return std::string(*header);
}

void Conclude(Span& span, const EnqueueReply& reply) {
  if (!span) return;
  const auto duplicates = std::ranges::count_if(reply.messages, &EnqueuedMessage::duplicate);
  const auto all = static_cast<std::int64_t>(reply.messages.size());
  span.Set(kCount, all);
  span.Set(kSpanResult, duplicates == all ? "duplicate" : "enqueued");
  if (all == 1) span.Set("message.id", reply.messages.front().id.ToString());
}

void Conclude(Span& span, const ClaimReply& reply) {
  if (!span) return;
  span.Set(kCount, static_cast<std::int64_t>(reply.messages.size()));
  span.Set(kSpanResult, reply.messages.empty() ? "nothing" : "claimed");
}

void Conclude(Span& span, const SettleReply& reply) {
  if (!span) return;
  const auto count = [&](SettleOutcome outcome) {
    return std::ranges::count(reply.outcomes, outcome);
  };
  span.Set(kCount, static_cast<std::int64_t>(reply.outcomes.size()));
  span.Set("message.stale", count(SettleOutcome::kStale));
  span.Set("message.gone", count(SettleOutcome::kGone));
  span.Set(kSpanResult, count(SettleOutcome::kDone) > 0 ? "done" : "nothing");
}

void RecordHandling(telemetry::Tracer& tracer, Disposition disposition,
                    const SettleResult& result) {
  if (!tracer.enabled()) return;
  for (const Finished& each : result.finished) {
    const auto parent = telemetry::ParseTraceParent(each.trace);
    if (!parent) continue;  // a trace of its own would tell nothing that its request does not
    const std::int64_t took_ms = std::max<std::int64_t>(0, result.now_ms - each.claimed_ms);
    Span span = tracer.StartAgo("Message.Handle", parent, took_ms);
    span.Set(kTopic, each.topic);
    span.Set("message.attempts", each.attempts);
    span.Set(kSpanResult, WordOf(disposition));
  }
}

}  // namespace tenure::messages
