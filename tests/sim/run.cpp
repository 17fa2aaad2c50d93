#include "sim/run.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace tenure::sim {
namespace {

constexpr std::size_t kProcesses = 3;
constexpr int kSteps = 110;
/// Runs begin on a multiple of this by the store's clock, so that a task's grid lies the same way.
constexpr std::int64_t kGridMs = 100'000;
constexpr std::int64_t kTaskIntervalMs = 1'000;
constexpr std::int64_t kTaskLockMs = 800;
/// Below this nobody's ticket dies for want of a refresh (every second, good for three).
constexpr std::int64_t kLongestJumpMs = 900;
constexpr std::int64_t kSlowestCommitMs = 400;

}  // namespace

Run::Run(Server& server, base::ManualClock& clock, Options options)
    : server_(server),
      clock_(clock),
      options_(std::move(options)),
      random_(options_.seed * 0x9E3779B97F4A7C15ULL + 1) {
  clock_.Advance(kGridMs - clock_.WallMs() % kGridMs);
  begun_ms_ = Now();
  const auto pick = [&](std::initializer_list<int> of) { return of.begin()[Random(of.size())]; };
  lose_percent_ = pick({0, 3, 10});
  double_percent_ = pick({0, 3, 10});
  slow_percent_ = pick({0, 3, 15});
  unavailable_percent_ = pick({0, 2, 8});
  gain_per_mille_ = pick({0, 20, 85});
  const std::size_t leases = 1 + Random(2);
  const bool with_task = Chance(50);
  const Complain complain = [this](const std::string& what) { Violation(what); };
  for (std::size_t i = 0; i < leases; ++i) {
    const std::string name = i == 0 ? "a" : "b";
    names_.push_back({{options_.tenant, name}, pick({300, 1'000}), LeaseBook(name, complain), {}});
  }
  if (with_task)
    names_.push_back({{options_.tenant, "task/t"},
                      kTaskLockMs,
                      LeaseBook("task/t", complain),
                      TaskBook(kTaskIntervalMs, complain)});
  processes_.resize(kProcesses);
  for (std::size_t process = 0; process < kProcesses; ++process)
    for (std::size_t name = 0; name < names_.size(); ++name)
      agents_.push_back({.process = process, .name = name});
  server_.watch().before = [this](std::string_view step) { BeforeStoreStep(step); };
}

Run::~Run() { server_.watch().before = nullptr; }

std::string Run::Execute() {
  for (int step = 0; step < kSteps && violations_.empty(); ++step) Step();
  Settle();
  return violations_;
}

void Run::Step() {
  slowed_ = false;
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
    Crash(Random(kProcesses));
  else if (what < 195)
    Pause(Random(kProcesses));
  else if (what < 199)
    SendBreak();
  else if (Chance(30))
    CrashServer();
  // What arrived may wait for its turn, and shares its transaction with what comes meanwhile.
  if (Chance(75)) DriveServer();
  CheckHeld();
}

/// Any message that can go on its way; one for a process that pauses can be received, but nobody
/// looks at it.
void Run::DeliverOne() {
  if (bag_.empty()) return ActOne();
  const std::size_t index = Random(bag_.size());
  Message& message = bag_[index];
  if (message.process && processes_[*message.process].paused_until_ms != 0) {
    if (!message.received_ms) message.received_ms = Now();
    return;
  }
  DeliverAt(index);
}

void Run::DeliverAt(std::size_t index) {
  const Message message = std::move(bag_[index]);
  bag_.erase(bag_.begin() + static_cast<std::ptrdiff_t>(index));
  if (message.process && processes_[*message.process].generation != message.generation) return;
  Trace(fmt::format("{} arrives", message.label));
  message.deliver(message.received_ms.value_or(Now()));
}

void Run::ActOne() {
  const std::size_t index = Random(agents_.size());
  if (processes_[agents_[index].process].paused_until_ms == 0) Act(index);
}

void Run::Pass(std::int64_t ms) {
  clock_.Advance(ms);
  gained_micros_ += ms * gain_per_mille_;
  clock_.StepWall(gained_micros_ / 1'000);
  gained_micros_ %= 1'000;
}

/// Inside of a transaction: time passes between the clock's reading and the answer, or the store is
/// lost before COMMIT.
void Run::BeforeStoreStep(std::string_view step) {
  if (calm_) return;
  if (step == "begin") refreshing_ = false;
  if (step == "leases.refresh_tickets") refreshing_ = true;
  if (step != "commit") return;
  if (!slowed_ && Chance(slow_percent_)) {
    slowed_ = true;
    Trace("the commit is slow");
    Pass(RandomMs(kSlowestCommitMs));
  }
  if (!refreshing_ && Chance(unavailable_percent_)) {
    Trace("the store is lost before the commit");
    throw base::Fault(base::FaultKind::kStoreUnavailable, "the simulation lost the store");
  }
}

void Run::Crash(std::size_t process) {
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

void Run::Abandon(std::size_t waiting) {
  const Waiting gone = line_[waiting];
  line_.erase(line_.begin() + static_cast<std::ptrdiff_t>(waiting));
  names_[gone.name].book.Abandoned(gone.term);
  server_.leases().Abandon(gone.id);
}

/// The server notices it; the process does not, and asks again with the same term some time.
void Run::BreakConnection() {
  if (line_.empty()) return;
  const std::size_t waiting = Random(line_.size());
  Trace(fmt::format("the connection of a request of p{} that waits breaks",
                    agents_[line_[waiting].agent].process));
  Abandon(waiting);
}

void Run::Pause(std::size_t process) {
  Trace(fmt::format("p{} pauses", process));
  processes_[process].paused_until_ms = Now() + 1 + RandomMs(2'500);
}

/// It goes on with what it had received before it paused.
void Run::Resume(std::size_t process) {
  Trace(fmt::format("p{} goes on", process));
  processes_[process].paused_until_ms = 0;
  for (std::size_t i = 0; i < bag_.size();)
    if (bag_[i].process == process && bag_[i].received_ms)
      DeliverAt(i);
    else
      ++i;
}

void Run::CrashServer() {
  Trace("the server crashes");
  line_.clear();
  server_.Crash();
}

void Run::DriveServer() {
  server_.Drive();
  server_.watch().early_.reset();
}

void Run::CheckHeld() {
  for (std::size_t name = 0; name < names_.size(); ++name) {
    int sure = 0;
    for (const Agent& agent : agents_)
      if (agent.name == name && Held(agent) && !names_[name].book.WasForced(agent.fence)) ++sure;
    if (sure > 1) Violation("L3: two processes are sure that they hold one lease");
  }
}

/// The faults stop, what is on its way arrives, time passes. Then everything must be to be had.
void Run::Settle() {
  calm_ = true;
  Trace("the faults stop");
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
  if (!violations_.empty()) return;
  for (Name& name : names_) name.task ? SettleTask(name) : SettleLease(name);
  Tidy();
}

void Run::SettleLease(Name& name) {
  leases::AcquireCommand command;
  command.key = name.key;
  command.term = NewTerm();
  command.ttl_ms = name.ttl_ms;
  command.received_boot_ms = Now();
  bool granted = false;
  server_.leases().Acquire(command, nullptr, [&](const auto& result) {
    if (!result.ok()) return;
    NoteAcquired(name, command.term, ++arrivals_, result.value());
    granted = std::holds_alternative<leases::Grant>(result.value());
  });
  DriveServer();
  if (!granted) Violation(name.key.name + ": cannot be had, though everybody is gone");
}

void Run::SettleTask(Name& name) {
  tasks::ClaimCommand claim;
  claim.key = {options_.tenant, "t"};
  claim.interval_ms = kTaskIntervalMs;
  claim.lock_timeout_ms = name.ttl_ms;
  claim.term = NewTerm();
  claim.received_boot_ms = Now();
  bool done = false;
  server_.tasks().Claim(claim, nullptr, [&](const auto& result) {
    if (!result.ok()) return;
    const auto* run = std::get_if<leases::TaskRun>(&result.value());
    if (!run) return;
    NoteGrant(name, claim.term, run->lock, ++arrivals_);
    name.task->Claimed(server_.watch().at, *run);
    const std::int64_t fence = run->lock.fence;
    server_.tasks().Finish(
        {claim.key, fence, claim.term, {}}, nullptr, [&, fence](const auto& finished) {
          if (!finished.ok()) return;
          done = finished.value().accepted;
          name.task->Finished(server_.watch().at, fence, false, finished.value());
        });
  });
  DriveServer();
  if (!done) Violation("T1: the run that is due cannot be completed");
  server_.tasks().List(options_.tenant, nullptr, [&](const auto& result) {
    const tasks::TaskRow& row = result.value().tasks.at(0).row;
    if (row.runs != name.task->completed()) Violation("T1: the store counts other runs");
    if (row.skipped != name.task->skipped()) Violation("T1: runs were skipped silently");
  });
  DriveServer();
}

/// L2 also holds across the removal of a name. It also keeps the store small.
void Run::Tidy() {
  Pass(30'000);
  leases::TidyRequest request{.history_ms = 10'000, .retention_ms = 10'000};
  for (bool has_more = true; has_more;) {
    server_.leases().TidySome(request, [&](const auto& result) {
      has_more = result.ok() && result.value().has_more;
      if (result.ok()) request.after = result.value().after;
    });
    DriveServer();
  }
  for (Name& name : names_) SettleLease(name);
}

Run::Counts Run::counts() const {
  Counts counts;
  for (const Name& name : names_) {
    counts.grants += name.book.grants();
    if (name.task) counts.task_runs += name.task->completed();
  }
  return counts;
}

base::Uuid Run::NewTerm() {
  base::Uuid term;
  for (std::size_t i = 0; i < term.bytes.size(); i += 8) {
    const std::uint64_t bits = random_();
    for (std::size_t k = 0; k < 8; ++k)
      term.bytes[i + k] = static_cast<std::uint8_t>(bits >> (8 * k));
  }
  return term;
}

void Run::Trace(const std::string& what) {
  if (options_.trace) trace_ += fmt::format("{:6} {}\n", Now() - begun_ms_, what);
}

void Run::Violation(const std::string& what) {
  Trace("VIOLATION " + what);
  violations_ += fmt::format("  {:6} {}\n", Now() - begun_ms_, what);
}

}  // namespace tenure::sim
