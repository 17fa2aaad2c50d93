#include "sim/message_run.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace tenure::sim {
namespace {

using messages::Verdict;

constexpr int kSteps = 60;
constexpr auto kTenant = "t";
constexpr std::int64_t kPollMaxMs = 1'000;
constexpr std::int64_t kKeepMs = 1'000'000'000;
constexpr std::int64_t kDedupMs = 5'000;
constexpr std::int64_t kMaxAttempts = 3;
constexpr std::int64_t kMaxCrashes = 2;

/// A bug of a statement, played by the store itself.
const char* TriggerOf(PlantedInMessages planted) {
  switch (planted) {
    case PlantedInMessages::kExtensionIsForgotten:
      return "create trigger planted after update of lease_until_ms on messages "
             "when old.lease_until_ms > 0 and new.lease_until_ms > old.lease_until_ms begin "
             "update messages set lease_until_ms = old.lease_until_ms where id = new.id; end";
    case PlantedInMessages::kTimerFiresTwice:
      return "create trigger planted after update of pos on messages "
             "when old.pos = 0 and new.pos > 0 and old.fence = 0 begin "
             "insert into messages (id, topic_id, line, pos, due_ms, enqueued_ms, fence, "
             "lease_until_ms, worker, claimed_ms, attempts, crashes, payload_kind, payload, "
             "correlation_id, headers, trace, error) select randomblob(16), topic_id, line, pos, "
             "due_ms, enqueued_ms, 0, 0, 0, 0, 0, 0, payload_kind, payload, '', '', '', '' "
             "from messages where id = new.id; end";
    case PlantedInMessages::kClaimIsNotHeld:
      return "create trigger planted after update of fence on messages begin "
             "update messages set lease_until_ms = 0 where id = new.id; end";
    case PlantedInMessages::kEverythingCrashes:
      return "create trigger planted after update of crashes on messages "
             "when old.lease_until_ms > 0 and new.lease_until_ms = 0 and new.error = '' "
             "and new.crashes = old.crashes and new.attempts = old.attempts begin "
             "update messages set crashes = new.crashes + 1 where id = new.id; end";
    case PlantedInMessages::kKeysAreForgotten:
      return "create trigger planted after insert on messages begin delete from message_keys; end";
    case PlantedInMessages::kPauseIsIgnored:
      return "create trigger planted after update of paused_ms on topics "
             "when new.paused_ms > 1 begin "
             "update topics set paused_ms = 0 where topic_id = new.topic_id; end";
    default:
      return "";
  }
}

}  // namespace

