#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "db/connection.hpp"

namespace tenure::stepped {

/// Thrown inside of a simulated process when the scheduler crashes it. Not a base::Fault: nothing
/// catches it on its way out of the lane, as nothing catches SIGKILL.
struct Crash {};

/// One simulated process: a thread that stops before every statement of its connection (and behind
/// COMMIT) until the scheduler tells it what happens next. Scheduler and process alternate; all
/// members but the hook's are called by the scheduler's thread.
class Stepper final : public db::StepHook {
 public:
  enum class State {
    kIdle,     ///< has nothing to do
    kAtStep,   ///< stands before a step
    kRunning,  ///< between two steps, or inside of a statement
    kDone,     ///< did what it was given
    kCrashed,
  };
  enum class Verdict { kGo, kCrash, kLoseReply };

  Stepper();
  ~Stepper() override;

  /// Lets the process do `work` from its first step on. REQUIRES: kIdle.
  void Begin(std::function<void()> work);
  /// Lets it go on. REQUIRES: kAtStep. kLoseReply only behind a commit.
  void Resume(Verdict verdict);
  /// Waits a little for it to stop running; false when it still runs.
  bool WaitStopped();
  /// Takes note of kDone or kCrashed. REQUIRES: one of them.
  void Rest();

  State state() const;
  /// The step before which it stands; "committed" behind a commit.
  std::string step() const;

  // db::StepHook, on the process's own thread.
  void Before(std::string_view step) override;
  void After(std::string_view step) override;

 private:
  Verdict Stop(std::string_view step);
  void Loop();

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  State state_ = State::kIdle;
  std::string step_;
  Verdict verdict_ = Verdict::kGo;
  std::function<void()> work_;
  bool quit_ = false;

  std::thread thread_;
};

}  // namespace tenure::stepped
