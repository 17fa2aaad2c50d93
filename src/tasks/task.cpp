#include "tasks/task.hpp"

#include <algorithm>
#include <utility>

#include "base/utf8.hpp"

namespace tenure::tasks {
namespace {

/// A failed run is tried again after a second, then two, four, …, up to a minute; never later than
/// after its interval.
constexpr std::int64_t kFirstRetryMs = 1'000;
constexpr std::int64_t kLongestRetryMs = 60'000;
constexpr int kMaxDoublings = 6;

/// Processes that could not be told of a triggered run find it within this.
constexpr std::int64_t kOfferEveryMs = 5'000;

constexpr std::size_t kMaxKeptErrorBytes = 500;

/// A row as it can be: what no program of ours writes (an interval of 0, a time of no calendar) must
/// neither divide by zero nor overflow.
TaskRow Bounded(TaskRow row) {
  constexpr std::int64_t kLastMs = 253'402'300'799'999;
  constexpr std::int64_t kMostCounted = std::int64_t{1} << 53;
  for (std::int64_t* const time_ms :
       {&row.next_ms, &row.not_before_ms, &row.asked_ms, &row.last_nominal_ms, &row.last_started_ms,
        &row.last_finished_ms})
    *time_ms = std::clamp<std::int64_t>(*time_ms, 0, kLastMs);
  for (std::int64_t* const count : {&row.failures, &row.runs, &row.skipped})
    *count = std::clamp<std::int64_t>(*count, 0, kMostCounted);
  row.interval_ms = std::clamp<std::int64_t>(row.interval_ms, leases::kMinInterval.count(),
                                             leases::kMaxInterval.count());
  return row;
}

std::int64_t RetryMs(std::int64_t failures, std::int64_t interval_ms) {
  const auto doublings = static_cast<int>(std::clamp<std::int64_t>(failures - 1, 0, kMaxDoublings));
  return std::min({kFirstRetryMs << doublings, kLongestRetryMs, interval_ms});
}

}  // namespace

std::int64_t GridBefore(std::int64_t now_ms, std::int64_t interval_ms) {
  return now_ms - now_ms % interval_ms;
}

std::int64_t GridAfter(std::int64_t now_ms, std::int64_t interval_ms) {
  return GridBefore(now_ms, interval_ms) + interval_ms;
}

std::int64_t DueMs(const TaskRow& row) { return std::max(row.next_ms, row.not_before_ms); }

leases::TaskNotDue NotDue(std::int64_t wait_ms) {
  return {leases::Milliseconds(std::clamp<std::int64_t>(wait_ms, 1, kOfferEveryMs))};
}

Schedule::Schedule(TaskKey key, std::optional<TaskRow> row, leases::Ledger& lock,
                   std::int64_t now_ms)
    : key_(std::move(key)),
      is_new_(!row.has_value()),
      row_(row ? Bounded(*std::move(row)) : TaskRow()),
      lock_(lock),
      now_ms_(now_ms) {}

leases::ClaimOutcome Schedule::Claim(const ClaimCommand& command) {
  if (std::exchange(is_new_, false)) {
    row_.next_ms = GridBefore(now_ms_, command.interval_ms);
    changed_ = true;
  }
  if (row_.interval_ms != command.interval_ms) {
    row_.interval_ms = command.interval_ms;
    // A shorter interval takes effect now, not after the old one.
    row_.next_ms = std::min(row_.next_ms, GridAfter(now_ms_, command.interval_ms));
    changed_ = true;
  }
  const bool is_repetition = lock_.IsLive() && lock_.row().term == command.term;
  if (!is_repetition && now_ms_ < DueMs(row_)) return NotDue(DueMs(row_) - now_ms_);

  const bool reclaimed = lock_.row().term && !lock_.IsLive();
  leases::AcquireCommand acquire;
  acquire.key = lock_.key();
  acquire.term = command.term;
  acquire.ttl_ms = command.lock_timeout_ms;
  acquire.holder = command.holder;
  const leases::AcquireOutcome outcome = lock_.Acquire(acquire);
  if (const auto* held = std::get_if<leases::HeldByAnother>(&outcome))
    return NotDue(held->retry_after.count());
  if (std::holds_alternative<leases::TermEnded>(outcome)) return NotDue(1);

  if (!is_repetition) {
    row_.last_started_ms = now_ms_;
    changed_ = true;
  }
  leases::TaskRun run;
  run.lock = std::get<leases::Grant>(outcome);
  run.nominal_ms = row_.next_ms;
  run.skipped = GridTimesSince(row_.next_ms);
  run.reclaimed = reclaimed;
  return run;
}

/// How many grid times have passed since a nominal time: the run stands for them too.
std::int64_t Schedule::GridTimesSince(std::int64_t nominal_ms) const {
  const std::int64_t interval_ms = row_.interval_ms;
  return std::max<std::int64_t>(
      0, (GridBefore(now_ms_, interval_ms) - GridBefore(nominal_ms, interval_ms)) / interval_ms);
}

leases::FinishOutcome Schedule::Finish(const FinishCommand& command) {
  leases::FinishOutcome outcome;
  const auto released = lock_.Release({lock_.key(), command.term, command.fence});
  outcome.accepted = released.released;
  outcome.reason = released.reason;
  outcome.next_ms = row_.next_ms;
  if (!outcome.accepted || is_new_) return outcome;
  row_.last_finished_ms = now_ms_;
  if (command.error) {
    row_.last_error =
        command.error->empty() ? "failed" : base::CutText(*command.error, kMaxKeptErrorBytes);
    ++row_.failures;
    row_.not_before_ms = now_ms_ + RetryMs(row_.failures, row_.interval_ms);
  } else {
    row_.skipped += GridTimesSince(row_.next_ms);
    row_.last_nominal_ms = row_.next_ms;
    row_.next_ms = GridAfter(now_ms_, row_.interval_ms);
    // Asked for while this run went on: one more follows it.
    if (row_.asked_ms != 0) row_.next_ms = std::min(row_.next_ms, row_.asked_ms);
    row_.asked_ms = 0;
    row_.not_before_ms = 0;
    row_.last_error.clear();
    row_.failures = 0;
    ++row_.runs;
  }
  outcome.next_ms = row_.next_ms;
  changed_ = true;
  return outcome;
}

TriggerOutcome Schedule::Trigger() {
  if (is_new_) return {};
  const bool under_way = lock_.IsLive();
  if (under_way)
    row_.asked_ms = now_ms_;
  else
    row_.next_ms = std::min(row_.next_ms, now_ms_);
  row_.not_before_ms = 0;
  changed_ = true;
  return {true, under_way, under_way ? row_.asked_ms : row_.next_ms};
}

}  // namespace tenure::tasks
