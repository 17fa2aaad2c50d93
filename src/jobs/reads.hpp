#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "db/method.hpp"
#include "jobs/job.hpp"
#include "jobs/probe.hpp"

namespace tenure::jobs {

/// A job with its latest run that was not skipped.
struct JobView {
  JobRow row{};
  std::optional<std::int64_t> last_run_ms{};
  base::Uuid last_run_id{};
  RunStatus last_status = RunStatus::kReady;
};
struct JobsRequest {
  std::string tenant{};
  std::string name{};  ///< this one; empty: those behind `after`
  std::string after{};
  std::string topic{};  ///< empty: any
  std::optional<bool> enabled{};
  std::int64_t limit = 100;

  std::size_t bytes() const { return db::BytesOf(tenant, name, after, topic); }
};
db::Transaction::Pending QueueJobs(db::Transaction& tx, const JobsRequest& request,
                                   std::int64_t rows);
JobView ReadJob(const db::Rows::Row& row);

struct RunView {
  base::Uuid id{};
  std::int64_t nominal_ms = 0;
  RunKind kind = RunKind::kSchedule;
  RunStatus status = RunStatus::kReady;
  std::int64_t made_ms = 0;
  std::int64_t ended_ms = 0;
  std::int64_t claimed_ms = 0;
  std::string owner{};
  std::int64_t attempts = 0;
  std::int64_t crashes = 0;
  std::string output{};
  std::string error{};
  SkipReason reason = SkipReason::kNone;
  std::optional<base::Uuid> blocker{};
  std::int64_t first_ms = 0;
  std::int64_t number = 0;
  std::int64_t lease_until_ms = 0;
  std::int64_t due_ms = 0;
  std::int64_t worker_until_ms = 0;
  std::int64_t started_ms = 0;  ///< its first claim

  /// Until when whoever has claimed it keeps it, if nothing is heard of him.
  std::int64_t HeldUntilMs() const {
    return worker_until_ms > 0 ? worker_until_ms : lease_until_ms;
  }
};
struct RunsRequest {
  JobKey key{};
  std::optional<RunStatus> status{};
  std::int64_t before_ms = std::numeric_limits<std::int64_t>::max();
  base::Uuid before_id{};
  std::int64_t limit = 100;

  std::size_t bytes() const { return key.bytes(); }
};
db::Transaction::Pending QueueRuns(db::Transaction& tx, const RunsRequest& request,
                                   std::int64_t rows);
RunView ReadRun(const db::Rows::Row& row);

/// Names of jobs for background work, page by page.
struct NamesRequest {
  JobKey after{};
  std::int64_t limit = 500;

  std::size_t bytes() const { return after.bytes(); }
};
struct NamesReply {
  std::vector<JobKey> keys{};
};
struct FutureReply {
  std::vector<JobRow> jobs{};
};
/// Jobs whose next time comes from an expression.
void FindFutureJobs(db::Transaction& tx, db::Items<NamesRequest, FutureReply> items);
/// Jobs of the configuration file.
NamesReply FindFileJobs(db::Transaction& tx, std::int64_t now_ms);

struct Figures {
  std::int64_t jobs = 0;
  std::int64_t overdue_ms = 0;
  std::int64_t failing = 0;
};
Figures CountJobs(db::Transaction& tx, std::int64_t now_ms);

struct WatchedJob {
  JobRow row{};
  std::int64_t success_ms = 0;
  std::int64_t success_for_ms = 0;  ///< the nominal time of that run
};
struct WatchedReply {
  std::vector<WatchedJob> jobs{};
};
WatchedReply FindWatched(db::Transaction& tx, std::int64_t now_ms);

struct ForgetRequest {
  std::int64_t retention_ms = 30LL * 86'400'000;
  std::int64_t skipped_retention_ms = 7LL * 86'400'000;
};
/// One bounded batch of forgetting: runs that are over for long; the last of each job stays.
db::Swept ForgetRuns(db::Transaction& tx, const ForgetRequest& request, std::int64_t now_ms);

}  // namespace tenure::jobs
