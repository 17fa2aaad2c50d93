// Leases and reliable tasks under the stepped scheduler: L1, L2, L4, T1 and fenced writes over
// whole histories, and planted bugs that must be found.

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "leases/fence_check.hpp"
#include "leases/leases.hpp"
#include "leases_sql/queries.hpp"
#include "stepped/frame.hpp"
#include "tasks/tasks.hpp"
#include "tasks_sql/queries.hpp"

namespace tenure::stepped {
namespace {

using leases::AcquireCommand;
using leases::Grant;
using leases::LossReason;

constexpr std::int64_t kTtlMs = 500;  // short, so that grants expire in the middle of a run
constexpr std::int64_t kTaskIntervalMs = 200;

/// What is wrong on purpose.
enum class LeaseBug {
  kNothing,
  kLockAndReadInOneStatement,
  kClockBeforeLock,
  kReleaseByAnybody,
  kTakeoverWaits,      ///< for a user's transaction, and everybody else with it
  kCheckLocksNothing,  ///< a user's check of its fence holds off no takeover
};
/// What a run is mostly about.
enum class Subject { kLeases, kTasks };

// The bug "lock and read in one statement": it waits for the lock, and then reads on the snapshot
// from before it waited.
const db::Query kLeaseNoLock{
    "leases.lock_names", "select 1 from unnest($1::text[], $2::text[]) as item (t, n) where false",
    ""};
const db::Query kLeaseNoGuard{
    "leases.take_fences",
    "select item.ordinal from unnest($1::text[], $2::text[]) with ordinality "
    "as item (t, n, ordinal)",
    ""};
const db::Query kLeaseLockAndRead{"leases.load_leases",
                                  R"(with locked as (
  insert into tenure.leases (tenant, name, fence, holder, metadata, ttl_ms, granted_ms, renewed_ms, expires_ms, next_ticket)
  select t, n, 0, '', '', 0, 0, 0, 0, 1 from unnest($1::text[], $2::text[]) as item (t, n) order by t, n
  on conflict (tenant, name) do update set holder = excluded.holder where false
)
select item.ordinal, l.fence, l.term, l.holder, l.metadata, l.ttl_ms, l.granted_ms, l.renewed_ms, l.expires_ms,
       l.longest_ttl_ms, l.break_reason, l.next_ticket, coalesce(f.fence, 0)
  from unnest($1::text[], $2::text[]) with ordinality as item (tenant, name, ordinal)
  join tenure.leases l on l.tenant = item.tenant and l.name = item.name
  left join tenure.lease_floors f on f.tenant = item.tenant)",
                                  ""};

const db::Query kUsersCheck{
    "stepped.check_fence",
    "select 1::bigint from tenure.check_fence($1::text, $2::bigint, $3::text)", ""};
const db::Query kUsersCheckWithoutLock{
    "stepped.check_fence",
    "select 1::bigint from tenure.leases where name = $1::text and fence = $2::bigint and "
    "tenant = $3::text and term is not null",
    ""};
/// A write over HTTP under a fence: the fence check takes the lease's row FOR KEY SHARE and judges
/// the fence; what it protects would be written after that.
struct WriteRequest {};
struct WriteReply {};
class WriteHandler final : public db::TypedHandler<WriteRequest, WriteReply> {
 public:
  std::string_view name() const override { return "stepped.write"; }

 protected:
  void WriteItems(db::Transaction& tx, Items items) override {
    tx.TakeClock(tx.QueueClock());  // a further step at which it may be paused
    for (auto* item : items) item->reply = WriteReply();
  }
};

/// The same in a user's own transaction, by the SQL function; then it takes its time.
struct UsersWriteRequest {
  std::string tenant{};
  std::string name{};
  std::int64_t fence = 0;

  std::size_t bytes() const { return db::BytesOf(tenant, name); }
};
class UsersWriteHandler final : public db::TypedHandler<UsersWriteRequest, WriteReply> {
 public:
  std::string_view name() const override { return "stepped.user"; }

 protected:
  void WriteItems(db::Transaction& tx, Items items) override {
    for (auto* item : items) {
      const UsersWriteRequest& request = item->request;
      const db::Rows checked = tx.Run(kUsersCheck, std::string_view(request.name), request.fence,
                                      std::string_view(request.tenant));
      if (checked.empty()) throw base::Fault(base::FaultKind::kFenceStale, "planted");
      tx.TakeClock(tx.QueueClock());  // further steps at which it may be paused
      tx.TakeClock(tx.QueueClock());
      item->reply = WriteReply();
    }
  }
};

