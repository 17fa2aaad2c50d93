#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "jobs/job.hpp"
#include "jobs/times.hpp"

namespace tenure::jobs {

/// What the rules need besides the job.
struct Rules {
  std::int64_t missed_after_ms = 10'000;  ///< so late a time is only late
};

/// The rule book of one job: decides what its next runs are, without store and clock. It is made of
/// what a transaction has locked and read, and of the time that was read after the locks; what it
/// leaves behind (`row`, `runs`) is what the transaction writes.
///
/// Invariants (M3):
///  (1) `next_ms` is the first nominal time that is not decided. Every decision about a time moves
///      it past that time, in the same transaction; nothing moves it back.
///  (2) A time is decided once: it has a run, or it is left out by `missed` or `overlap` and a note
///      says so; one that a backfill has given a run keeps that one. Only `enabled: false`, another
///      schedule and the end of the job leave times without a word.
///  (3) A run's nominal time is one that the schedule names, at or after `since_ms`. A trigger's is
///      the instant of the call; it is no time of the schedule.
///  (4) With `overlap` skip or queue_one the schedule makes no run that is ready while another is
///      not over, and no second one that waits.
///
/// The delay by `jitter_ms` is the same for all runs of a job: it comes from the job's id. So times
/// keep their order and their distance, and whoever asks is told when a job really fires.
class Ledger {
 public:
  /// `times`: none where this process cannot read them (its tzdata lacks the zone). Then nothing is
  /// decided, and the job is due again a second later: another process may have it.
  Ledger(JobRow row, const LiveRuns& live, std::optional<Times> times, const Rules& rules,
         std::int64_t now_ms);

  /// Whether times that are not decided yet may have a run all the same: a backfill reaches to now,
  /// also in a pause, and whatever the delay. Then Fire must know them.
  static bool MayHaveAhead(const JobRow& row) {
    return row.paused_ms > 0 || row.definition.jitter_ms > 0;
  }
  void KnowAhead(std::set<std::int64_t> nominal_ms) { ahead_ = std::move(nominal_ms); }

  /// Decides all times that are due, at most `most` runs of them; ends a pause whose time is over.
  /// What is left is due at once.
  void Fire(std::size_t most = kNoLimit);

  // What operators and whoever makes the job ask for. Each decides first what was due before it.

  /// Another definition. `times`: of that one. Returns whether it is another.
  bool Change(Definition definition, std::optional<Times> times);
  void Pause(std::string reason, std::int64_t until_ms);
  /// Returns whether it was paused. Of what is made up for at most `most` runs; what is left is due at once.
  bool Resume(std::size_t most = kNoLimit);
  base::Uuid Trigger(std::optional<std::string> payload);
  struct Backfilled {
    std::int64_t runs = 0;
    std::int64_t skipped = 0;  ///< had theirs
  };
  /// REQUIRES: `had` are the nominal times of [from, to) that have a run, as read under the lock.
  Backfilled Backfill(std::int64_t from_ms, std::int64_t to_ms, const std::set<std::int64_t>& had);
  /// tzdata is another one (`times` are by it). Returns whether the next time is another.
  /// `decided_ms`: the latest time that is on record as decided. When the store's clock went back, it lies ahead.
  bool Recompute(std::int64_t decided_ms = 0);

  /// A job that is new in this transaction gets its first time.
  void Begin(Origin origin);
  /// Another one manages it from now on.
  void BelongTo(Origin origin);

  const JobRow& row() const { return row_; }
  const std::vector<NewRun>& runs() const { return runs_; }
  const std::optional<Times>& times() const { return times_; }
  std::int64_t now_ms() const { return now_ms_; }
  /// By how much all runs of this job are late on purpose.
  std::int64_t DelayMs() const;
  /// A run that waits was made while the one before it may be ending: somebody must look soon.
  bool must_look_soon() const { return must_look_soon_; }

  static constexpr std::size_t kNoLimit = 1'000'000;

 private:
  void FireDue(std::int64_t pause_end_ms, std::size_t most);
  /// Both return the time at which they stopped because of `most`.
  std::optional<std::int64_t> FireMissed(std::int64_t from_ms, std::int64_t to_ms,
                                         std::size_t most);
  std::optional<std::int64_t> FireEach(const std::vector<calendar::Occurrence>& due,
                                       std::size_t most);
  void Make(std::int64_t nominal_ms);
  void NoteMissed(std::int64_t from_ms, std::int64_t to_ms);
  base::Uuid MakeRun(std::int64_t nominal_ms, RunKind kind, RunState state);
  /// The first time at or after this one that may fire.
  void SetNext(std::int64_t from_ms);
  void SetLook();
  bool IsPaused() const { return row_.paused_ms > 0; }

  JobRow row_;
  LiveRuns live_;
  std::optional<Times> times_;
  const Rules rules_;
  const std::int64_t now_ms_;
  std::vector<NewRun> runs_;
  std::set<std::int64_t> ahead_;  ///< nominal times at or behind `next_ms` that have a run
  std::size_t made_ = 0;
  bool must_look_soon_ = false;
};

}  // namespace tenure::jobs
