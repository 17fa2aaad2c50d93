#include "jobs/fire.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <set>

#include "jobs/run_ends.hpp"
#include "jobs_sql/queries.hpp"

namespace tenure::jobs {
namespace {

constexpr std::int64_t kFireJobs = 500;
constexpr std::int64_t kFireWaiting = 200;
constexpr std::int64_t kLookAtMostMs = 60'000;

FireReply ReadNextLook(const db::Rows& rows, std::int64_t now_ms) {
  FireReply reply{.now_ms = now_ms};
  for (std::size_t column : {0u, 1u}) {
    if (rows[0].IsNull(column)) continue;
    const std::int64_t look_ms = rows[0].Int(column);
    reply.next_look_ms = std::min(reply.next_look_ms.value_or(look_ms), look_ms);
  }
  return reply;
}

/// One transaction that fires.
class FireRound {
 public:
  FireRound(const calendar::Zones& zones, const Rules& rules, const Outbox& outbox)
      : zones_(zones), rules_(rules), outbox_(outbox) {}

  FireReply Run(db::Transaction& tx) {
    LockJobs(tx);
    LockRuns(tx);
    LoadRuns(tx);
    Release(tx);
    Decide();
    Apply(tx);
    FireReply reply = ReadNextLook(tx.Run(sql::kNextLook), now_ms_);
    const bool is_due = reply.next_look_ms && *reply.next_look_ms <= now_ms_;
    reply.has_more = has_more_ && is_due;
    reply.has_locked = !has_more_ && is_due;
    return reply;
  }
  Written&& written() { return std::move(written_); }

 private:
  struct Waiting {
    base::Uuid id{};
    base::Uuid job{};
    std::int64_t made_ms = 0;
    std::int64_t look_ms = 0;
  };

  void LockJobs(db::Transaction& tx) {
    const std::int64_t begun_ms = tx.TakeClock(tx.QueueClock());
    const auto due = tx.Queue(sql::kLockDue, begun_ms, kFireJobs);
    const auto waiting = tx.Queue(sql::kLockWaiting, begun_ms, kFireWaiting);
    for (const auto row : tx.Take(due)) jobs_.push_back(db::ReadAs<JobRow>(row, kJobColumns));
    for (const auto row : tx.Take(waiting))
      waiting_.push_back(db::ReadAs<Waiting>(row, &Waiting::id, &Waiting::job, &Waiting::made_ms));
    has_more_ = std::ssize(jobs_) == kFireJobs || std::ssize(waiting_) == kFireWaiting;
  }

  void LockRuns(db::Transaction& tx) {
    std::vector<base::Uuid> queueing;
    for (const JobRow& job : jobs_)
      if (job.definition.overlap == Overlap::kQueueOne) queueing.push_back(job.id);
    for (const auto row : tx.Run(sql::kLockLatest, db::Columns(queueing, std::identity())))
      locked_.insert(row.Uuid(0));
  }

  /// What is not over, and then the time: both are not older than the locks.
  void LoadRuns(db::Transaction& tx) {
    std::set<base::Uuid> asked;
    for (const JobRow& job : jobs_)
      if (job.definition.overlap != Overlap::kAllow) asked.insert(job.id);
    for (const Waiting& each : waiting_) asked.insert(each.job);
    const std::vector<base::Uuid> ids(asked.begin(), asked.end());
    const std::vector<LiveRuns> live = LoadLive(tx, ids);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      live_[ids[i]] = live[i];
      live_[ids[i]].is_locked = live[i].latest && locked_.contains(*live[i].latest);
    }
    for (const JobRow& job : jobs_)
      if (Ledger::MayHaveAhead(job)) ahead_[job.id] = LoadAhead(tx, job);
    now_ms_ = tx.TakeClock(tx.QueueClock());
  }

  /// Runs that wait for nothing any more; the others are looked at again later.
  void Release(db::Transaction& tx) {
    std::vector<base::Uuid> released;
    std::vector<Waiting> postponed;
    for (Waiting& each : waiting_) {
      LiveRuns& live = live_[each.job];
      if (live.latest) {
        each.look_ms =
            now_ms_ + std::clamp<std::int64_t>(now_ms_ - each.made_ms, 50, kLookAtMostMs);
        postponed.push_back(each);
        continue;
      }
      live = {each.id, false, true};
      released.push_back(each.id);
    }
    tx.Queue(sql::kPostponeWaiting, db::Columns(postponed, &Waiting::id, &Waiting::look_ms));
    tx.Queue(sql::kReleaseRuns, db::Columns(released, std::identity()));
    if (released.empty()) return;
    messages::MakeReady(tx, released, now_ms_, written_.notifications);
    written_.notifications.Tell(tx, outbox_.process, now_ms_);
  }

  void Decide() {
    std::int64_t left = kFireBytes;  // and what the last job adds
    for (const JobRow& job : jobs_) {
      if (left <= 0) {
        has_more_ = true;
        return;
      }
      Ledger& ledger = ledgers_.emplace_back(
          job, live_[job.id], Times::Of(job.definition, job.created_ms, zones_), rules_, now_ms_);
      if (const auto found = ahead_.find(job.id); found != ahead_.end())
        ledger.KnowAhead(found->second);
      const std::int64_t each = job.payload_bytes + kRunBytes;
      ledger.Fire(static_cast<std::size_t>(std::max<std::int64_t>(1, left / each)));
      left -= each * std::ssize(ledger.runs());
    }
  }

  void Apply(db::Transaction& tx) {
    std::vector<const Ledger*> decided;
    for (const Ledger& ledger : ledgers_) decided.push_back(&ledger);
    const auto payloads = LoadPayloads(tx, decided);
    messages::Notifications released = std::move(written_.notifications);
    written_ = WriteRuns(tx, decided, payloads, outbox_);
    written_.notifications = std::move(released);
    tx.Queue(sql::kAdvanceJobs,
             db::Columns(decided, db::Inside(&Ledger::row, &JobRow::id, &JobRow::revision,
                                             &JobRow::next_ms, &JobRow::look_ms, &JobRow::paused_ms,
                                             &JobRow::paused_until_ms, &JobRow::paused_reason)));
  }

  const calendar::Zones& zones_;
  const Rules& rules_;
  const Outbox& outbox_;
  std::vector<JobRow> jobs_;
  std::vector<Waiting> waiting_;
  std::set<base::Uuid> locked_;
  std::map<base::Uuid, LiveRuns> live_;
  std::map<base::Uuid, std::set<std::int64_t>> ahead_;
  std::deque<Ledger> ledgers_;
  std::int64_t now_ms_ = 0;
  bool has_more_ = false;
  Written written_;
};

}  // namespace

void FireHandler::ReadItems(db::Transaction& tx, Items items) {
  const auto looking = tx.Queue(sql::kNextLook);
  const auto clock = tx.QueueClock();
  const db::Rows rows = tx.Take(looking);
  const FireReply reply = ReadNextLook(rows, tx.TakeClock(clock));
  if (reply.next_look_ms && *reply.next_look_ms <= reply.now_ms) return;
  for (auto* item : items) item->reply = reply;
}

Written FireHandler::WriteItems(db::Transaction& tx, Items items) {
  const auto zones = zones_.Get();
  FireRound round(*zones, rules_, outbox_);
  const FireReply reply = round.Run(tx);
  for (auto* item : items) item->reply = reply;
  return round.written();
}

void FireHandler::DoneItems(Items, const Written& written) {
  Publish(written, outbox_.topic_cache, wake_, probe_);
}

}  // namespace tenure::jobs