/// For its fence: by the fence check, or by TN001.
bool IsRefused(const base::Fault& fault) {
  return fault.kind() == base::FaultKind::kFenceStale ||
         std::string_view(fault.what()).find("is stale") != std::string_view::npos;
}

struct LeaseServer final : Server {
  explicit LeaseServer(Process& its)
      : process(its),
        leases(its.store(), its.wake(), its.name(), its.clock(), its.metrics()),
        tasks(its.store(), its.wake(), its.name(), its.clock(), its.metrics()) {}

  Process& process;
  leases::Leases leases;
  tasks::Tasks tasks;
};

/// Somebody was told that it holds a lease: by an acquisition, a renewal or a claim.
struct Told {
  std::string name;
  base::Uuid term;
  Grant grant;
  int commit = 0;
};
struct Freed {
  std::string name;
  base::Uuid term;  ///< of whoever was told that it released
};
struct Wrote {
  std::string name;
  std::int64_t fence = 0;
  int commit = 0;
};
struct Completed {
  std::int64_t fence = 0;
};

class LeaseRun final : public Frame {
 public:
  LeaseRun(Subject subject, LeaseBug planted)
      : Frame({.queries = QueriesOf({leases::sql::All(), tasks::sql::All()}, {&kUsersCheck}),
               .batches = 3,
               .odds = {.crash_percent = 2},
               .lock_step = "leases.lock_names",
               .early_clock = planted == LeaseBug::kClockBeforeLock,
               .ahead_of_postgres = true}),
        subject_(subject),
        planted_(planted) {
    if (planted_ == LeaseBug::kTakeoverWaits)
      Plant(leases::sql::kTakeFences, "for update of l skip locked", "for update of l");
    if (planted_ == LeaseBug::kCheckLocksNothing) Plant(kUsersCheckWithoutLock);
    if (planted_ != LeaseBug::kLockAndReadInOneStatement) return;
    for (const db::Query* bug : {&kLeaseNoLock, &kLeaseNoGuard, &kLeaseLockAndRead}) Plant(*bug);
  }

 private:
  leases::LeaseKey AnyName() { return {tenant(), std::string(1, "abc"[Random(3)])}; }
  tasks::TaskKey TaskKey() const { return {tenant(), "t"}; }

