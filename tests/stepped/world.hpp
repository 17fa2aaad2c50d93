#pragma once

#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <libpq-fe.h>

#include "stepped/stepper.hpp"

namespace tenure::stepped {

/// The scheduler: a few simulated processes on one PostgreSQL, one statement at a time, in an order
/// that the seed decides. The same seed gives the same run: a step ends only when its process has
/// reached its next statement, has finished, or waits for a lock (which PostgreSQL is asked), so
/// nothing depends on how fast things are.
class World {
 public:
  /// What the tested capability brings. All of it is called between steps, on the scheduler's
  /// thread, except `work`, which runs inside of the process.
  struct Callbacks {
    /// The next thing for a process to do; empty: it has done enough.
    std::function<std::function<void()>(std::size_t process)> next_work;
    /// The process died: whatever it had in memory is gone. Must give it a new connection.
    std::function<void(std::size_t process)> restart;
    /// The backend that serves the process now.
    std::function<int(std::size_t process)> backend_pid;
    /// After every step: moves the clock, looks at the tables.
    std::function<void()> between_steps;
  };
  struct Odds {
    int crash_percent = 4;       ///< at each step
    int lost_reply_percent = 6;  ///< at each commit
    int pause_percent = 0;       ///< at each step: it stands there while the others go on
  };

  World(const std::string& url, std::size_t processes, Callbacks callbacks, Odds odds);

  Stepper& process(std::size_t index) { return *steppers_[index]; }

  /// Runs until every process has done enough. What happened, step by step, is in `trace`.
  void Run(std::uint64_t seed);
  const std::string& trace() const { return trace_; }

  /// A number from the database, seen by nobody's transaction.
  std::int64_t Number(const std::string& sql, const std::vector<std::string>& params = {});

 private:
  enum class Standing { kReady, kBlocked, kFinished };

  /// Waits until the process stands before a step, has stopped, or waits for somebody else's lock.
  void Settle(std::size_t index);
  bool IsBlocked(std::size_t index);
  /// Whoever is paused only goes on when nobody else can.
  std::size_t Choose(const std::vector<std::size_t>& ready, std::mt19937_64& random);
  void StepOne(std::size_t index, std::mt19937_64& random);
  void GiveWork(std::size_t index);

  struct Closer {
    void operator()(PGconn* connection) const { PQfinish(connection); }
  };

  std::unique_ptr<PGconn, Closer> observer_;
  const Callbacks callbacks_;
  const Odds odds_;
  std::vector<std::unique_ptr<Stepper>> steppers_;
  std::vector<Standing> standing_;
  std::vector<int> paused_;  // for so many steps of others
  std::string trace_;
};

}  // namespace tenure::stepped
