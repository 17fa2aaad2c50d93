#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "db/connection.hpp"
#include "store/tables.hpp"

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
  /// Waits for it to stop running; false when it still runs.
  bool WaitStopped(std::chrono::milliseconds most);
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

/// The scheduler: a few simulated processes on one PostgreSQL, one statement at a time, in an order
/// that the seed decides. The same seed gives the same run: a step ends only when its process has
/// reached its next statement, has finished, or waits for a lock (which PostgreSQL is asked), so
/// nothing depends on how fast things are.
class World {
 public:
  /// Who is scheduled. All of it is called between steps, on the scheduler's thread.
  class Actors {
   public:
    virtual ~Actors() = default;
    /// The next thing for a process to do, on its own thread; empty: it has done enough.
    virtual std::function<void()> NextWork(std::size_t process) = 0;
    /// The process died: whatever it had in memory is gone. Must give it a new connection.
    virtual void Restart(std::size_t process) = 0;
    /// The backend that serves the process now.
    virtual int BackendPid(std::size_t process) = 0;
    /// It has begun to wait for a lock.
    virtual void Blocked(std::size_t process) = 0;
    /// After every step: moves the clock, looks at the tables.
    virtual void BetweenSteps() = 0;
  };
  struct Odds {
    int crash_percent = 4;       ///< at each step
    int lost_reply_percent = 6;  ///< at each commit
    int pause_percent = 0;       ///< at each step: it stands there while the others go on
  };

  World(const std::string& url, std::size_t processes, Actors& actors, Odds odds);

  Stepper& process(std::size_t index) { return *steppers_[index]; }

  /// Runs until every process has done enough. Returns whether they ever deadlocked: all of them
  /// waited for each other, until PostgreSQL broke it.
  bool Run(std::uint64_t seed);
  /// What happened in it, step by step.
  const std::string& trace() const { return trace_; }

 private:
  enum class Standing { kReady, kBlocked, kFinished };

  /// Waits until the process stands before a step, has stopped, or waits for somebody else's lock.
  void Settle(std::size_t index);
  bool IsBlocked(std::size_t index);
  /// Whoever is paused only goes on when nobody else can.
  std::size_t Choose(const std::vector<std::size_t>& ready, std::mt19937_64& random);
  void StepOne(std::size_t index, std::mt19937_64& random);
  void GiveWork(std::size_t index);

  const std::unique_ptr<store::Tables> observer_;
  Actors& actors_;
  const Odds odds_;
  std::vector<std::unique_ptr<Stepper>> steppers_;
  std::vector<Standing> standing_;
  std::vector<int> paused_;  // for so many steps of others
  std::string trace_;
};

}  // namespace tenure::stepped