MessageRun::MessageRun(Ensemble& ensemble, base::ManualClock& clock, Options options)
    : ensemble_(ensemble),
      clock_(clock),
      options_(options),
      random_(options.seed * 0x9E3779B97F4A7C15ULL + 1),
      book_({.max_attempts = kMaxAttempts,
             .max_crashes = kMaxCrashes,
             .dedup_ms = kDedupMs - kSlowestCommitMs},
            [this](const std::string& what) { Violation(what); }) {
  clock_.Advance(10'000);
  begun_ms_ = Now();
  const auto pick = [&](std::initializer_list<int> of) { return of.begin()[Random(of.size())]; };
  crash_percent_ = pick({0, 3, 10});
  lose_percent_ = pick({0, 5, 15});
  slow_percent_ = pick({0, 5, 15});
  unavailable_percent_ = pick({0, 2, 8});
  // What a process remembers of earlier runs must play no part.
  ensemble_.table().Clear();
  for (std::size_t i = 0; i < Ensemble::kProcesses; ++i) ensemble_.Restart(i);
  for (std::size_t i = 0; i < workers_.size(); ++i) workers_[i].process = i % Ensemble::kProcesses;
  ensemble_.table().Execute("drop trigger if exists planted");
  ensemble_.table().Execute(TriggerOf(options_.planted));
  ensemble_.hook = [this](std::string_view step, Ensemble::When when) { OnStep(step, when); };
}

MessageRun::~MessageRun() {
  ensemble_.hook = nullptr;
  // Those who still wait are told when their process goes; nobody listens.
  for (int& generation : generations_) ++generation;
  for (std::size_t i = 0; i < Ensemble::kProcesses; ++i) ensemble_.messages(i).Stop();
}

std::string MessageRun::Execute() {
  Prepare();
  for (int step = 0; step < kSteps && violations_.empty(); ++step) Step();
  if (violations_.empty()) Drain();
  return violations_;
}

void MessageRun::Prepare() {
  calm_ = true;
  for (const char* topic : {"a", "b"}) {
    messages::TopicChange change;
    change.tenant = kTenant;
    change.name = topic;
    change.max_attempts = kMaxAttempts;
    change.max_crashes = kMaxCrashes;
    change.dedup_ms = kDedupMs;
    change.retention_ms = *topic == 'a' ? kKeepMs : 0;
    ensemble_.messages(0).ChangeTopic(change, nullptr, [](const auto&) {});
  }
  Drive(0);
  calm_ = false;
}

void MessageRun::Step() {
  const auto roll = Random(100);
  clock_.Advance(roll < 60 ? RandomMs(30) : roll < 93 ? RandomMs(900) : RandomMs(9'000));
  if (Chance(2)) clock_.StepWall(RandomMs(4'000) - 2'000);
  const std::size_t process = Random(Ensemble::kProcesses);
  Act(process);
  // What arrived may wait for its turn, and shares its transaction with what comes meanwhile.
  if (Chance(70)) Drive(process);
}

void MessageRun::Act(std::size_t process) {
  const auto roll = Random(100);
  if (roll < 18) return Enqueue(process);
  if (roll < 30) return Pull(process);
  if (roll < 33) return PullAgain(process);
  if (roll < 39) return Wait(process);
  if (roll < 40) return Leave(process);
  if (roll < 56) return ReportSome(process);
  if (roll < 76) return Work(workers_[Random(workers_.size())]);
  if (roll < 82) return ensemble_.messages(process).PromoteSome([](const auto&) {});
  if (roll < 90) return ensemble_.messages(process).ReapSome({!Chance(15)}, [](const auto&) {});
  Operate(process);
}

void MessageRun::Operate(std::size_t process) {
  const auto roll = Random(10);
  if (roll < 3) return Cancel(process);
  if (roll < 5) return Pause(process, true);
  if (roll < 7) return Pause(process, false);
  ChangeDead(process);
}

/// A process that crashes is there again at once: what it had in memory is gone.
void MessageRun::Drive(std::size_t process) {
  steps_to_crash_.reset();
  if (!calm_ && Chance(crash_percent_)) steps_to_crash_ = Random(40);
  if (options_.planted == PlantedInMessages::kMarksPassOver) {
    auto& directory = ensemble_.messages(process).directory();
    for (const char* topic : {"a", "b"}) {
      for (const auto& line : directory.LinesOf(kTenant, topic).lines)
        directory.Emptied(kTenant, topic, {line.line, messages::Directory::kTop});
      directory.RescanTook(kTenant, topic, 1'000'000);  // too dear to be done again
    }
  }
  try {
    ensemble_.Drive(process);
    CheckWaiting(process);
  } catch (const ProcessCrash&) {
    Trace(fmt::format("process {} crashes", process));
    ++generations_[process];
    std::erase_if(waiting_, [&](const Waiting& each) { return each.process == process; });
    ensemble_.hook = nullptr;
    ensemble_.Restart(process);
    ensemble_.hook = [this](std::string_view step, Ensemble::When when) { OnStep(step, when); };
  }
}

void MessageRun::OnStep(std::string_view step, Ensemble::When when) {
  const bool after = when == Ensemble::When::kAfter;
  if (step == "begin" && !after) queries_.clear();
  queries_.emplace(step);
  if (step == "commit" && after) return OnCommitted();
  if (calm_) return;
  if (steps_to_crash_ && (*steps_to_crash_)-- == 0) {
    Trace(fmt::format("{} {}", after ? "behind" : "before", step));
    throw ProcessCrash();
  }
  if (after) return;
  if (Chance(slow_percent_) && step == "commit") clock_.Advance(RandomMs(kSlowestCommitMs));
  if (step == "commit" && Chance(unavailable_percent_)) {
    Trace("the store is lost before COMMIT");
    throw base::Fault(base::FaultKind::kStoreUnavailable, "simulated");
  }
}

void MessageRun::OnCommitted() {
  book_.Committed(queries_, ensemble_.table().Read(), Now());
  if (calm_) return;
  if (steps_to_crash_ && (*steps_to_crash_)-- == 0) {
    Trace("behind commit");
    throw ProcessCrash();
  }
  if (!Chance(lose_percent_)) return;
  Trace("the reply is lost");
  throw base::Fault(base::FaultKind::kOutcomeUnknown, "simulated");
}

/// Nobody sleeps on something for longer than the longest pause between two looks.
void MessageRun::CheckWaiting(std::size_t process) {
  for (const Waiting& each : waiting_) {
    if (each.process != process) continue;
    const auto ready_boot_ms = book_.ReadySince(each.topics);
    if (ready_boot_ms && Now() - std::max(*ready_boot_ms, each.since_boot_ms) > kPollMaxMs)
      Violation(fmt::format("a claim waits, and something has been ready for {} ms",
                            Now() - *ready_boot_ms));
  }
}

/// The faults stop, and one healthy consumer gets and finishes all that is left.
void MessageRun::Drain() {
  calm_ = true;
  for (std::size_t i = 0; i < Ensemble::kProcesses; ++i) Drive(i);
  for (const char* topic : {"a", "b"}) {
    messages::TopicChange change;
    change.tenant = kTenant;
    change.name = topic;
    change.paused = false;
    ensemble_.messages(0).ChangeTopic(change, nullptr, [](const auto&) {});
  }
  Drive(0);
  const auto is_left = [this] {
    const auto& all = book_.picture().messages;
    return std::any_of(all.begin(), all.end(), [](const auto& entry) {
      return entry.second.place != Place::kDead && entry.second.place != Place::kFinished;
    });
  };
  constexpr int kMostRounds = 10;
  for (int round = 0; round < kMostRounds && violations_.empty(); ++round) {
    DrainOnce();
    if (!is_left() && book_.picture().claims.empty() && book_.picture().workers.empty()) return;
  }
  if (!violations_.empty()) return;
  Violation(is_left() ? "M1: something is left that nobody can have"
                      : "a claim of which nothing is held, or a dead worker, stays on record");
}

void MessageRun::DrainOnce() {
  clock_.Advance(31'000);
  ensemble_.messages(0).ReapSome({true}, [](const auto&) {});
  Drive(0);
  ensemble_.messages(0).PromoteSome([](const auto&) {});
  Drive(0);
  for (bool any = true; any && violations_.empty();) {
    any = false;
    messages::ClaimRequest request = NewClaim();
    request.topics = {"a", "b"};
    request.max = 5;
    ensemble_.messages(0).Claim(request, nullptr, [&](const auto& result) {
      if (!result.ok()) return Violation("a claim was refused in calm weather");
      OnClaimed(request, result.value());
      std::vector<Claim> claims;
      for (const auto& each : result.value().messages) claims.emplace_back(each.id, each.fence);
      any = !claims.empty();
      if (any) SendReports(0, Verdict::kDone, claims);
    });
    Drive(0);
  }
}

base::Uuid MessageRun::NewId() {
  base::Uuid id;
  for (auto& byte : id.bytes) byte = static_cast<std::uint8_t>(random_());
  return id;
}

void MessageRun::Trace(const std::string& what) {
  if (options_.trace) trace_ += fmt::format("{:6} {}\n", Now() - begun_ms_, what);
}

void MessageRun::Violation(const std::string& what) {
  Trace("VIOLATION " + what);
  violations_ += fmt::format("  {:6} {}\n", Now() - begun_ms_, what);
}

}  // namespace tenure::sim
