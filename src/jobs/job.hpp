#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/uuid.hpp"
#include "db/columns.hpp"
#include "db/weight.hpp"
#include "messages/message.hpp"
#include "tenure/jobs/types.hpp"

/// Jobs: schedules that write messages. A run is the message that a job wrote for one nominal time.
/// Times are milliseconds of the store's clock; 0 is none.
namespace tenure::jobs {

inline constexpr std::size_t kMaxNameBytes = 100;
inline constexpr std::size_t kMaxExpressionBytes = 500;
inline constexpr std::size_t kMaxZoneBytes = 100;
inline constexpr std::size_t kMaxReasonBytes = 500;
inline constexpr std::size_t kMaxJobHeadersBytes = 15 << 10;  ///< with our own they fit a message's
inline constexpr std::int64_t kMaxEveryMs = 366LL * 86'400'000;
inline constexpr std::int64_t kMaxJitterMs = 3'600'000;
inline constexpr std::int64_t kMaxMissedWindowMs = 366LL * 86'400'000;
inline constexpr std::int64_t kMaxMissedCap = 1'000;
inline constexpr std::int64_t kMaxBackfill = 1'000;
/// Payloads of one backfill, which is one transaction.
inline constexpr std::int64_t kMaxBackfillBytes = 16 << 20;
/// Payloads of one fire, and what each run of it adds.
inline constexpr std::int64_t kFireBytes = 8 << 20;
inline constexpr std::int64_t kRunBytes = 1'024;
inline constexpr std::int64_t kMaxPreview = 1'000;
inline constexpr std::size_t kUpcoming = 20;

/// Who made a job, and so who may change it.
enum class Origin { kApi = 0, kFile = 1 };

/// A run that is not over is its message: whether that is claimed is asked of the message.
enum class RunState { kLive = 0, kWaiting = 1, kDone = 2, kDead = 3, kSkipped = 4 };

std::string_view ToText(Missed missed);
std::string_view ToText(Overlap overlap);
std::string_view ToText(GapPolicy gap);
std::string_view ToText(RepeatPolicy repeat);
std::string_view ToText(Origin origin);
std::string_view ToText(RunKind kind);
std::string_view ToText(RunStatus status);
std::string_view ToText(SkipReason reason);

/// 1 to 100 of A-Z a-z 0-9 . _ -
bool IsJobName(std::string_view name);

struct JobKey {
  std::string tenant{};
  std::string name{};

  friend auto operator<=>(const JobKey&, const JobKey&) = default;
  std::size_t bytes() const { return db::BytesOf(tenant, name); }
};
inline constexpr auto kJobKeyColumns = db::Members(&JobKey::tenant, &JobKey::name);

/// What whoever makes a job says.
struct Definition {
  std::string topic{};
  std::string cron{};         ///< empty: `every_ms` counts
  std::int64_t every_ms = 0;  ///< 0: `cron` counts
  std::string zone = "UTC";
  std::string payload = "null";  ///< JSON
  std::string headers{};         ///< a JSON object, or empty
  int priority = messages::kDefaultPriority;
  bool enabled = true;
  Missed missed = Missed::kOnce;
  std::int64_t missed_window_ms = 3'600'000;
  std::int64_t missed_cap = 100;
  Overlap overlap = Overlap::kSkip;
  GapPolicy gap = GapPolicy::kEndOfGap;
  RepeatPolicy repeat = RepeatPolicy::kFirst;
  std::int64_t jitter_ms = 0;
  std::int64_t starts_ms = 0;  ///< in
  std::int64_t ends_ms = 0;    ///< out
  bool watch = false;

  friend bool operator==(const Definition&, const Definition&) = default;
  std::size_t bytes() const { return db::BytesOf(topic, cron, zone, payload, headers); }
  /// Whether both name the same times.
  bool HasTimesOf(const Definition& other) const;
};
/// Without the payload, which is read only where it is needed.
inline constexpr auto kDefinitionColumns =
    db::Members(&Definition::topic, &Definition::cron, &Definition::every_ms, &Definition::zone,
                &Definition::headers, &Definition::priority, &Definition::enabled,
                &Definition::missed, &Definition::missed_window_ms, &Definition::missed_cap,
                &Definition::overlap, &Definition::gap, &Definition::repeat, &Definition::jitter_ms,
                &Definition::starts_ms, &Definition::ends_ms, &Definition::watch);

/// A job as it is on record.
struct JobRow {
  base::Uuid id{};
  JobKey key{};
  Definition definition{};
  std::int64_t payload_bytes = 0;
  Origin origin = Origin::kApi;
  std::int64_t revision = 0;  ///< 0: made by the transaction that reads it
  std::int64_t created_ms = 0;
  std::int64_t changed_ms = 0;
  std::int64_t since_ms =
      0;                     ///< no time before it fires: the creation, or the last change of times
  std::int64_t next_ms = 0;  ///< the first nominal time that is not decided yet
  std::int64_t look_ms = 0;  ///< when somebody must look at the job
  std::int64_t paused_ms = 0;
  std::int64_t paused_until_ms = 0;
  std::string paused_reason{};
};
/// What a look reads: load_jobs.sql and lock_due.sql have these columns in this order.
inline constexpr auto kJobColumns =
    db::Members(&JobRow::id, db::Inside(&JobRow::key, kJobKeyColumns),
                db::Inside(&JobRow::definition, kDefinitionColumns), &JobRow::payload_bytes,
                &JobRow::origin, &JobRow::revision, &JobRow::created_ms, &JobRow::changed_ms,
                &JobRow::since_ms, &JobRow::next_ms, &JobRow::look_ms, &JobRow::paused_ms,
                &JobRow::paused_until_ms, &JobRow::paused_reason);

/// A row of runs that is to be made: a run with its message, or a note of what was left out.
struct NewRun {
  base::Uuid id{};
  std::int64_t nominal_ms = 0;
  RunKind kind = RunKind::kSchedule;
  RunState state = RunState::kLive;
  SkipReason reason = SkipReason::kNone;
  std::optional<base::Uuid> blocker{};   ///< the run that was in the way
  std::int64_t first_ms = 0;             ///< of the times that were left out
  std::int64_t number = 0;               ///< of them
  std::optional<std::string> payload{};  ///< instead of the job's
};

/// What a job's runs have to do with its next one.
struct LiveRuns {
  std::optional<base::Uuid> latest{};  ///< of those that are ready, claimed or to be retried
  bool has_waiting = false;
  bool is_locked = false;  ///< `latest` cannot end before this transaction does
};

}  // namespace tenure::jobs
