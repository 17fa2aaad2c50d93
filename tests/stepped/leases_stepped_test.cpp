// Leases and reliable tasks under the stepped scheduler: L1, L2, L4, T1 and fenced writes over
// whole histories, and planted bugs that must be found.

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <map>
#include <optional>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "db/postgres/engine.hpp"
#include "leases/guard.hpp"
#include "leases/leases.hpp"
#include "leases_sql/queries.hpp"
#include "stepped/lock_watch.hpp"
#include "stepped/seeds.hpp"
#include "stepped/world.hpp"
#include "store/test_store.hpp"
#include "tasks/tasks.hpp"
#include "tasks_sql/queries.hpp"

namespace tenure::stepped {
namespace {

using leases::AcquireCommand;
using leases::Grant;
using leases::LossReason;

constexpr std::size_t kProcesses = 3;
constexpr int kBatchesPerProcess = 3;
constexpr std::int64_t kTtlMs = 500;  // short, so that grants expire in the middle of a run
constexpr std::int64_t kTaskIntervalMs = 200;
constexpr std::int64_t kNeverMs = 1'000'000'000;

/// What is wrong on purpose.
enum class Planted { kNothing, kLockAndReadInOneStatement, kClockBeforeLock, kReleaseByAnybody };
/// What a run is mostly about.
enum class Subject { kLeases, kTasks };

// The bug "lock and read in one statement": it waits for the lock, and then reads on the snapshot
// from before it waited.
const db::Query kNoLock{"leases.lock_names",
                        "select 1 from unnest($1::text[], $2::text[]) as item (t, n) where false",
                        ""};
const db::Query kNoGuard{"leases.take_fences",
                         "select item.ordinal from unnest($1::text[], $2::text[]) with ordinality "
                         "as item (t, n, ordinal)",
                         ""};
const db::Query kLockAndRead{"leases.load_leases",
                             R"(with locked as (
  insert into tenure.leases (tenant, name, fence, holder, metadata, ttl_ms, granted_ms, renewed_ms, expires_ms, next_ticket)
  select t, n, 0, '', '', 0, 0, 0, 0, 1 from unnest($1::text[], $2::text[]) as item (t, n) order by t, n
  on conflict (tenant, name) do update set holder = excluded.holder where false
)
select item.ordinal, l.fence, l.term, l.holder, l.metadata, l.ttl_ms, l.granted_ms, l.renewed_ms, l.expires_ms,
       l.break_reason, l.next_ticket, coalesce(f.fence, 0)
  from unnest($1::text[], $2::text[]) with ordinality as item (tenant, name, ordinal)
  join tenure.leases l on l.tenant = item.tenant and l.name = item.name
  left join tenure.lease_floors f on f.tenant = item.tenant)",
                             ""};

/// A user's own transaction under a fence: the guard takes the lease's row FOR KEY SHARE and judges
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

/// A simulated server process.
struct Server {
  std::unique_ptr<LockWatch> watch;
  std::unique_ptr<db::Store> store;
  std::unique_ptr<wake::Registry> wake;
  std::unique_ptr<leases::Leases> leases;
  std::unique_ptr<tasks::Tasks> tasks;
  int batches_left = 0;
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

class LeaseRun {
 public:
  LeaseRun(store::TestStore& store, Subject subject, Planted planted)
      : store_(store), subject_(subject), planted_(planted) {
    world_ = std::make_unique<World>(
        store.url(), kProcesses,
        World::Callbacks{[this](std::size_t i) { return NextWork(i); },
                         [this](std::size_t i) { Restart(i); },
                         [this](std::size_t i) { return Connection(i).backend_pid(); },
                         [this] { store_.clock().Advance(static_cast<std::int64_t>(Random(20))); }},
        World::Odds{.crash_percent = 2});
    for (std::size_t i = 0; i < kProcesses; ++i) Restart(i);
  }

