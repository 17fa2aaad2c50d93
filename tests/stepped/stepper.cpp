#include "stepped/stepper.hpp"

#include <chrono>
#include <utility>

#include "base/error.hpp"

namespace tenure::stepped {

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

bool Stepper::WaitStopped() {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::milliseconds(1),
                           [&] { return state_ != State::kRunning; });
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

}  // namespace tenure::stepped
