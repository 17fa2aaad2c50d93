#include "stepped/world.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"

namespace tenure::stepped {
namespace {

/// Real time decides nothing here, except that a program that hangs must end.
class Patience {
 public:
  void Check(std::string_view what, const std::string& trace) const {
    if (std::chrono::steady_clock::now() < end_) return;
    base::Panic(fmt::format("{}:\n{}", what, trace), __FILE__, __LINE__);
  }

 private:
  const std::chrono::steady_clock::time_point end_ =
      std::chrono::steady_clock::now() + std::chrono::minutes(1);
};

}  // namespace

Stepper::Stepper() : thread_([this] { Loop(); }) {}

Stepper::~Stepper() {
  {
    const std::lock_guard lock(mutex_);
    quit_ = true;
    verdict_ = Verdict::kCrash;
    if (state_ == State::kAtStep) state_ = State::kRunning;
  }
  changed_.notify_all();
  thread_.join();
}

void Stepper::Begin(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    TENURE_CHECK(state_ == State::kIdle, "the process is busy");
    work_ = std::move(work);
    state_ = State::kRunning;
  }
  changed_.notify_all();
}

void Stepper::Resume(Verdict verdict) {
  {
    const std::lock_guard lock(mutex_);
    TENURE_CHECK(state_ == State::kAtStep, "the process does not stand before a step");
    verdict_ = verdict;
    state_ = State::kRunning;
  }
  changed_.notify_all();
}

bool Stepper::WaitStopped(std::chrono::milliseconds most) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, most, [&] { return state_ != State::kRunning; });
}

void Stepper::Rest() {
  const std::lock_guard lock(mutex_);
  TENURE_CHECK(state_ == State::kDone || state_ == State::kCrashed, "the process has not stopped");
  state_ = State::kIdle;
}

Stepper::State Stepper::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

std::string Stepper::step() const {
  const std::lock_guard lock(mutex_);
  return step_;
}

void Stepper::Before(std::string_view step) {
  if (Stop(step) == Verdict::kCrash) throw Crash();
}

void Stepper::After(std::string_view step) {
  if (step != "commit") return;
  switch (Stop("committed")) {
    case Verdict::kGo:
      return;
    case Verdict::kCrash:
      throw Crash();
    case Verdict::kLoseReply:
      throw base::Fault(base::FaultKind::kOutcomeUnknown, "the scheduler lost the reply");
  }
}

Stepper::Verdict Stepper::Stop(std::string_view step) {
  std::unique_lock lock(mutex_);
  if (quit_) return Verdict::kCrash;
  state_ = State::kAtStep;
  step_ = step;
  changed_.notify_all();
  changed_.wait(lock, [&] { return state_ == State::kRunning; });
  return verdict_;
}

void Stepper::Loop() {
  while (true) {
    std::function<void()> work;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return quit_ || (state_ == State::kRunning && work_); });
      if (quit_) return;
      work = std::exchange(work_, nullptr);
    }
    State end = State::kDone;
    try {
      work();
    } catch (const Crash&) {
      end = State::kCrashed;
    }
    const std::lock_guard lock(mutex_);
    state_ = end;
    changed_.notify_all();
  }
}

World::World(const std::string& url, std::size_t processes, Actors& actors, Odds odds)
    : observer_(store::OpenPostgresTables(url)),
      actors_(actors),
      odds_(odds),
      standing_(processes, Standing::kFinished),
      paused_(processes, 0) {
  for (std::size_t i = 0; i < processes; ++i) steppers_.push_back(std::make_unique<Stepper>());
}

