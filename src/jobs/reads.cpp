#include "jobs/reads.hpp"

#include <functional>

#include "jobs_sql/queries.hpp"

namespace tenure::jobs {
namespace {

constexpr std::int64_t kMostWatched = 1'000;
constexpr std::int64_t kMostCounted = 100'000;
/// Jobs whose last dead run is older than this do not fail; they rest.
constexpr std::int64_t kFailingMs = 7LL * 86'400'000;
constexpr std::int64_t kKeepMs = 86'400'000;
constexpr std::size_t kColumnsOfJob = std::tuple_size_v<decltype(kJobColumns)>;

}  // namespace

db::Transaction::Pending QueueJobs(db::Transaction& tx, const JobsRequest& request,
                                   std::int64_t rows) {
  return tx.Queue(sql::kListJobs, std::string_view(request.tenant), std::string_view(request.name),
                  std::string_view(request.after), std::string_view(request.topic),
                  std::int64_t{request.enabled ? *request.enabled : -1}, rows);
}

JobView ReadJob(const db::Rows::Row& row) {
  JobView view;
  db::ReadInto(view.row, row, 0, kJobColumns);
  view.row.definition.payload = row.Text(kColumnsOfJob);
  db::ReadInto(view, row, kColumnsOfJob + 1, &JobView::last_run_ms, &JobView::last_run_id,
               &JobView::last_status);
  return view;
}

db::Transaction::Pending QueueRuns(db::Transaction& tx, const RunsRequest& request,
                                   std::int64_t rows) {
  return tx.Queue(sql::kListRuns, std::string_view(request.key.tenant),
                  std::string_view(request.key.name),
                  request.status ? static_cast<std::int64_t>(*request.status) : -1,
                  request.before_ms, request.before_id, rows);
}

RunView ReadRun(const db::Rows::Row& row) {
  return db::ReadAs<RunView>(
      row, &RunView::id, &RunView::nominal_ms, &RunView::kind, &RunView::status, &RunView::made_ms,
      &RunView::ended_ms, &RunView::claimed_ms, &RunView::owner, &RunView::attempts,
      &RunView::crashes, &RunView::output, &RunView::error, &RunView::reason, &RunView::blocker,
      &RunView::first_ms, &RunView::number, &RunView::lease_until_ms, &RunView::due_ms,
      &RunView::worker_until_ms, &RunView::started_ms);
}

void FindFutureJobs(db::Transaction& tx, db::Items<NamesRequest, FutureReply> items) {
  for (auto* item : items) {
    FutureReply reply;
    const NamesRequest& request = item->request;
    for (const auto row : tx.Run(sql::kListFutureJobs, std::string_view(request.after.tenant),
                                 std::string_view(request.after.name), request.limit))
      reply.jobs.push_back(db::ReadAs<JobRow>(row, kJobColumns));
    item->reply = std::move(reply);
  }
}

NamesReply FindFileJobs(db::Transaction& tx, std::int64_t) {
  NamesReply reply;
  for (const auto row : tx.Run(sql::kListFileJobs))
    reply.keys.push_back(db::ReadAs<JobKey>(row, kJobKeyColumns));
  return reply;
}

Figures CountJobs(db::Transaction& tx, std::int64_t now_ms) {
  const auto counting = tx.Queue(sql::kCountJobs, now_ms, kMostCounted);
  const auto failing = tx.Queue(sql::kCountFailing, now_ms - kFailingMs);
  const db::Rows jobs = tx.Take(counting);
  Figures figures{.jobs = jobs[0].Int(0)};
  if (!jobs[0].IsNull(1)) figures.overdue_ms = now_ms - jobs[0].Int(1);
  figures.failing = tx.Take(failing)[0].Int(0);
  return figures;
}

WatchedReply FindWatched(db::Transaction& tx, std::int64_t) {
  WatchedReply reply;
  for (const auto row : tx.Run(sql::kListWatched, kMostWatched)) {
    WatchedJob& job = reply.jobs.emplace_back();
    db::ReadInto(job.row, row, 0, kJobColumns);
    db::ReadInto(job, row, kColumnsOfJob, &WatchedJob::success_ms, &WatchedJob::success_for_ms);
  }
  return reply;
}

db::Swept ForgetRuns(db::Transaction& tx, const ForgetRequest& request, std::int64_t now_ms) {
  std::vector<base::Uuid> old, last;
  const std::int64_t before_ms = now_ms - request.retention_ms;
  for (const auto row :
       tx.Run(sql::kFindOldRuns, before_ms, now_ms - request.skipped_retention_ms, db::kSweepRows))
    (row.Int(1) != 0 ? last : old).push_back(row.Uuid(0));
  tx.Queue(sql::kDropRuns, db::Columns(old, std::identity()));
  tx.Queue(sql::kKeepRuns, db::Columns(last, std::identity()), before_ms + kKeepMs);
  return db::Swept().Add(old.size() + last.size());
}

}  // namespace tenure::jobs
