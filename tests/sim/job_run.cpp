#include "sim/job_run.hpp"

#include <fmt/format.h>

namespace tenure::sim {
namespace {

using jobs::Definition;
using messages::Disposition;

constexpr std::int64_t kHourMs = 3'600'000;

/// Of all seeds: a process that begins reads what is there.
SimulatedZones& Tzdata() {
  static SimulatedZones zones(3'600, 10'800);
  return zones;
}

/// A bug of a statement, played by the store itself.
const char* TriggerOf(JobRun::Planted planted) {
  switch (planted) {
    case JobRun::Planted::kTimeIsForgotten:
      return "create trigger planted after update of next_ms on jobs when new.next_ms > "
             "old.next_ms and old.next_ms > 0 and new.every_ms > 0 begin update jobs set next_ms = "
             "new.next_ms + new.every_ms, look_ms = new.look_ms + new.every_ms where id = new.id; "
             "end";
    case JobRun::Planted::kRunWithoutMessage:
      return "create trigger planted after insert on messages begin delete from messages where id "
             "= new.id and new.id in (select id from job_runs where kind = 0); end";
    case JobRun::Planted::kEndIsForgotten:
      return "create trigger planted after update of state on job_runs when new.state = 2 begin "
             "update job_runs set state = 0 where id = new.id; end";
    case JobRun::Planted::kNoteIsLost:
      return "create trigger planted after insert on job_runs when new.state = 4 begin delete from "
             "job_runs where id = new.id; end";
    case JobRun::Planted::kWaitsForEver:
      return "create trigger planted after update of state on job_runs when old.state = 1 and "
             "new.state = 0 begin update job_runs set state = 1, look_ms = 9000000000000000 where "
             "id = new.id; end";
    case JobRun::Planted::kUnchangedIsChanged:
      return "create trigger planted after update of revision on jobs when new.revision > 1 and "
             "old.every_ms > 0 and new.since_ms = old.since_ms begin update jobs set next_ms = "
             "new.changed_ms + new.every_ms, look_ms = new.changed_ms + new.every_ms where id = "
             "new.id and next_ms > 0; end";
    default:
      return "";
  }
}

}  // namespace

JobRun::JobRun(Ensemble& ensemble, std::uint64_t seed, Planted planted)
    : SeedRun(ensemble, seed, kSteps),
      planted_(planted),
      book_([this](const std::string& what) { Violation(what); }) {
  // Times of the day are the same in every run of a seed.
  clock().Advance(12 * kHourMs - Now() % (12 * kHourMs) + 10'000);
  Weather weather;
  weather.crash = Pick({0, 3, 10});
  weather.lost_reply = Pick({0, 5, 15});
  weather.slow = Pick({0, 5, 15});
  weather.unavailable = Pick({0, 2, 8});
  weather.slowest_commit_ms = 400;
  ensemble.tables().Empty({"jobs", "job_runs", "messages", "dead_letters", "finished_messages",
                           "message_claims", "message_workers", "message_owners", "topics"});
  Tzdata().Use("a");
  for (std::size_t i = 0; i < kProcesses; ++i) SeedRun::Restart(i);
  ensemble.tables().Ask("drop trigger if exists planted");
  if (*TriggerOf(planted_)) ensemble.tables().Ask(TriggerOf(planted_));
  book_.Begin(ReadJobs(ensemble.tables()));
  Begin(weather);
  for (const char* name : {"a", "s", "q", "z", "j"}) {
    Put(0, name);
    DriveIt(0);
  }
}

JobRun::~JobRun() {
  HearNothing();
  for (std::size_t i = 0; i < kProcesses; ++i) server(i).messages.Stop();
}

std::unique_ptr<Server> JobRun::Boot(Ensemble::Process& process) {
  return std::make_unique<JobServer>(process, Tzdata().folder());
}

void JobRun::Step() {
  const auto roll = Random(1'000);
  clock().Advance(roll < 500   ? RandomMs(300)
                  : roll < 850 ? RandomMs(5'000)
                  : roll < 980 ? RandomMs(60'000)
                               : RandomMs(8 * kHourMs));
  const std::size_t process = Random(kProcesses);
  Act(process);
  // What arrived may wait for its turn, and shares its transaction with what comes meanwhile.
  if (Chance(70)) DriveIt(process);
}

void JobRun::Act(std::size_t process) {
  const auto roll = Random(100);
  auto& its = server(process);
  if (roll < 40) return its.jobs.Fire(Hear(process));
  if (roll < 50) return Claim(process);
  if (roll < 62) return SettleSome(process);
  if (roll < 65) return its.messages.PromoteSome(Hear(process));
  if (roll < 68) return its.messages.ReapSome({true}, Hear(process));
  Operate(process);
}

void JobRun::Operate(std::size_t process) {
  const auto roll = Random(100);
  const std::string name = AnyName();
  if (roll < 25) return Put(process, name);
  if (roll < 33) return Change(process, jobs::DeleteCommand{KeyOf(name)}, "remove " + name);
  if (roll < 45) return Change(process, jobs::TriggerCommand{KeyOf(name), {}}, "trigger " + name);
  if (roll < 55) return Backfill(process, name);
  if (roll < 68) {
    jobs::PauseCommand pause{KeyOf(name), "why", 0};
    if (Chance(40)) pause.until_ms = lead_ms_ + Now() + RandomMs(20'000);
    return Change(process, pause, "pause " + name);
  }
  if (roll < 82) return Change(process, jobs::ResumeCommand{KeyOf(name)}, "resume " + name);
  if (roll < 86) {
    Trace("tzdata is replaced");
    return Tzdata().Use(Chance(50) ? "a" : "b");
  }
  if (roll < 94) return RenewZones(process);
  messages::DeadChangeRequest redrive;
  redrive.filter.tenant = kTenant;
  server(process).messages.ChangeDead(redrive, nullptr, Hear(process));
}

void JobRun::Put(std::size_t process, const std::string& name) {
  Definition& definition = put_[name];
  // One that changes nothing, or another field only.
  const bool again = !definition.topic.empty() && Chance(40);
  if (!again) {
    definition = {};
    definition.topic = "t";
    if (name == "z") {
      definition.cron = "0 6,18 * * *";
      definition.zone = SimulatedZones::kZone;
    } else {
      definition.every_ms = name == "j" ? 7'000 : Pick({1'000, 5'000, 60'000});
    }
    definition.overlap = name == "a"   ? jobs::Overlap::kAllow
                         : name == "s" ? jobs::Overlap::kSkip
                         : name == "q" ? jobs::Overlap::kQueueOne
                                       : static_cast<jobs::Overlap>(Random(3));
    definition.missed = static_cast<jobs::Missed>(Random(3));
    definition.missed_window_ms = Pick({1'000, 20'000, 3'600'000});
    definition.missed_cap = Pick({1, 3, 8});
    if (name == "j") definition.jitter_ms = 2'000;
    if (name == "a" && Chance(30)) {
      definition.starts_ms = lead_ms_ + Now() + RandomMs(10'000);
      definition.ends_ms = definition.starts_ms + 1 + RandomMs(100'000);
    }
    if (name == "s" && Chance(20)) definition.enabled = false;
  } else if (Chance(50)) {
    definition.priority = static_cast<int>(Random(10));
  }
  Change(process, jobs::PutCommand{KeyOf(name), definition}, "put " + name);
}

void JobRun::Change(std::size_t process, jobs::JobCommand command, const std::string& what) {
  Trace(fmt::format("{} at process {}", what, process));
  server(process).jobs.Change(std::move(command), nullptr, Hear(process));
}

void JobRun::Backfill(std::size_t process, const std::string& name) {
  jobs::BackfillCommand backfill{KeyOf(name)};
  backfill.to_ms = lead_ms_ + Now() - RandomMs(3'000);
  backfill.from_ms = backfill.to_ms - RandomMs(60'000);
  Trace(fmt::format("backfill {} at process {}", name, process));
  server(process).jobs.Change(
      backfill, nullptr, Hear(process, [this, name, backfill](const auto& result) {
        using Kind = jobs::JobOutcome::Kind;
        if (result.ok() &&
            (result.value().kind == Kind::kDone || result.value().kind == Kind::kUnchanged))
          book_.Backfilled(name, backfill.from_ms, backfill.to_ms);
      }));
}

void JobRun::Claim(std::size_t process) {
  messages::ClaimRequest request;
  request.tenant = kTenant;
  request.topics = {"t"};
  request.max = calm() ? 100 : 1 + static_cast<std::int64_t>(Random(4));
  request.owner = "somebody";
  request.lease_ms = 30'000;
  server(process).messages.Claim(request, nullptr, Hear(process, [this](const auto& result) {
                                   if (!result.ok()) return;
                                   for (const auto& each : result.value().messages)
                                     claimed_.push_back(each);
                                 }));
}

void JobRun::SettleSome(std::size_t process) {
  if (claimed_.empty()) return Claim(process);
  messages::SettleRequest request{.tenant = kTenant};
  request.disposition = calm() || Chance(60) ? Disposition::kDone
                        : Chance(50)         ? Disposition::kDead
                                             : Disposition::kRetry;
  while (!claimed_.empty() && request.settlements.size() < (calm() ? 100u : 3u)) {
    const std::size_t which = Random(claimed_.size());
    messages::Settlement settlement;
    settlement.id = claimed_[which].id;
    settlement.fence = claimed_[which].fence;
    settlement.error = "no";
    settlement.retry_after_ms = 500;
    bool is_other = true;  // each message once
    for (const auto& each : request.settlements) is_other &= each.id != settlement.id;
    if (is_other) request.settlements.push_back(settlement);
    // Who asks twice is told that it is too late.
    if (!Chance(10) || calm())
      claimed_.erase(claimed_.begin() + static_cast<std::ptrdiff_t>(which));
    if (!is_other) break;
  }
  server(process).messages.Settle(std::move(request), nullptr,
                                  Hear(process, [this](const auto& result) {
                                    if (!result.ok()) return;
                                    for (const auto outcome : result.value().reply.outcomes)
                                      if (outcome == messages::SettleOutcome::kDone)
                                        ++acknowledged_;
                                  }));
}

void JobRun::RenewZones(std::size_t process) {
  server(process).jobs.zones().Renew();
  Change(process, jobs::RecomputeCommand{KeyOf("z")}, "renew the zones");
}

void JobRun::DriveIt(std::size_t process) {
  driven_ = process;
  Drive(process);
}

void JobRun::OnBefore(std::string_view step) {
  if (step == "begin") begun_ms_ = Now();
}

JobCommit JobRun::Commit() const {
  return {.now_ms = begun_ms_ + lead_ms_,
          .fires = queries().contains("jobs.lock_due"),
          .zone_ms = Tzdata().OffsetMs(
              const_cast<JobRun*>(this)->server(driven_).jobs.zones().Get()->version())};
}

void JobRun::OnCommitted() {
  auto& tables = ensemble().tables();
  tables.Ask("begin");
  lead_ms_ = tables.Number("select now_ms - boot_ms from clock_mark");
  book_.Committed(ReadJobs(tables), Commit());
  tables.Ask("commit");
}

void JobRun::DriveRest() {
  for (std::size_t i = 0; i < kProcesses; ++i) DriveIt(i);
}

void JobRun::Settle() {
  if (has_violations()) return;
  DriveRest();
  for (const char* name : {"a", "s", "q", "z", "j"}) {
    Change(0, jobs::ResumeCommand{KeyOf(name)}, std::string("resume ") + name);
    DriveIt(0);
  }
  for (std::size_t i = 0; i < kProcesses; ++i) {
    RenewZones(i);
    DriveIt(i);
  }
  constexpr int kMostRounds = 12;
  for (int round = 0; round < kMostRounds && !has_violations(); ++round) {
    // What is left comes to its end.
    if (round == 1)
      for (auto& [name, definition] : put_) {
        definition.enabled = false;
        Change(0, jobs::PutCommand{KeyOf(name), definition}, "disable " + name);
        DriveIt(0);
      }
    clock().Advance(61'000);
    for (std::size_t i = 0; i < kProcesses; ++i) {
      server(i).jobs.Fire(Hear(i));
      server(i).messages.ReapSome({true}, Hear(i));
      DriveIt(i);
      server(i).messages.PromoteSome(Hear(i));
      DriveIt(i);
    }
    claimed_.clear();
    for (int claims = 0; claims < 200; ++claims) {
      Claim(0);
      DriveIt(0);
      if (claimed_.empty()) break;
      while (!claimed_.empty()) {
        SettleSome(0);
        DriveIt(0);
      }
    }
    if (round > 1 && !book_.has_open()) break;
  }
  server(0).jobs.Fire(Hear(0));
  DriveIt(0);
  if (has_violations()) return;
  driven_ = 0;
  begun_ms_ = Now();
  book_.AtRest(Commit());
}

}  // namespace tenure::sim
