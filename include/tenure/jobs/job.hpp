#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tenure/jobs/types.hpp"

/// Jobs: schedules that write messages. A run is the message that a job wrote for one nominal time.
namespace tenure::jobs {

using Milliseconds = std::chrono::milliseconds;

/// When: `cron` or `every`, in a time zone.
struct When {
  std::string cron{};            ///< 5 fields, or 6 with seconds first
  Milliseconds every{0};         ///< or so often; from 1 s
  std::string time_zone{"UTC"};  ///< an IANA name
  GapPolicy gap = GapPolicy::kEndOfGap;
  RepeatPolicy repeat = RepeatPolicy::kFirst;
};

/// What somebody wants to be done, and when. Times are milliseconds since 1970.
struct Job {
  std::string name{};   ///< 1 to 100 of A-Z a-z 0-9 . _ -
  std::string topic{};  ///< where its messages go
  When when{};
  std::string payload{"null"};  ///< JSON text
  std::string headers{};        ///< a JSON object, or empty
  int priority = 5;             ///< 0 (first) to 9
  bool enabled = true;
  Missed missed = Missed::kOnce;
  Milliseconds missed_window{3'600'000};  ///< for `all`
  int missed_cap = 100;                   ///< for `all`
  Overlap overlap = Overlap::kSkip;
  Milliseconds jitter{0};
  std::optional<std::int64_t> starts_at_ms{};  ///< in
  std::optional<std::int64_t> ends_at_ms{};    ///< out
  bool watch = false;                          ///< for the metric of its last success
};

/// A time that a schedule names.
struct NamedTime {
  std::int64_t time_ms = 0;
  std::string local_time{};  ///< "2026-03-29T03:00:00", the wall clock's
  std::string offset{};      ///< "+02:00"
  std::string flag{};        ///< "gap" or "repeated" where the clock is changed, else empty
};

/// A job as it is on record. Times that are 0 are none.
struct JobState : Job {
  std::int64_t revision = 0;  ///< another one after each change
  bool is_of_file = false;    ///< made by the configuration file, and changed by it only
  std::int64_t next_run_ms = 0;
  std::int64_t last_run_ms = 0;
  std::optional<RunStatus> last_status{};
  bool paused = false;
  std::string paused_reason{};
  std::int64_t paused_until_ms = 0;
  std::vector<NamedTime> upcoming{};  ///< the next 20; not in a list
};

struct Run {
  std::string id{};  ///< its message's, too
  std::int64_t nominal_ms = 0;
  RunKind kind = RunKind::kSchedule;
  RunStatus status = RunStatus::kReady;
  std::string owner{};
  std::int64_t claimed_ms = 0;  ///< its latest claim
  std::int64_t started_ms = 0;  ///< its first claim
  std::int64_t finished_ms = 0;
  std::int64_t attempts = 0;
  std::int64_t crashes = 0;
  std::string output{};  ///< JSON text, as its worker gave it
  std::string error{};
  SkipReason skipped = SkipReason::kNone;
};

}  // namespace tenure::jobs
