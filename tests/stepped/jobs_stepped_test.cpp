// Jobs under the stepped scheduler: M3 and the policies over whole histories, processes that crash
// between any two statements of a fire, operators who change, pause, trigger, backfill and remove a job at
// the same time, and planted bugs that must be found.

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "jobs/jobs.hpp"
#include "jobs_sql/queries.hpp"
#include "messages_sql/queries.hpp"
#include "sim/simulated_zones.hpp"
#include "stepped/frame.hpp"

namespace tenure::stepped {
namespace {

using jobs::JobKey;
using messages::ClaimedMessage;
using messages::Disposition;

constexpr std::int64_t kPeriodMs = 1'000;
/// Of the job whose times move with tzdata.
constexpr std::int64_t kZonedPeriodMs = 4'000;
constexpr std::int64_t kLongestJumpMs = 25'000;

/// What is wrong on purpose.
enum class JobBug { kNothing, kNoCompareAndSet, kLookBeforeLock, kEnqueueLater };

const db::Query kLiveAsItWas{
    "jobs.load_live",
    "select item.ordinal, s.latest, s.waiting from unnest($1::uuid[]) with ordinality as item "
    "(job_id, ordinal) join stepped_live s on s.job_id = item.job_id and s.pid = pg_backend_pid()",
    ""};
const db::Query kPutAside{
    "messages.insert_messages",
    "insert into stepped_later (id, topic_id, line, due_ms, kind, payload, correlation_id, "
    "headers, "
    "trace, now_ms) select *, $10::bigint from unnest($1::uuid[], $2::bigint[], $3::bigint[], "
    "$4::bigint[], $5::bigint[], $6::bytea[], $7::text[], $8::text[], $9::text[])",
    ""};
const db::Query kBringIn{
    "stepped.bring_in",
    "with mine as (delete from stepped_later where pid = pg_backend_pid() returning *) "
    "insert into tenure.messages (id, topic_id, line, pos, due_ms, enqueued_ms, fence, "
    "lease_until_ms, worker, claimed_ms, attempts, crashes, payload_kind, payload, correlation_id, "
    "headers, trace, error) select id, topic_id, line, case when due_ms <= now_ms then "
    "nextval('tenure.message_positions') else 0 end, due_ms, now_ms, 0, 0, 0, 0, 0, 0, kind, "
    "payload, correlation_id, headers, trace, '' from mine",
    ""};

struct BringInRequest {};
struct BringInReply {};
class BringInHandler final : public db::TypedHandler<BringInRequest, BringInReply> {
 public:
  std::string_view name() const override { return "stepped.bring_in"; }

 protected:
  void WriteItems(db::Transaction& tx, Items items) override {
    tx.Queue(kBringIn);
    for (auto* item : items) item->reply = BringInReply();
  }
};

struct JobServer final : Server {
  JobServer(Process& its, const std::string& zones)
      : process(its),
        messages(its.store(), its.wake(), its.name(), its.clock(), its.metrics()),
        jobs(its.store(), messages, its.wake(), {}, its.metrics(), zones) {}

  Process& process;
  messages::Messages messages;
  jobs::Jobs jobs;
};

class JobRun final : public Frame {
 public:
  explicit JobRun(JobBug planted)
      : Frame({.queries = QueriesOf({jobs::sql::All(), messages::sql::All()}, {&kBringIn}),
               .tables = {"jobs", "job_runs", "messages", "message_claims", "dead_letters"},
               .batches = 6,
               .odds = {.crash_percent = 3}}),
        planted_(planted) {
    if (planted == JobBug::kNoCompareAndSet) {
      Plant(jobs::sql::kLockDue, "for no key update skip locked", "");
      tables().Ask("drop index tenure.job_runs_once");
    }
    tables().Ask("create table stepped_live (pid int, job_id uuid, latest uuid, waiting bigint)");
    if (planted == JobBug::kLookBeforeLock) Plant(kLiveAsItWas);
    if (planted == JobBug::kEnqueueLater) Plant(kPutAside);
    tables().Ask(
        "create table stepped_later (id uuid, topic_id bigint, line bigint, due_ms bigint, kind "
        "bigint, payload bytea, correlation_id text, headers text, trace text, now_ms bigint, "
        "pid int default pg_backend_pid())");
  }