bool World::Run(std::uint64_t seed) {
  trace_.clear();
  paused_.assign(paused_.size(), 0);
  std::mt19937_64 random(seed);
  std::optional<Patience> deadlock;
  bool ever = false;
  for (std::size_t i = 0; i < steppers_.size(); ++i) GiveWork(i);
  while (true) {
    std::vector<std::size_t> ready;
    bool blocked = false;
    for (std::size_t i = 0; i < steppers_.size(); ++i) {
      if (standing_[i] == Standing::kReady) ready.push_back(i);
      blocked |= standing_[i] == Standing::kBlocked;
    }
    if (!ready.empty()) {
      deadlock.reset();
      StepOne(Choose(ready, random), random);
    } else if (!blocked) {
      return ever;
    } else if (!deadlock) {
      trace_ += "  deadlock\n";
      ever = true;
      deadlock.emplace();
    } else {
      deadlock->Check("PostgreSQL breaks no deadlock", trace_);
    }
    for (std::size_t i = 0; i < steppers_.size(); ++i)
      if (standing_[i] == Standing::kBlocked) Settle(i);
    actors_.BetweenSteps();
  }
}

std::size_t World::Choose(const std::vector<std::size_t>& ready, std::mt19937_64& random) {
  if (odds_.pause_percent == 0) return ready[random() % ready.size()];
  std::vector<std::size_t> awake;
  for (const std::size_t index : ready)
    if (--paused_[index] < 0) awake.push_back(index);
  if (awake.empty()) return ready[random() % ready.size()];
  const std::size_t chosen = awake[random() % awake.size()];
  if (static_cast<int>(random() % 100) >= odds_.pause_percent || awake.size() == 1) return chosen;
  paused_[chosen] = 10 + static_cast<int>(random() % 30);
  trace_ += fmt::format("  {} pauses before {}\n", chosen, steppers_[chosen]->step());
  std::erase(awake, chosen);
  return awake[random() % awake.size()];
}

void World::StepOne(std::size_t index, std::mt19937_64& random) {
  Stepper& stepper = *steppers_[index];
  const std::string step = stepper.step();
  const auto percent = static_cast<int>(random() % 100);
  Stepper::Verdict verdict = Stepper::Verdict::kGo;
  if (percent < odds_.crash_percent)
    verdict = Stepper::Verdict::kCrash;
  else if (step == "committed" && percent < odds_.crash_percent + odds_.lost_reply_percent)
    verdict = Stepper::Verdict::kLoseReply;
  static constexpr const char* kVerdicts[] = {"", " crash", " lost reply"};
  trace_ += fmt::format("  {} {}{}\n", index, step, kVerdicts[static_cast<int>(verdict)]);
  stepper.Resume(verdict);
  Settle(index);
}

void World::GiveWork(std::size_t index) {
  auto work = actors_.NextWork(index);
  if (!work) {
    standing_[index] = Standing::kFinished;
    return;
  }
  steppers_[index]->Begin(std::move(work));
  Settle(index);
}

void World::Settle(std::size_t index) {
  Stepper& stepper = *steppers_[index];
  const Patience patience;
  // On a busy machine it is slow more often than it is blocked: PostgreSQL is asked less and less.
  std::chrono::milliseconds pause(1);
  while (!stepper.WaitStopped(pause)) {
    pause = std::min(2 * pause, std::chrono::milliseconds(16));
    patience.Check(fmt::format("{} neither stops nor waits for a lock", index), trace_);
    if (!IsBlocked(index)) continue;
    if (std::exchange(standing_[index], Standing::kBlocked) != Standing::kBlocked)
      actors_.Blocked(index);
    return;
  }
  switch (stepper.state()) {
    case Stepper::State::kAtStep:
      standing_[index] = Standing::kReady;
      return;
    case Stepper::State::kCrashed:
      stepper.Rest();
      actors_.Restart(index);
      GiveWork(index);
      return;
    default:
      stepper.Rest();
      GiveWork(index);
  }
}

bool World::IsBlocked(std::size_t index) {
  return observer_->Number(fmt::format("select (cardinality(pg_blocking_pids({})) > 0)::int",
                                       actors_.BackendPid(index))) == 1;
}

}  // namespace tenure::stepped