  /// Empty when nothing is wrong.
  std::string Run(std::uint64_t seed) {
    random_.seed(seed * 7919 + 17);
    violations_.clear();
    tidied_ = false;
    terms_.clear();
    told_.clear();
    freed_.clear();
    wrote_.clear();
    completed_.clear();
    nominal_.clear();
    tenant_ = fmt::format("r{}", ++runs_);
    for (Server& server : servers_) server.batches_left = kBatchesPerProcess;
    world_->Run(seed);
    if (world_->trace().find("deadlock") != std::string::npos)
      Violation("two transactions waited for each other");
    // Every grant and every ticket is over by then.
    store_.clock().Advance(10'000);
    try {
      for (const char* name : {"a", "b", "c"}) CheckName(name);
      CheckTask();
      CheckWrites();
    } catch (const base::Fault& fault) {
      Violation(fmt::format("L2: the tables contradict each other: {}", fault.what()));
    }
    if (violations_.empty()) return {};
    return fmt::format("seed {}:\n{}{}", seed, world_->trace(), violations_);
  }

 private:
  std::uint64_t Random(std::uint64_t bound) { return random_() % bound; }
  base::Uuid NewTerm() {
    base::Uuid term;
    for (auto& byte : term.bytes) byte = static_cast<std::uint8_t>(random_());
    return term;
  }
  leases::LeaseKey AnyName() { return {tenant_, std::string(1, "abc"[Random(3)])}; }
  tasks::TaskKey TaskKey() const { return {tenant_, "t"}; }
  db::postgres::PostgresConnection& Connection(std::size_t i) {
    return dynamic_cast<db::postgres::PostgresConnection&>(
        servers_[i].store->WriteLane(0).connection());
  }

  /// A new process in place of the old one: nothing is left of what it had in memory.
  void Restart(std::size_t i) {
    Server& server = servers_[i];
    server.tasks.reset();
    server.leases.reset();
    server.wake.reset();
    server.store.reset();
    server.watch = std::make_unique<LockWatch>(store_.clock(), world_->process(i), commits_,
                                               LockWatch::Steps{"leases.lock_names"},
                                               planted_ == Planted::kClockBeforeLock);
    auto options = store_.PostgresOptions();
    options.lock_timeout_ms = 0;  // real time must decide nothing here
    options.statement_timeout_ms = 0;
    std::vector<const db::Query*> queries(options.queries.begin(), options.queries.end());
    if (planted_ == Planted::kLockAndReadInOneStatement)
      for (const db::Query*& query : queries)
        for (const db::Query* bug : {&kNoLock, &kNoGuard, &kLockAndRead})
          if (query->name == bug->name) query = bug;
    options.queries = queries_ = queries;
    options.test_clock = server.watch.get();
    db::StoreOptions lanes;
    lanes.write_lanes = 1;
    lanes.lanes.max_wait_ms = kNeverMs;
    server.store = std::make_unique<db::Store>(
        db::postgres::MakeEngine(std::move(options), "", store_.metrics()), lanes, store_.clock(),
        store_.metrics());
    server.store->SetGuard(guard_);
    server.store->Open();
    server.store->WriteLane(0).connection().SetHook(server.watch.get());
    server.wake = std::make_unique<wake::Registry>(store_.clock());
    const std::string process = fmt::format("p{}", i);
    server.leases = std::make_unique<leases::Leases>(*server.store, *server.wake, process,
                                                     store_.clock(), store_.metrics());
    server.tasks = std::make_unique<tasks::Tasks>(*server.store, *server.wake, process,
                                                  store_.clock(), store_.metrics());
  }

  /// A batch of one to three commands on the same few names, or something of its own.
  std::function<void()> NextWork(std::size_t i) {
    Server& server = servers_[i];
    if (server.batches_left-- == 0) return nullptr;
    server.watch->locked_at_ms = 0;
    const auto roll = Random(20);
    if (roll == 0)
      SubmitTidy(server);
    else if (roll <= 3 && !told_.empty())
      SubmitWrite(server);
    else if (subject_ == Subject::kTasks && roll <= 14)
      SubmitTask(server);
    else
      for (auto count = 1 + Random(3); count > 0; --count) SubmitLease(server);
    return [&server] {
      while (server.store->WriteLane(0).RunOnce()) {
      }
    };
  }

  void SubmitTidy(Server& server) {
    tidied_ = true;
    server.leases->TidySome({.history_ms = kNeverMs, .retention_ms = 100}, nullptr,
                            [this](auto result) { Expect(result); });
  }

  void SubmitLease(Server& server) {
    const auto roll = told_.empty() ? 0 : Random(10);
    if (roll < 5)
      SubmitAcquire(server);
    else if (roll < 7)
      SubmitRenew(server);
    else if (roll < 9)
      SubmitRelease(server);
    else
      server.leases->Break({AnyName(), "because", static_cast<std::int64_t>(Random(50)), false, {}},
                           nullptr, [this](auto result) { Expect(result); });
  }

  void SubmitAcquire(Server& server) {
    AcquireCommand command;
    command.key = AnyName();
    command.term = NewTerm();
    // Now and then a term that may be live, over, or waiting.
    if (!terms_.empty() && Random(4) == 0) command.term = terms_[Random(terms_.size())];
    terms_.push_back(command.term);
    command.ttl_ms = kTtlMs;
    command.wait = static_cast<AcquireCommand::Wait>(Random(3));
    command.received_boot_ms = store_.clock().BootMs();
    server.leases->Acquire(command, nullptr,
                           [this, &server, command](db::Result<leases::AcquireOutcome> result) {
                             if (!Expect(result)) return;
                             if (const auto* grant = std::get_if<Grant>(&result.value()))
                               Tell(server, command.key.name, command.term, *grant);
                           });
  }

  /// One call for several leases, each name once.
  void SubmitRenew(Server& server) {
    std::map<std::string, leases::RenewCommand> by_name;
    for (auto count = 1 + Random(2); count > 0; --count) {
      const Told& told = told_[told_.size() - 1 - Random(std::min<std::size_t>(told_.size(), 4))];
      by_name[told.name] = {{tenant_, told.name}, told.grant.fence, told.term, {}};
    }
    std::vector<leases::RenewCommand> commands;
    for (const auto& [name, command] : by_name) commands.push_back(command);
    server.leases->Renew(
        commands, nullptr,
        [this, &server, commands](db::Result<std::vector<leases::RenewOutcome>> result) {
          if (!Expect(result)) return;
          for (std::size_t i = 0; i < commands.size(); ++i)
            if (const auto* grant = std::get_if<Grant>(&result.value()[i]))
              Tell(server, commands[i].key.name, commands[i].term, *grant);
        });
  }

  void SubmitRelease(Server& server) {
    const Told told = told_[told_.size() - 1 - Random(std::min<std::size_t>(told_.size(), 4))];
    leases::ReleaseCommand command{{tenant_, told.name}, told.term, {}};
    base::Uuid asking = told.term;
    // The bug "nobody looks whose term it is": a stranger's request is carried out as the holder's.
    if (planted_ == Planted::kReleaseByAnybody) asking = NewTerm();
    server.leases->Release(command, nullptr,
                           [this, told, asking](db::Result<leases::ReleaseOutcome> result) {
                             if (!Expect(result) || !result.value().released) return;
                             freed_.push_back({told.name, asking});
                           });
  }

  void SubmitTask(Server& server) {
    const bool can_finish = !nominal_.empty() && Random(2) == 0;
    if (can_finish) {
      const Told& told = *std::find_if(told_.rbegin(), told_.rend(),
                                       [](const Told& one) { return one.name == "task/t"; });
      tasks::FinishCommand command{TaskKey(), told.grant.fence, told.term, {}};
      if (Random(4) == 0) command.error = "it did not work";
      server.tasks->Finish(command, nullptr,
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
    command.term = NewTerm();
    command.received_boot_ms = store_.clock().BootMs();
    server.tasks->Claim(command, nullptr,
                        [this, &server, command](db::Result<leases::ClaimOutcome> result) {
                          if (!Expect(result)) return;
                          const auto* run = std::get_if<leases::TaskRun>(&result.value());
                          if (!run) return;
                          Tell(server, "task/t", command.term, run->lock);
                          nominal_[run->lock.fence] = run->nominal_ms;
                        });
  }

  void SubmitWrite(Server& server) {
    const Told told = told_[told_.size() - 1 - Random(std::min<std::size_t>(told_.size(), 4))];
    base::Caller caller(nullptr, {{tenant_, told.name, told.grant.fence}});
    server.store->WriteLane(0).Submit(std::make_unique<WriteHandler::ItemType>(
        write_, std::move(caller), 0, WriteRequest(),
        [this, &server, told](db::Result<WriteReply> result) {
          if (!result.ok() && result.fault().kind() == base::FaultKind::kFenceStale) return;
          if (Expect(result)) wrote_.push_back({told.name, told.grant.fence, server.watch->seen});
        }));
  }

  void Tell(const Server& server, const std::string& name, const base::Uuid& term,
            const Grant& grant) {
    if (grant.now_ms < server.watch->locked_at_ms)
      Violation("a request was decided by a time from before its lock");
    told_.push_back({name, term, grant, server.watch->seen});
  }

  /// The only fault that a request may hear here is the lost reply.
  template <class Reply>
  bool Expect(const db::Result<Reply>& result) {
    if (!result.ok() && !result.fault().outcome_unknown())
      Violation(fmt::format("a request was answered with a fault: {}", result.fault().what()));
    return result.ok();
  }
  void Violation(const std::string& what) { violations_ += "  VIOLATION: " + what + "\n"; }

  /// Runs the lanes of the first process while everybody else rests.
  template <class Reply, class Submit>
  Reply Ask(Submit submit) {
    std::optional<db::Result<Reply>> answer;
    Server& server = servers_[0];
    server.store->WriteLane(0).connection().SetHook(nullptr);
    submit(server, [&](db::Result<Reply> result) { answer = std::move(result); });
    store::Drive(*server.store);
    server.store->WriteLane(0).connection().SetHook(server.watch.get());
    if (!answer->ok()) throw answer->fault();
    return std::move(answer->value());
  }

  /// All grants of a name by fence. A last one is made, so that the name is there and has ended
  /// whatever was under way.
  std::map<std::int64_t, leases::PastGrant> History(const std::string& name) {
    AcquireCommand command;
    command.key = {tenant_, name};
    command.term = NewTerm();
    command.ttl_ms = kTtlMs;
    const auto last = Ask<leases::AcquireOutcome>([&](Server& server, auto done) {
      server.leases->Acquire(command, nullptr, std::move(done));
    });
    if (!std::holds_alternative<Grant>(last))
      Violation(name + " cannot be had, though everybody is gone");
    const auto found = Ask<leases::FindReply>([&](Server& server, auto done) {
      server.leases->Find({{tenant_, name}, 1'000}, nullptr, std::move(done));
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
                              before->fence, before->ended_at_ms, fence, grant.granted_at_ms));
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
    claim.term = NewTerm();
    const auto outcome = Ask<leases::ClaimOutcome>(
        [&](Server& server, auto done) { server.tasks->Claim(claim, nullptr, std::move(done)); });
    const auto* run = std::get_if<leases::TaskRun>(&outcome);
    if (!run) return Violation("T1: the run that is due cannot be had");
    const std::int64_t now_ms = run->lock.now_ms;
    const auto finished = Ask<leases::FinishOutcome>([&](Server& server, auto done) {
      server.tasks->Finish({TaskKey(), run->lock.fence, claim.term, {}}, nullptr, std::move(done));
    });
    if (!finished.accepted) Violation("T1: the run that is due cannot be completed");
    CheckCoverage(now_ms);
    CheckName("task/t");
  }

  /// Every grid time since the first one was run, or is counted as skipped.
  void CheckCoverage(std::int64_t now_ms) {
    const auto list = Ask<tasks::ListReply>(
        [&](Server& server, auto done) { server.tasks->List(tenant_, nullptr, std::move(done)); });
    const tasks::TaskRow& row = list.tasks.at(0).row;
    const auto& [first_fence, first_ms] = *nominal_.begin();
    if (first_fence != 1) return;  // the answer to the first claim was lost
    const std::int64_t grid_times =
        (now_ms - now_ms % kTaskIntervalMs - first_ms) / kTaskIntervalMs;
    if (row.runs + row.skipped != grid_times + 1)
      Violation(fmt::format("T1: of {} grid times {} were run and {} skipped", grid_times + 1,
                            row.runs, row.skipped));
  }

  store::TestStore& store_;
  const Subject subject_;
  const Planted planted_;
  leases::FenceGuard guard_;
  WriteHandler write_;
  std::atomic<int> commits_{0};
  std::vector<const db::Query*> queries_;
  std::array<Server, kProcesses> servers_;
  std::unique_ptr<World> world_;
  int runs_ = 0;

  // Of one run.
  std::mt19937_64 random_;
  std::string tenant_;
  bool tidied_ = false;
  std::vector<base::Uuid> terms_;
  std::vector<Told> told_;
  std::vector<Freed> freed_;
  std::vector<Wrote> wrote_;
  std::vector<Completed> completed_;
  std::map<std::int64_t, std::int64_t> nominal_;  // by fence
  std::string violations_;
};

std::vector<const db::Query*> Queries() {
  std::vector<const db::Query*> all;
  for (const auto module : {leases::sql::All(), tasks::sql::All()})
    all.insert(all.end(), module.begin(), module.end());
  return all;
}

void RunSeeds(Subject subject) {
  store::TestStore store(store::EngineKind::kPostgres, Queries());
  LeaseRun run(store, subject, Planted::kNothing);
  ExpectEverySeedHolds(run);
}

TEST(SteppedLeases, L1_L2_L4_HoldInEveryInterleavingAndNothingDeadlocks) {
  RunSeeds(Subject::kLeases);
}
TEST(SteppedTasks, T1_HoldsInEveryInterleavingAndNothingDeadlocks) { RunSeeds(Subject::kTasks); }

/// Whether a seed finds the bug and says what it is.
bool IsFound(Planted planted, std::string_view by_name) {
  store::TestStore store(store::EngineKind::kPostgres, Queries());
  LeaseRun run(store, Subject::kLeases, planted);
  return FirstFinding(run, by_name) != 0;
}

TEST(SteppedLeases, APlantedLockAndReadInOneStatementIsFound) {
  EXPECT_TRUE(IsFound(Planted::kLockAndReadInOneStatement, "VIOLATION: L"));
}
TEST(SteppedLeases, APlantedClockBeforeTheLockIsFound) {
  EXPECT_TRUE(IsFound(Planted::kClockBeforeLock, "by a time from before its lock"));
}
TEST(SteppedLeases, L4_APlantedReleaseByAnybodyIsFound) {
  EXPECT_TRUE(IsFound(Planted::kReleaseByAnybody, "L4"));
}

}  // namespace
}  // namespace tenure::stepped
