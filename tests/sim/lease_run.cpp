#include "sim/lease_run.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "leases/fence_check.hpp"

namespace tenure::sim {
namespace {

constexpr std::size_t kHolders = 3;
/// Runs begin on a multiple of this by the store's clock, so that a task's grid lies the same way.
constexpr std::int64_t kGridMs = 100'000;
constexpr std::int64_t kTaskLockMs = 800;
/// Below this nobody's ticket dies for want of a refresh (every second, good for three).
constexpr std::int64_t kLongestJumpMs = 900;

}  // namespace

void LeaseServer::Write(base::Fence fence, base::UniqueFunction<db::Result<WriteReply>> done) {
  store.Submit(write, base::Caller(nullptr, {std::move(fence)}), {}, std::move(done));
}

LeaseRun::LeaseRun(Ensemble& ensemble, std::uint64_t seed, Planted planted)
    : SeedRun(ensemble, seed, kSteps),
      planted_(planted),
      tenant_(fmt::format("t{}", ensemble.clock().WallMs())) {
  clock().Advance(kGridMs - clock().WallMs() % kGridMs);
  if (!ensemble.IsUp(0)) Restart(0);
  lose_percent_ = Pick({0, 3, 10});
  double_percent_ = Pick({0, 3, 10});
  Weather weather;
  weather.slow = Pick({0, 3, 15});
  weather.unavailable = Pick({0, 2, 8});
  weather.slowest_commit_ms = kSlowestCommitMs;
  weather.slow_once = true;
  gain_per_mille_ = Pick({0, 20, 85});
  const std::size_t leases = 1 + Random(2);
  const bool with_task = Chance(50);
  const Complain complain = [this](const std::string& what) { Violation(what); };
  for (std::size_t i = 0; i < leases; ++i) {
    const std::string name = i == 0 ? "a" : "b";
    names_.push_back({{tenant_, name}, Pick({300, 1'000}), LeaseBook(name, complain), {}});
  }
  if (with_task)
    names_.push_back({{tenant_, "task/t"},
                      kTaskLockMs,
                      LeaseBook("task/t", complain),
                      TaskBook(kTaskIntervalMs, complain)});
  processes_.resize(kHolders);
  for (std::size_t process = 0; process < kHolders; ++process)
    for (std::size_t name = 0; name < names_.size(); ++name)
      agents_.push_back({.process = process, .name = name});
  Begin(weather);
}

std::unique_ptr<Server> LeaseRun::Boot(Ensemble::Process& process) {
  return std::make_unique<LeaseServer>(process);
}

void LeaseRun::OnOpen(db::Store& store) {
  static leases::LeaseFenceCheck fence_check;  // it has no state, and outlives every store
  store.SetFenceCheck(fence_check);
}

void LeaseRun::OnAfter(std::string_view step) {
  if (step == "begin") at_ = {clock().WallMs(), clock().BootMs()};
}

/// A ticket that is not refreshed dies, and that is nobody's fault.
bool LeaseRun::MayBeLost() const { return !queries().contains("leases.refresh_tickets"); }

void LeaseRun::Step() {
  const auto roll = Random(100);
  Pass(roll < 60 ? RandomMs(20) : roll < 97 ? RandomMs(100) : RandomMs(kLongestJumpMs));
  for (std::size_t i = 0; i < processes_.size(); ++i)
    if (processes_[i].paused_until_ms != 0 && Now() >= processes_[i].paused_until_ms) Resume(i);
  const auto what = Random(200);
  if (what < 96)
    DeliverOne();
  else if (what < 182)
    ActOne();
  else if (what < 184)
    BreakConnection();
  else if (what < 189)
    CrashHolder(Random(kHolders));
  else if (what < 195)
    Pause(Random(kHolders));
  else if (what < 199)
    SendBreak();
  else if (Chance(20))
    CrashServer();
  // What arrived may wait for its turn, and shares its transaction with what comes meanwhile.
  if (Chance(75)) DriveServer();
  CheckHeld();
}

/// Any message that can go on its way; one for a process that pauses can be received, but nobody
/// looks at it.
void LeaseRun::DeliverOne() {
  if (bag_.empty()) return ActOne();
  const std::size_t index = Random(bag_.size());
  Message& message = bag_[index];
  if (message.process && processes_[*message.process].paused_until_ms != 0) {
    if (!message.received_ms) message.received_ms = Now();
    return;
  }
  DeliverAt(index);
}

void LeaseRun::DeliverAt(std::size_t index) {
  const Message message = std::move(bag_[index]);
  bag_.erase(bag_.begin() + static_cast<std::ptrdiff_t>(index));
  if (message.process && processes_[*message.process].generation != message.generation) return;
  Trace(fmt::format("{} arrives", message.label));
  message.deliver(message.received_ms.value_or(Now()));
}

void LeaseRun::ActOne() {
  const std::size_t index = Random(agents_.size());
  if (processes_[agents_[index].process].paused_until_ms == 0) Act(index);
}

void LeaseRun::Pass(std::int64_t ms) {
  clock().Advance(ms);
  gained_micros_ += ms * gain_per_mille_;
  clock().StepWall(gained_micros_ / 1'000);
  gained_micros_ %= 1'000;
}

void LeaseRun::CrashHolder(std::size_t process) {
  Trace(fmt::format("p{} crashes", process));
  ++processes_[process].generation;
  processes_[process].paused_until_ms = 0;
  for (Agent& agent : agents_)
    if (agent.process == process) agent = {.process = agent.process, .name = agent.name};
  // The server notices that a client has gone, or does not.
  for (std::size_t i = 0; i < line_.size();) {
    if (agents_[line_[i].agent].process != process || Chance(50))
      ++i;
    else
      Abandon(i);
  }
}

void LeaseRun::Abandon(std::size_t waiting) {
  const Waiting gone = line_[waiting];
  line_.erase(line_.begin() + static_cast<std::ptrdiff_t>(waiting));
  names_[gone.name].book.Abandoned(gone.term);
  server().leases.Abandon(gone.id);
  HangUp(0);
}

/// The server notices it; the process does not, and asks again with the same term some time.
void LeaseRun::BreakConnection() {
  if (line_.empty()) return;
  const std::size_t waiting = Random(line_.size());
  Trace(fmt::format("the connection of a request of p{} that waits breaks",
                    agents_[line_[waiting].agent].process));
  Abandon(waiting);
}

void LeaseRun::Pause(std::size_t process) {
  Trace(fmt::format("p{} pauses", process));
  processes_[process].paused_until_ms = Now() + 1 + RandomMs(2'500);
}

/// It goes on with what it had received before it paused.
void LeaseRun::Resume(std::size_t process) {
  Trace(fmt::format("p{} goes on", process));
  processes_[process].paused_until_ms = 0;
  for (std::size_t i = 0; i < bag_.size();)
    if (bag_[i].process == process && bag_[i].received_ms)
      DeliverAt(i);
    else
      ++i;
}

void LeaseRun::CrashServer() {
  Trace("the server crashes");
  line_.clear();
  Restart(0);
}

void LeaseRun::DriveServer() {
  Drive(0);
  ensemble().ReadClockInTime();
}

void LeaseRun::CheckHeld() {
  for (std::size_t name = 0; name < names_.size(); ++name) {
    int sure = 0;
    for (const Agent& agent : agents_)
      if (agent.name == name && Held(agent) && !names_[name].book.WasForced(agent.fence)) ++sure;
    if (sure > 1) Violation("L3: two processes are sure that they hold one lease");
  }
}

/// The faults stop, what is on its way arrives, time passes. Then everything must be to be had.
void LeaseRun::Settle() {
  for (Process& process : processes_) process.paused_until_ms = 0;
  while (!bag_.empty()) {
    DeliverAt(Random(bag_.size()));
    DriveServer();
  }
  while (!line_.empty()) Abandon(0);
  DriveServer();
  for (int i = 0; i < 10; ++i) {
    Pass(500);
    DriveServer();
    CheckHeld();
  }
  if (has_violations()) return;
  for (Name& name : names_) name.task ? SettleTask(name) : SettleLease(name);
  Tidy();
}

void LeaseRun::SettleLease(Name& name) {
  leases::AcquireCommand command;
  command.key = name.key;
  command.term = NewId();
  command.ttl_ms = name.ttl_ms;
  command.received_boot_ms = Now();
  bool granted = false;
  server().leases.Acquire(command, nullptr, [&](const auto& result) {
    if (!result.ok()) return;
    NoteAcquired(name, command.term, ++arrivals_, result.value());
    granted = std::holds_alternative<leases::Grant>(result.value());
  });
  DriveServer();
  if (!granted) Violation(name.key.name + ": cannot be had, though everybody is gone");
}

void LeaseRun::SettleTask(Name& name) {
  tasks::ClaimCommand claim;
  claim.key = {tenant_, "t"};
  claim.interval_ms = kTaskIntervalMs;
  claim.lock_timeout_ms = name.ttl_ms;
  claim.term = NewId();
  claim.received_boot_ms = Now();
  bool done = false;
  server().tasks.Claim(claim, nullptr, [&](const auto& result) {
    if (!result.ok()) return;
    const auto* run = std::get_if<leases::TaskRun>(&result.value());
    if (!run) return;
    NoteGrant(name, claim.term, run->lock, ++arrivals_);
    name.task->Claimed(at_, *run);
    const std::int64_t fence = run->lock.fence;
    server().tasks.Finish({claim.key, fence, claim.term, {}}, nullptr,
                          [&, fence](const auto& finished) {
                            if (!finished.ok()) return;
                            done = finished.value().accepted;
                            name.task->Finished(at_, fence, false, finished.value());
                          });
  });
  DriveServer();
  if (!done) Violation("T1: the run that is due cannot be completed");
  server().tasks.List(tenant_, nullptr, [&](const auto& result) {
    const tasks::TaskRow& row = result.value().tasks.at(0).row;
    if (row.runs != name.task->completed()) Violation("T1: the store counts other runs");
    if (row.skipped != name.task->skipped()) Violation("T1: runs were skipped silently");
  });
  DriveServer();
}

/// L2 also holds across the removal of a name. It also keeps the store small.
void LeaseRun::Tidy() {
  Pass(30'000);
  leases::TidyRequest request{.history_ms = 10'000, .retention_ms = 10'000};
  for (bool has_more = true; has_more;) {
    server().leases.TidySome(request, nullptr, [&](const auto& result) {
      has_more = result.ok() && result.value().has_more;
      if (result.ok()) request.after = result.value().after;
    });
    DriveServer();
  }
  for (Name& name : names_) SettleLease(name);
}

std::map<std::string, std::int64_t> LeaseRun::counts() const {
  std::int64_t grants = 0;
  std::int64_t task_runs = 0;
  for (const Name& name : names_) {
    grants += name.book.grants();
    if (name.task) task_runs += name.task->completed();
  }
  return {{"grants", grants}, {"completed runs of tasks", task_runs}};
}

}  // namespace tenure::sim