 private:
  static constexpr const char* kNames[] = {"allow", "skip", "queue"};
  /// What operators do things to all the time. Its schedule stays as it is.
  static constexpr const char* kChanging = "changing";
  /// Its times move by a second with each version of tzdata.
  static constexpr const char* kZoned = "zoned";

  JobKey KeyOf(const std::string& name) const { return {tenant(), name}; }
  jobs::Definition Defined(const std::string& name) const {
    jobs::Definition definition;
    definition.topic = "t";
    definition.every_ms = kPeriodMs;
    definition.overlap = name == "allow"  ? jobs::Overlap::kAllow
                         : name == "skip" ? jobs::Overlap::kSkip
                                          : jobs::Overlap::kQueueOne;
    return definition;
  }

  std::unique_ptr<Server> Boot(Process& process) override {
    // What a process had in mind to do later died with it. (Its connection, and so its pid, rest.)
    if (planted_ == JobBug::kEnqueueLater)
      tables().Ask(
          "delete from stepped_later where ctid = any (array(select ctid from stepped_later "
          "for update skip locked))");
    return std::make_unique<JobServer>(process, tzdata_.folder());
  }
  void Begin() override {
    claimed_.clear();
    zoned_ = {};
    latest_ms_ = clock().WallMs();
    is_set_back_ = Chance(25);
    for (const char* name : kNames) AskTo(jobs::PutCommand{KeyOf(name), Defined(name)});
    AskTo(jobs::PutCommand{KeyOf(kChanging), Defined(kChanging)});
    jobs::Definition zoned = Defined("allow");
    zoned.every_ms = 0;
    zoned.cron = "*/4 * * * * *";
    zoned.zone = sim::SimulatedZones::kZone;
    AskTo(jobs::PutCommand{KeyOf(kZoned), zoned});
  }
  void AskTo(const jobs::JobCommand& command) {
    Ask<jobs::JobOutcome>([&](Process& process, auto done) {
      ServerOf<JobServer>(process).jobs.Change(command, std::move(done));
    });
    BringIn();
  }
  void BringIn() {
    if (planted_ != JobBug::kEnqueueLater) return;
    Ask<BringInReply>([&](Process& process, auto done) {
      process.store().Submit(bring_in_, nullptr, BringInRequest(), std::move(done));
    });
  }
  /// Somebody else's lock on a key is answered so.
  bool IsExpected(const base::Fault& fault) const override {
    return fault.kind() == base::FaultKind::kContended;
  }
  /// Time passes, and now and then the store's clock jumps, in a quarter of the seeds also back.
  void BetweenSteps() override {
    const auto jump_ms = static_cast<std::int64_t>(Random(kLongestJumpMs));
    if (Random(1'000) < 5)
      is_set_back_ ? clock().StepWall(-jump_ms) : clock().Advance(jump_ms);
    else
      clock().Advance(static_cast<std::int64_t>(Random(60)));
    latest_ms_ = std::max(latest_ms_.load(), clock().WallMs());
  }

  void OnStep(Process& process, std::string_view step) override {
    if (planted_ != JobBug::kLookBeforeLock || step != "begin") return;
    // What the transaction that now begins will take for live, whatever others do before it has its locks.
    for (db::Lane* lane : process.store().AllLanes()) {
      const int pid = BackendPidOf(lane->connection());
      tables().Ask(fmt::format("delete from stepped_live where pid = {}", pid));
      tables().Ask(fmt::format(
          "insert into stepped_live select {}, j.id, (select r.id from tenure.job_runs r where "
          "r.job_id = j.id and r.state = 0 order by r.nominal_ms desc limit 1), (select count(*) "
          "from tenure.job_runs r where r.job_id = j.id and r.state = 1) from tenure.jobs j",
          pid));
    }
  }

  void Submit(Process& process) override {
    auto& server = ServerOf<JobServer>(process);
    const auto roll = Random(100);
    if (roll < 40) return SubmitFire(server);
    if (roll < 57) return SubmitClaim(server);
    if (roll < 78) return SubmitSettle(server);
    if (roll < 81) return SubmitTrigger(server);
    if (roll < 83) return tzdata_.Use(Chance(50) ? "a" : "b");
    if (roll < 86) return SubmitRenewal(server);
    if (roll < 97) return SubmitChange(server);
    server.messages.PromoteSome(Expected());
  }

  /// What wrote runs has been answered; with the bug that enqueues later, that is now.
  auto Wrote(JobServer& server) {
    return [this, &server](const auto& result) {
      if (Expect(result) && planted_ == JobBug::kEnqueueLater)
        server.process.store().Submit(bring_in_, nullptr, BringInRequest(), Expected());
    };
  }
  void SubmitFire(JobServer& server) { server.jobs.Fire(Wrote(server)); }

  void SubmitClaim(JobServer& server) {
    messages::ClaimRequest request;
    request.tenant = tenant();
    request.topics = {"t"};
    request.max = 1 + static_cast<std::int64_t>(Random(3));
    request.owner = "somebody";
    server.messages.Claim(request, nullptr, [this](const db::Result<messages::ClaimReply>& result) {
      if (!Expect(result)) return;
      for (const ClaimedMessage& each : result.value().messages) claimed_.push_back(each);
    });
  }

  void SubmitSettle(JobServer& server) {
    if (claimed_.empty()) return SubmitClaim(server);
    const std::size_t which = Random(claimed_.size());
    const ClaimedMessage message = claimed_[which];
    const auto how = Random(10) < 7 ? Disposition::kDone
                     : Chance(50)   ? Disposition::kDead
                                    : Disposition::kRetry;
    server.messages.Settle({tenant(), how, {{message.id, message.fence, "no", 100, ""}}, {}},
                           nullptr, Expected());
  }

  void SubmitTrigger(JobServer& server) {
    server.jobs.Change(jobs::TriggerCommand{KeyOf("allow"), {}}, Wrote(server));
  }

  void SubmitRenewal(JobServer& server) {
    server.jobs.zones().Renew();
    server.jobs.Change(jobs::RecomputeCommand{KeyOf(kZoned)}, Wrote(server));
  }

  /// Whoever decides about the zoned job decides all times from its next one on, as the tzdata of its process names
  /// them, and leaves the first that is neither decided nor due.
  void OnCommit(Process& process) override {
    if (!process.queries.contains("jobs.lock_due") && !process.queries.contains("jobs.lock_jobs"))
      return;
    const auto job =
        tables().Ask(std::string("select next_ms from tenure.jobs where name = '") + kZoned + "'");
    if (job.empty()) return;
    const std::int64_t offset_ms =
        tzdata_.OffsetMs(ServerOf<JobServer>(process).jobs.zones().Get()->version());
    const auto named_from = [&](std::int64_t from_ms) {
      const std::int64_t rest = (from_ms + offset_ms) % kZonedPeriodMs;
      return from_ms + (rest == 0 ? 0 : kZonedPeriodMs - rest);
    };
    const std::int64_t before_ms = std::exchange(zoned_.next_ms, std::stoll(job[0][0]));
    std::set<std::int64_t> written;
    for (const auto& row :
         tables().Ask(std::string("select r.id, r.nominal_ms, case r.state when 4 then "
                                  "r.first_ms else r.nominal_ms end from tenure.job_runs r join "
                                  "tenure.jobs j on j.id = r.job_id where j.name = '") +
                      kZoned + "'")) {
      if (!zoned_.runs.insert(row[0]).second) continue;
      const std::int64_t last_ms = std::stoll(row[1]);
      for (std::int64_t at = std::stoll(row[2]); at <= last_ms; at += kZonedPeriodMs)
        if (!written.insert(at).second) Violation("M3: a time of the zoned job was decided twice");
    }
    std::int64_t wanted_ms = named_from(before_ms);
    for (const std::int64_t at : written) {
      if (before_ms > 0 && at != wanted_ms)
        Violation(fmt::format("M3: the zoned job decides {}, and {} was next", Since(at),
                              Since(wanted_ms)));
      wanted_ms = at + kZonedPeriodMs;
      zoned_.decided_ms = std::max(zoned_.decided_ms, at);
    }
    if (zoned_.next_ms == before_ms) return;
    if (named_from(zoned_.next_ms) != zoned_.next_ms || zoned_.next_ms <= zoned_.decided_ms ||
        zoned_.next_ms - kZonedPeriodMs > std::max(zoned_.decided_ms, latest_ms_.load()))
      Violation(fmt::format("M3: the next time of the zoned job is {}", Since(zoned_.next_ms)));
  }

  void SubmitChange(JobServer& server) {
    const JobKey key = KeyOf(kChanging);
    const auto change = [&](jobs::JobCommand command) {
      server.jobs.Change(std::move(command), Wrote(server));
    };
    const auto roll = Random(100);
    if (roll < 30) {
      jobs::Definition definition = Defined(kChanging);
      definition.priority = static_cast<int>(Random(10));
      return change(jobs::PutCommand{key, definition});
    }
    if (roll < 45) return change(jobs::PauseCommand{key, "why", 0});
    if (roll < 65) return change(jobs::ResumeCommand{key});
    if (roll < 75) return change(jobs::TriggerCommand{key, {}});
    if (roll < 88) {
      jobs::BackfillCommand backfill{key};
      backfill.to_ms = clock().WallMs();
      backfill.from_ms = backfill.to_ms - 3 * kPeriodMs;
      return change(backfill);
    }
    change(jobs::DeleteCommand{key});
  }

  void Judge() override {
    CheckMessages();
    // One that was removed is there again, and none is paused.
    AskTo(jobs::PutCommand{KeyOf(kChanging), Defined(kChanging)});
    AskTo(jobs::ResumeCommand{KeyOf(kChanging)});
    CheckMessages();
    CheckTimes(kChanging);
    for (const char* name : kNames) CheckTimes(name);
    for (const char* name : {"skip", "queue"}) CheckOverlap(name);
    if (!has_violations()) CheckGoesOn();
    tzdata_.Use("a");  // the next seed begins with it
  }

  std::int64_t Number(const std::string& sql) { return tables().Number(sql); }

  /// A run that is not over is a message, and the other way round.
  void CheckMessages() {
    if (Number("select count(*) from tenure.job_runs r where r.state < 2 and not exists (select "
               "from tenure.messages m where m.id = r.id)") > 0)
      Violation("M3: a run has lost its message");
    if (Number("select count(*) from tenure.messages m where not exists (select from "
               "tenure.job_runs r where r.id = m.id and r.state < 2)") > 0)
      Violation("M3: a message is of no run that is not over");
    if (Number("select count(*) from tenure.job_runs r where r.state = 1 and exists (select from "
               "tenure.messages m where m.id = r.id and (m.pos > 0 or m.fence > 0))") > 0)
      Violation("a run that waits could be claimed");
  }

  /// Every time of the schedule up to the next one is decided, and once: by one run, or by one note that it was
  /// left out. A backfill makes a run for what was left out.
  void CheckTimes(const std::string& name) {
    const auto job =
        tables().Ask("select id, created_ms, next_ms from tenure.jobs where name = '" + name + "'");
    if (job.empty()) return Violation("a job is gone");
    const std::int64_t created_ms = std::stoll(job[0][1]);
    const std::int64_t next_ms = std::stoll(job[0][2]);
    std::map<std::int64_t, int> runs, notes, backfilled;
    for (const auto& row : tables().Ask(
             "select nominal_ms, state, first_ms, kind from tenure.job_runs where kind <> 1 and "
             "job_id = '" +
             job[0][0] + "'")) {
      const std::int64_t nominal_ms = std::stoll(row[0]);
      const bool is_note = row[1] == "4";
      if ((nominal_ms - created_ms) % kPeriodMs != 0)
        Violation(fmt::format("M3: {} has a run for a time that it does not name", name));
      if (is_note)
        for (std::int64_t at = std::stoll(row[2]); at <= nominal_ms; at += kPeriodMs) ++notes[at];
      else
        ++(row[3] == "2" ? backfilled : runs)[nominal_ms];
    }
    for (std::int64_t at = created_ms + kPeriodMs; at < next_ms; at += kPeriodMs) {
      const int times = runs[at] + (backfilled[at] > 0 ? 0 : notes[at]);
      if (times + backfilled[at] != 1 || notes[at] > 1)
        return Violation(
            fmt::format("M3: a time of {} was decided {} times", name, times + backfilled[at]));
    }
  }

  /// No run of the schedule was written, or began to be ready, while another one was not over.
  void CheckOverlap(const std::string& name) {
    // Instants say nothing about what came first when the clock went back.
    if (name == "skip" && is_set_back_) return;
    if (Number("select count(*) from tenure.job_runs a join tenure.job_runs b on b.job_id = "
               "a.job_id and b.nominal_ms > a.nominal_ms and a.state in (0, 2, 3) and b.state in "
               "(0, 2, 3) join tenure.jobs j on j.id = a.job_id and j.name = '" +
               name + "' where " +
               (name == "skip" ? "b.made_ms < case a.ended_ms when 0 then "
                                 "9000000000000000 else a.ended_ms end"
                               : "a.state = 0 and b.state = 0")) > 0)
      Violation(fmt::format("two runs of {} overlap", name));
    if (Number("select count(*) from tenure.job_runs r join tenure.jobs j on j.id = r.job_id and "
               "j.name = '" +
               name + "' where r.state = 1") > 1)
      Violation(fmt::format("two runs of {} wait", name));
  }

  /// Whatever crashed: what is due fires, and what waits for nothing is ready, within a minute.
  void CheckGoesOn() {
    for (int i = 0; i < 3; ++i) {
      clock().Advance(61'000);
      Ask<jobs::FireReply>([&](Process& process, auto done) {
        ServerOf<JobServer>(process).jobs.Fire(std::move(done));
      });
      BringIn();
    }
    if (Number("select count(*) from tenure.jobs where look_ms = 0 or look_ms <= " +
               std::to_string(clock().WallMs())) > 0)
      Violation("M3: a job fires no more");
    if (Number("select count(*) from tenure.job_runs w where w.state = 1 and not exists (select "
               "from tenure.job_runs r where r.job_id = w.job_id and r.state = 0)") > 0)
      Violation("a run waits for nothing");
    CheckMessages();
  }

  const JobBug planted_;
  BringInHandler bring_in_;

  sim::SimulatedZones tzdata_{0, 1};

  // Of one run.
  std::vector<ClaimedMessage> claimed_;
  bool is_set_back_ = false;
  std::atomic<std::int64_t> latest_ms_{0};  // that the store's clock ever showed
  struct Zoned {
    std::int64_t next_ms = 0;
    std::int64_t decided_ms = 0;
    std::set<std::string> runs{};
  };
  Zoned zoned_;
};

TEST(SteppedJobs, M3_HoldsInEveryInterleavingAndNothingDeadlocks) {
  JobRun run(JobBug::kNothing);
  support::ExpectEverySeedHolds(run, kSeeds);
}

TEST(SteppedJobs, EveryPlantedBugIsFound) {
  using enum JobBug;
  using Bug = std::pair<JobBug, const char*>;
  for (const auto& [planted, by_name] :
       {Bug{kNoCompareAndSet, "was decided 2 times"}, Bug{kLookBeforeLock, "overlap"},
        Bug{kEnqueueLater, "has lost its message"}})
    support::ExpectFound(JobRun(planted), kSeedsForABug, by_name);
}

}  // namespace
}  // namespace tenure::stepped
