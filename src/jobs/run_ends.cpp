#include "jobs/run_ends.hpp"

#include <functional>
#include <set>

#include "jobs_sql/queries.hpp"

namespace tenure::jobs {

std::vector<LiveRuns> LoadLive(db::Transaction& tx, const std::vector<base::Uuid>& jobs) {
  std::vector<LiveRuns> live(jobs.size());
  for (const auto row : tx.Run(sql::kLoadLive, db::Columns(jobs, std::identity())))
    db::ReadInto(live[row.ordinal()], row, 0, &LiveRuns::latest, &LiveRuns::has_waiting);
  return live;
}

std::set<std::int64_t> LoadAhead(db::Transaction& tx, const JobRow& job) {
  std::set<std::int64_t> ahead;
  for (const auto row : tx.Run(sql::kListAhead, job.id, job.next_ms)) ahead.insert(row.Int(0));
  return ahead;
}

void RunEnds::Ended(db::Transaction& tx, std::span<const messages::EndedMessage> ended,
                    std::int64_t now_ms, messages::Notifications& notifications) {
  using Message = messages::EndedMessage;
  const auto state = [](const Message& message) {
    return message.dead ? RunState::kDead : RunState::kDone;
  };
  std::set<base::Uuid> of_jobs;
  for (const auto row :
       tx.Run(sql::kEndRuns,
              db::Columns(ended, &Message::id, state, &Message::claimed_ms, &Message::worker,
                          &Message::attempts, &Message::crashes, &Message::output, &Message::error),
              now_ms))
    of_jobs.insert(row.Uuid(0));
  probe_.Ended(ended);
  const std::vector<base::Uuid> jobs(of_jobs.begin(), of_jobs.end());
  const db::Rows waiting = tx.Run(sql::kLockWaitingOf, db::Columns(jobs, std::identity()));
  if (waiting.empty()) return;
  const std::vector<LiveRuns> live = LoadLive(tx, jobs);
  std::set<base::Uuid> free;
  for (std::size_t i = 0; i < jobs.size(); ++i)
    if (!live[i].latest) free.insert(jobs[i]);
  std::vector<base::Uuid> released;
  for (const auto row : waiting)
    if (free.contains(row.Uuid(1))) released.push_back(row.Uuid(0));
  tx.Queue(sql::kReleaseRuns, db::Columns(released, std::identity()));
  messages::MakeReady(tx, released, now_ms, notifications);
}

void RunEnds::Returned(db::Transaction& tx, std::span<const messages::ReturnedMessage> returned) {
  using Message = messages::ReturnedMessage;
  tx.Queue(sql::kStartRuns, db::Columns(returned, &Message::id, &Message::claimed_ms));
}

void RunEnds::Revived(db::Transaction& tx, const std::vector<base::Uuid>& ids) {
  tx.Queue(sql::kReviveRuns, db::Columns(ids, std::identity()));
}

}  // namespace tenure::jobs
