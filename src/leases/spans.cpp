#include "leases/spans.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace tenure::leases {
namespace {

using telemetry::Span;

constexpr std::string_view kFence = "lease.fence";

void Lose(Span& span, LossReason reason) {
  span.Set(kSpanResult, fmt::format("lost:{}", ToText(reason)));
}

}  // namespace

void Describe(Span& span, const LeaseKey& key, const base::Uuid& term) {
  if (!span) return;
  span.Set("lease.name", key.name);
  span.Set("lease.id", term.ToString());
}

void Conclude(Span& span, const AcquireOutcome& outcome) {
  if (!span) return;
  if (const auto* grant = std::get_if<Grant>(&outcome)) {
    span.Set(kFence, grant->fence);
    span.Set(kSpanResult, "granted");
  } else if (const auto* held = std::get_if<HeldByAnother>(&outcome)) {
    span.Set(kSpanResult, ToText(held->reason));
  } else {
    Lose(span, std::get<TermEnded>(outcome).reason);
  }
}

void Conclude(Span& span, const RenewOutcome& outcome) {
  if (!span) return;
  if (const auto* grant = std::get_if<Grant>(&outcome)) {
    span.Set(kFence, grant->fence);
    span.Set(kSpanResult, "renewed");
  } else {
    Lose(span, std::get<Loss>(outcome).reason);
  }
}

void Conclude(Span& span, const ReleaseOutcome& outcome) {
  if (!span) return;
  if (outcome.released)
    span.Set(kSpanResult, "released");
  else
    Lose(span, outcome.reason);
}

void Conclude(Span& span, const std::vector<RenewCommand>& commands,
              const std::vector<RenewOutcome>& outcomes) {
  if (!span || outcomes.empty()) return;
  const auto is_lost = [](const RenewOutcome& outcome) {
    return std::holds_alternative<Loss>(outcome);
  };
  const auto first = std::find_if(outcomes.begin(), outcomes.end(), is_lost);
  const auto named =
      first == outcomes.end() ? 0 : static_cast<std::size_t>(first - outcomes.begin());
  span.Set("lease.count", static_cast<std::int64_t>(outcomes.size()));
  span.Set("lease.lost", std::count_if(outcomes.begin(), outcomes.end(), is_lost));
  Describe(span, commands[named].key, commands[named].term);
  Conclude(span, outcomes[named]);
}

}  // namespace tenure::leases