  void OnOpen(db::Store& store) override { store.SetFenceCheck(fence_check_); }
  std::unique_ptr<Server> Boot(Process& process) override {
    return std::make_unique<LeaseServer>(process);
  }
  void Begin() override {
    tidied_ = false;
    terms_.clear();
    told_.clear();
    freed_.clear();
    wrote_.clear();
    completed_.clear();
    nominal_.clear();
  }
  bool IsStranger(const Process& process) const override {
    return process.queries.contains(kUsersCheck.name);
  }
  /// A user takes its time: what it checked is over before it commits.
  void OnStep(Process& process, std::string_view step) override {
    if (step == "clock" && IsStranger(process) && Chance(30)) clock().Advance(kTtlMs);
  }
  void Judge() override {
    // Every grant and every ticket is over by then.
    clock().Advance(10'000);
    try {
      for (const char* name : {"a", "b", "c"}) CheckName(name);
      CheckTask();
      CheckWrites();
    } catch (const base::Fault& fault) {
      Violation(fmt::format("L2: the tables contradict each other: {}", fault.what()));
    }
  }

  /// A batch of one to three commands on the same few names, or something of its own.
  void Submit(Process& process) override {
    auto& server = ServerOf<LeaseServer>(process);
    const auto roll = Random(20);
    if (roll == 0)
      SubmitTidy(server);
    else if (roll <= 3 && !told_.empty())
      SubmitWrite(server);
    else if (subject_ == Subject::kTasks && roll <= 14)
      SubmitTask(server);
    else
      for (auto count = 1 + Random(3); count > 0; --count) SubmitLease(server);
  }

  void SubmitTidy(LeaseServer& server) {
    tidied_ = true;
    server.leases.TidySome({.history_ms = kNeverMs, .retention_ms = 100}, nullptr, Expected());
  }

  void SubmitLease(LeaseServer& server) {
    const auto roll = told_.empty() ? 0 : Random(10);
    if (roll < 5)
      SubmitAcquire(server);
    else if (roll < 7)
      SubmitRenew(server);
    else if (roll < 9)
      SubmitRelease(server);
    else
      server.leases.Break({AnyName(), "because", static_cast<std::int64_t>(Random(50)), false, {}},
                          nullptr, Expected());
  }

  void SubmitAcquire(LeaseServer& server) {
    AcquireCommand command;
    command.key = AnyName();
    command.term = NewId();
    // Now and then a term that may be live, over, or waiting.
    if (!terms_.empty() && Random(4) == 0) command.term = terms_[Random(terms_.size())];
    terms_.push_back(command.term);
    command.ttl_ms = kTtlMs;
    command.wait = static_cast<AcquireCommand::Wait>(Random(3));
    command.received_boot_ms = clock().BootMs();
    server.leases.Acquire(command, nullptr,
                          [this, &server, command](db::Result<leases::AcquireOutcome> result) {
                            if (!Expect(result)) return;
                            if (const auto* grant = std::get_if<Grant>(&result.value()))
                              Tell(server, command.key.name, command.term, *grant);
                          });
  }

  /// One call for several leases, each name once.
  void SubmitRenew(LeaseServer& server) {
    std::map<std::string, leases::RenewCommand> by_name;
    for (auto count = 1 + Random(2); count > 0; --count) {
      const Told& told = AnyLate(told_);
      by_name[told.name] = {{tenant(), told.name}, told.grant.fence, told.term, {}};
    }
    std::vector<leases::RenewCommand> commands;
    for (const auto& [name, command] : by_name) commands.push_back(command);
    server.leases.Renew(
        commands, nullptr,
        [this, &server, commands](db::Result<std::vector<leases::RenewOutcome>> result) {
          if (!Expect(result)) return;
          for (std::size_t i = 0; i < commands.size(); ++i)
            if (const auto* grant = std::get_if<Grant>(&result.value()[i]))
              Tell(server, commands[i].key.name, commands[i].term, *grant);
        });
  }

  void SubmitRelease(LeaseServer& server) {
    const Told told = AnyLate(told_);
    leases::ReleaseCommand command{{tenant(), told.name}, told.term, {}};
    base::Uuid asking = told.term;
    // The bug "nobody looks whose term it is": a stranger's request is carried out as the holder's.
    if (planted_ == LeaseBug::kReleaseByAnybody) asking = NewId();
    server.leases.Release(command, nullptr,
                          [this, told, asking](db::Result<leases::ReleaseOutcome> result) {
                            if (!Expect(result) || !result.value().released) return;
                            freed_.push_back({told.name, asking});
                          });
  }

  void SubmitTask(LeaseServer& server) {
    const bool can_finish = !nominal_.empty() && Random(2) == 0;
    if (can_finish) {
      const Told& told = *std::find_if(told_.rbegin(), told_.rend(),
                                       [](const Told& one) { return one.name == "task/t"; });
      tasks::FinishCommand command{TaskKey(), told.grant.fence, told.term, {}};
      if (Random(4) == 0) command.error = "it did not work";
      server.tasks.Finish(command, nullptr,
                          [this, command](db::Result<leases::FinishOutcome> result) {
                            if (!Expect(result) || !result.value().accepted) return;
                            freed_.push_back({"task/t", command.term});
                            if (!command.error) completed_.push_back({command.fence});
                          });
      return;
    }
    tasks::ClaimCommand command;
    command.key = TaskKey();
    command.interval_ms = kTaskIntervalMs;
    command.lock_timeout_ms = kTtlMs;
    command.term = NewId();
    command.received_boot_ms = clock().BootMs();
    server.tasks.Claim(command, nullptr,
                       [this, &server, command](db::Result<leases::ClaimOutcome> result) {
                         if (!Expect(result)) return;
                         const auto* run = std::get_if<leases::TaskRun>(&result.value());
                         if (!run) return;
                         Tell(server, "task/t", command.term, run->lock);
                         nominal_[run->lock.fence] = run->nominal_ms;
                       });
  }

  void SubmitWrite(LeaseServer& server) {
    const Told told = AnyLate(told_);
    auto written = [this, &server, told](const db::Result<WriteReply>& result) {
      if (!result.ok() && IsRefused(result.fault())) return;
      if (Expect(result)) wrote_.push_back({told.name, told.grant.fence, server.process.seen});
    };
    db::Store& store = server.process.store();
    if (Chance(50))
      return store.Submit(users_write_, nullptr, {tenant(), told.name, told.grant.fence}, written);
    store.Submit(write_, base::Caller(nullptr, {{tenant(), told.name, told.grant.fence}}), {},
                 written);
  }

  void Tell(const LeaseServer& server, const std::string& name, const base::Uuid& term,
            const Grant& grant) {
    if (grant.now_ms < server.process.locked_at_ms)
      Violation("a request was decided by a time from before its lock");
    told_.push_back({name, term, grant, server.process.seen});
  }

  /// All grants of a name by fence. A last one is made, so that the name is there and has ended
  /// whatever was under way.
  std::map<std::int64_t, leases::PastGrant> History(const std::string& name) {
    AcquireCommand command;
    command.key = {tenant(), name};
    command.term = NewId();
    command.ttl_ms = kTtlMs;
    const auto last = Ask<leases::AcquireOutcome>([&](Process& process, auto done) {
      ServerOf<LeaseServer>(process).leases.Acquire(command, nullptr, std::move(done));
    });
    if (!std::holds_alternative<Grant>(last))
      Violation(name + " cannot be had, though everybody is gone");
    const auto found = Ask<leases::FindReply>([&](Process& process, auto done) {
      ServerOf<LeaseServer>(process).leases.Find({{tenant(), name}, 1'000}, nullptr,
                                                 std::move(done));
    });
    std::map<std::int64_t, leases::PastGrant> history;
    if (found.lease)
      for (const leases::PastGrant& grant : found.lease->history) history[grant.fence] = grant;
    return history;
  }

  /// L1, L2 and L4 of one name: what is in the store, and what was told.
  void CheckName(const std::string& name) {
    const auto history = History(name);
    const leases::PastGrant* before = nullptr;
    for (const auto& [fence, grant] : history) {
      if (before && grant.granted_at_ms < before->ended_at_ms)
        Violation(fmt::format("L1: grants of {} overlap: fence {} until {}, fence {} from {}", name,
                              before->fence, Since(before->ended_at_ms), fence,
                              Since(grant.granted_at_ms)));
      before = &grant;
    }
    for (const Told& told : told_)
      if (told.name == name) CheckTold(told, history);
    for (const Freed& freed : freed_) {
      if (freed.name != name) continue;
      const auto row = std::find_if(history.begin(), history.end(), [&](const auto& entry) {
        return entry.second.term == freed.term.ToString();
      });
      if (row == history.end() || row->second.reason != LossReason::kReleased)
        Violation(fmt::format("L4: a release of {} ended another's grant", name));
    }
  }

  void CheckTold(const Told& told, const std::map<std::int64_t, leases::PastGrant>& history) {
    const auto found = history.find(told.grant.fence);
    if (found == history.end()) {
      // A grant that was overdue when its name was cleaned up goes with it.
      if (!tidied_)
        Violation(fmt::format("fence {} of {} is not in the store", told.grant.fence, told.name));
      return;
    }
    const leases::PastGrant& row = found->second;
    if (row.term != told.term.ToString())
      Violation(fmt::format("L2: fence {} of {} was told to two terms", row.fence, told.name));
    if (told.grant.now_ms < row.granted_at_ms || told.grant.now_ms > row.ended_at_ms)
      Violation(
          fmt::format("L4: fence {} of {} was renewed when it was over", row.fence, told.name));
    if (row.reason != LossReason::kReleased && row.ended_at_ms < told.grant.expires_at_ms)
      Violation(fmt::format("L1: fence {} of {} ended before the deadline that was promised",
                            row.fence, told.name));
  }

  /// A write that was accepted was committed before any later grant.
  void CheckWrites() {
    for (const Wrote& wrote : wrote_)
      for (const Told& told : told_)
        if (told.name == wrote.name && told.grant.fence > wrote.fence && told.commit < wrote.commit)
          Violation(fmt::format("a write under fence {} of {} came after the grant of fence {}",
                                wrote.fence, wrote.name, told.grant.fence));
  }

  /// T1: each nominal time is completed at most once, and none is lost.
  void CheckTask() {
    if (nominal_.empty()) return;
    std::map<std::int64_t, std::int64_t> completed;  // nominal time -> fence
    for (const Completed& one : completed_) {
      const auto nominal = nominal_.find(one.fence);
      if (nominal == nominal_.end()) continue;  // its claim's answer was lost
      if (!completed.emplace(nominal->second, one.fence).second)
        Violation("T1: a nominal time was completed twice");
    }
    for (const auto& [fence, nominal_ms] : nominal_)
      if (const auto done = completed.find(nominal_ms);
          done != completed.end() && done->second < fence)
        Violation("T1: a completed run was handed out again");
    tasks::ClaimCommand claim;
    claim.key = TaskKey();
    claim.interval_ms = kTaskIntervalMs;
    claim.lock_timeout_ms = kTtlMs;
    claim.term = NewId();
    const auto outcome = Ask<leases::ClaimOutcome>([&](Process& process, auto done) {
      ServerOf<LeaseServer>(process).tasks.Claim(claim, nullptr, std::move(done));
    });
    const auto* run = std::get_if<leases::TaskRun>(&outcome);
    if (!run) return Violation("T1: the run that is due cannot be had");
    const std::int64_t now_ms = run->lock.now_ms;
    const auto finished = Ask<leases::FinishOutcome>([&](Process& process, auto done) {
      ServerOf<LeaseServer>(process).tasks.Finish({TaskKey(), run->lock.fence, claim.term, {}},
                                                  nullptr, std::move(done));
    });
    if (!finished.accepted) Violation("T1: the run that is due cannot be completed");
    CheckCoverage(now_ms);
    CheckName("task/t");
  }

  /// Every grid time since the first one was run, or is counted as skipped.
  void CheckCoverage(std::int64_t now_ms) {
    const auto list = Ask<tasks::ListReply>([&](Process& process, auto done) {
      ServerOf<LeaseServer>(process).tasks.List(tenant(), nullptr, std::move(done));
    });
    const tasks::TaskRow& row = list.tasks.at(0).row;
    const auto& [first_fence, first_ms] = *nominal_.begin();
    if (first_fence != 1) return;  // the answer to the first claim was lost
    const std::int64_t grid_times =
        (now_ms - now_ms % kTaskIntervalMs - first_ms) / kTaskIntervalMs;
    if (row.runs + row.skipped != grid_times + 1)
      Violation(fmt::format("T1: of {} grid times {} were run and {} skipped", grid_times + 1,
                            row.runs, row.skipped));
  }

  const Subject subject_;
  const LeaseBug planted_;
  leases::LeaseFenceCheck fence_check_;
  WriteHandler write_;
  UsersWriteHandler users_write_;

  // Of one run.
  bool tidied_ = false;
  std::vector<base::Uuid> terms_;
  std::vector<Told> told_;
  std::vector<Freed> freed_;
  std::vector<Wrote> wrote_;
  std::vector<Completed> completed_;
  std::map<std::int64_t, std::int64_t> nominal_;  // by fence
};

void RunSeeds(Subject subject) {
  LeaseRun run(subject, LeaseBug::kNothing);
  const std::int64_t seeds = support::ExpectEverySeedHolds(run, kSeeds);
  if (seeds < static_cast<std::int64_t>(kSeeds.usual)) return;  // one alone
  for (const char* step : {"leases.lock_names", "leases.take_fences", "leases.load_leases",
                           "leases.write_leases", "clock", "commit"})
    EXPECT_TRUE(run.beside_strangers().contains(step))
        << "no user's transaction was open before " << step;
}

TEST(SteppedLeases, L1_L2_L4_HoldInEveryInterleavingAndNothingDeadlocks) {
  RunSeeds(Subject::kLeases);
}
TEST(SteppedTasks, T1_HoldsInEveryInterleavingAndNothingDeadlocks) { RunSeeds(Subject::kTasks); }

TEST(SteppedLeases, EveryPlantedBugIsFound) {
  using enum LeaseBug;
  using Bug = std::pair<LeaseBug, const char*>;
  for (const auto& [planted, by_name] :
       {Bug{kLockAndReadInOneStatement, "VIOLATION: L2: fence"},
        Bug{kClockBeforeLock, "by a time from before its lock"}, Bug{kReleaseByAnybody, "L4"},
        Bug{kTakeoverWaits, "waits for a user's transaction"},
        Bug{kCheckLocksNothing, "came after the grant of fence"}})
    support::ExpectFound(LeaseRun(Subject::kLeases, planted), kSeedsForABug, by_name);
}

}  // namespace
}  // namespace tenure::stepped
