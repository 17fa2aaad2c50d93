#include "jobs/ledger.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/random_bits.hpp"

namespace tenure::jobs {
namespace {

/// Who cannot read a job's zone leaves it to others for so long.
constexpr std::int64_t kLookAgainMs = 1'000;

/// A row as it can be: what no program of ours writes (a priority of a million, a jitter of a
/// century) must not overflow.
JobRow BoundedRow(JobRow row) {
  Definition& definition = row.definition;
  row.revision = std::clamp<std::int64_t>(row.revision, 0, std::int64_t{1} << 62);
  definition.priority = std::clamp(definition.priority, 0, messages::kPriorities - 1);
  definition.every_ms = std::clamp<std::int64_t>(definition.every_ms, 0, kMaxEveryMs);
  definition.jitter_ms = std::clamp<std::int64_t>(definition.jitter_ms, 0, kMaxJitterMs);
  definition.missed_window_ms =
      std::clamp<std::int64_t>(definition.missed_window_ms, 0, kMaxMissedWindowMs);
  definition.missed_cap = std::clamp<std::int64_t>(definition.missed_cap, 0, kMaxMissedCap);
  for (std::int64_t* const time_ms :
       {&definition.starts_ms, &definition.ends_ms, &row.created_ms, &row.changed_ms, &row.since_ms,
        &row.next_ms, &row.look_ms, &row.paused_ms, &row.paused_until_ms})
    *time_ms = std::clamp<std::int64_t>(*time_ms, 0, std::numeric_limits<std::int64_t>::max() / 4);
  return row;
}

}  // namespace

Ledger::Ledger(JobRow row, const LiveRuns& live, std::optional<Times> times, const Rules& rules,
               std::int64_t now_ms)
    : row_(BoundedRow(std::move(row))),
      live_(live),
      times_(times),
      rules_(rules),
      now_ms_(now_ms) {}

/// Jobs that are made one after another are to be spread as any others.
std::int64_t Ledger::DelayMs() const {
  return static_cast<std::int64_t>(base::RandomBitsOf(row_.id) %
                                   (static_cast<std::uint64_t>(row_.definition.jitter_ms) + 1));
}

void Ledger::Begin(Origin origin) {
  row_.origin = origin;
  row_.revision = 1;
  row_.created_ms = row_.changed_ms = row_.since_ms = now_ms_;
  SetNext(now_ms_);
  SetLook();
}

void Ledger::BelongTo(Origin origin) {
  row_.origin = origin;
  ++row_.revision;
}

void Ledger::Fire(std::size_t most) {
  made_ = 0;
  std::int64_t pause_end_ms = 0;
  if (IsPaused() && row_.paused_until_ms > 0 && row_.paused_until_ms <= now_ms_) {
    pause_end_ms = row_.paused_until_ms;
    row_.paused_ms = row_.paused_until_ms = 0;
    row_.paused_reason.clear();
  }
  if (!IsPaused()) FireDue(pause_end_ms, most);
  SetLook();
}

/// A time fires `DelayMs` after itself. Those of a pause, and those that fire later than
/// `missed_after_ms`, are missed; they come before the others.
void Ledger::FireDue(std::int64_t pause_end_ms, std::size_t most) {
  if (row_.next_ms == 0) return;
  if (!row_.definition.enabled) {
    row_.next_ms = 0;
    return;
  }
  if (!times_) return;
  const std::int64_t from_ms = row_.next_ms;
  const std::int64_t to_ms = now_ms_ - DelayMs() + 1;
  if (from_ms >= to_ms) return;
  const std::int64_t late_from_ms = std::clamp(
      std::max(now_ms_ - rules_.missed_after_ms, pause_end_ms) - DelayMs(), from_ms, to_ms);
  auto stopped_ms = FireMissed(from_ms, late_from_ms, most);
  if (!stopped_ms) stopped_ms = FireEach(times_->List(late_from_ms, to_ms, most + 1), most);
  SetNext(stopped_ms.value_or(to_ms));
}

std::optional<std::int64_t> Ledger::FireMissed(std::int64_t from_ms, std::int64_t to_ms,
                                               std::size_t most) {
  if (from_ms >= to_ms) return std::nullopt;
  std::vector<calendar::Occurrence> fire;
  switch (row_.definition.missed) {
    case Missed::kSkip:
      break;
    case Missed::kOnce:
      fire = times_->Last(from_ms, to_ms, 1);
      break;
    case Missed::kAll:
      fire = times_->Last(std::max(from_ms, now_ms_ - DelayMs() - row_.definition.missed_window_ms),
                          to_ms, static_cast<std::size_t>(row_.definition.missed_cap));
      break;
  }
  NoteMissed(from_ms, fire.empty() ? to_ms : fire.front().time_ms);
  return FireEach(fire, most);
}

std::optional<std::int64_t> Ledger::FireEach(const std::vector<calendar::Occurrence>& due,
                                             std::size_t most) {
  for (const calendar::Occurrence& each : due) {
    if (made_ >= most) return each.time_ms;
    Make(each.time_ms);
  }
  return std::nullopt;
}

void Ledger::NoteMissed(std::int64_t from_ms, std::int64_t to_ms) {
  const auto had = std::distance(ahead_.lower_bound(from_ms), ahead_.lower_bound(to_ms));
  const std::int64_t number = times_->Count(from_ms, to_ms) - had;
  if (number <= 0) return;
  NewRun note;
  note.id = base::Uuid::V7(now_ms_);
  note.nominal_ms = times_->Last(from_ms, to_ms, 1).front().time_ms;
  note.state = RunState::kSkipped;
  note.reason = SkipReason::kMissed;
  note.first_ms = times_->List(from_ms, to_ms, 1).front().time_ms;
  note.number = number;
  runs_.push_back(std::move(note));
}

/// One time of the schedule, by `overlap`.
void Ledger::Make(std::int64_t nominal_ms) {
  if (ahead_.contains(nominal_ms)) return;
  ++made_;
  const bool is_free = !live_.latest && !live_.has_waiting;
  if (row_.definition.overlap == Overlap::kAllow || is_free) {
    live_.latest = MakeRun(nominal_ms, RunKind::kSchedule, RunState::kLive);
    live_.is_locked = true;
    return;
  }
  if (row_.definition.overlap == Overlap::kQueueOne && !live_.has_waiting) {
    MakeRun(nominal_ms, RunKind::kSchedule, RunState::kWaiting);
    live_.has_waiting = true;
    must_look_soon_ |= !live_.is_locked;
    return;
  }
  NewRun note;
  note.id = base::Uuid::V7(now_ms_);
  note.nominal_ms = note.first_ms = nominal_ms;
  note.state = RunState::kSkipped;
  note.reason = SkipReason::kOverlap;
  note.blocker = live_.latest;
  note.number = 1;
  runs_.push_back(std::move(note));
}

base::Uuid Ledger::MakeRun(std::int64_t nominal_ms, RunKind kind, RunState state) {
  NewRun run;
  run.id = base::Uuid::V7(now_ms_);
  run.nominal_ms = nominal_ms;
  run.kind = kind;
  run.state = state;
  if (state == RunState::kWaiting) run.blocker = live_.latest;
  runs_.push_back(run);
  return run.id;
}

bool Ledger::Change(Definition definition, std::optional<Times> times) {
  if (definition == row_.definition) return false;
  Fire();
  const bool other_times =
      !definition.HasTimesOf(row_.definition) || definition.enabled != row_.definition.enabled;
  row_.definition = std::move(definition);
  times_ = times;
  ++row_.revision;
  row_.changed_ms = now_ms_;
  if (other_times) {
    // This instant was the former schedule's.
    row_.since_ms = now_ms_ + 1;
    SetNext(row_.since_ms);
  }
  SetLook();
  return true;
}

void Ledger::Pause(std::string reason, std::int64_t until_ms) {
  Fire();
  if (!IsPaused()) row_.paused_ms = now_ms_;
  row_.paused_until_ms = until_ms;
  row_.paused_reason = std::move(reason);
  SetLook();
}

bool Ledger::Resume(std::size_t most) {
  Fire();
  if (!IsPaused()) return false;
  row_.paused_ms = row_.paused_until_ms = 0;
  row_.paused_reason.clear();
  made_ = 0;
  FireDue(now_ms_, most);
  SetLook();
  return true;
}

base::Uuid Ledger::Trigger(std::optional<std::string> payload) {
  Fire();
  const base::Uuid id = MakeRun(now_ms_, RunKind::kTrigger, RunState::kLive);
  runs_.back().payload = std::move(payload);
  live_.latest = id;
  live_.is_locked = true;
  return id;
}

Ledger::Backfilled Ledger::Backfill(std::int64_t from_ms, std::int64_t to_ms,
                                    const std::set<std::int64_t>& had) {
  Fire();
  Backfilled answer;
  if (!times_) return answer;
  std::set<std::int64_t> known = had;
  for (const NewRun& each : runs_)
    if (each.state != RunState::kSkipped && each.kind != RunKind::kTrigger)
      known.insert(each.nominal_ms);
  for (const calendar::Occurrence& each :
       times_->List(from_ms, to_ms, static_cast<std::size_t>(kMaxBackfill))) {
    if (!known.insert(each.time_ms).second) {
      ++answer.skipped;
      continue;
    }
    live_.latest = MakeRun(each.time_ms, RunKind::kBackfill, RunState::kLive);
    live_.is_locked = true;
    ahead_.insert(each.time_ms);
    ++answer.runs;
  }
  return answer;
}

/// Only what lies ahead: a time that newer tzdata puts into the past was not due when it was.
bool Ledger::Recompute(std::int64_t decided_ms) {
  Fire();
  if (row_.next_ms == 0 || IsPaused()) return false;
  const std::int64_t before_ms = row_.next_ms;
  SetNext(std::max(now_ms_ - DelayMs(), decided_ms) + 1);
  SetLook();
  if (row_.next_ms == before_ms) return false;
  ++row_.revision;
  return true;
}

void Ledger::SetNext(std::int64_t from_ms) {
  if (!times_ && row_.definition.enabled) return;
  row_.next_ms = 0;
  if (!row_.definition.enabled) return;
  if (const auto next = times_->First(std::max(from_ms, row_.since_ms)))
    row_.next_ms = next->time_ms;
}

void Ledger::SetLook() {
  if (IsPaused())
    row_.look_ms = row_.paused_until_ms;
  else
    row_.look_ms = row_.next_ms > 0 ? row_.next_ms + DelayMs() : 0;
  // Another process may have the zone.
  if (!times_ && row_.look_ms > 0 && row_.look_ms <= now_ms_) row_.look_ms = now_ms_ + kLookAgainMs;
}

}  // namespace tenure::jobs
