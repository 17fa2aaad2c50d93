#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/task.hpp"
#include "http/asio.hpp"

namespace tenure::http {

class Connection;

/// One event loop: a thread's io_context, the connections that live on it, and the inbox for work
/// that ends on other threads.
///
/// Life: construct; `Run` on its thread; `BeginStop` and perhaps `CloseConnections` by way of
/// `Post`; `Run` returns when the last connection is gone; `Shut`. Exchanges that a lane still
/// holds keep the object (not the thread) alive longer; what they post is then dropped.
///
/// Threads: `Post`, `IsCurrent` and `Shut` from any; everything else on the loop's own thread.
class Loop final : public base::Executor {
 public:
  Loop(const base::Clock& clock, std::int64_t sweep_interval_ms);

  /// In rounds: whatever is ready, one after the other, until nothing is or a round is full; then
  /// what was put off (Afterwards). So requests that are there together reach the store together,
  /// and a request that is there alone waits for nobody.
  void Run();

  /// Tasks run in the order of posting. What arrives while the loop is busy is one wake-up.
  void Post(base::Task task) override;
  bool IsCurrent() const;
  /// At the end of the round (Run).
  void Afterwards(base::Task task) override;

  IoExecutor executor() { return io_.get_executor(); }
  const base::Clock& clock() const { return clock_; }
  /// The value of Date; renewed by the sweep.
  const std::string& date() const { return date_; }
  bool stopping() const { return stopping_; }

  void Add(Connection& connection);
  void Remove(Connection& connection);

  /// Runs at each sweep, for whoever has something to try again.
  void OnSweep(base::UniqueFunction<> action) { on_sweep_ = std::move(action); }

  /// Closes what is idle and tells those who wait; the others close after their answer.
  void BeginStop();
  /// The grace is over.
  void CloseConnections();

  /// REQUIRES: Run has returned. Drops what is in the inbox and what will be posted.
  void Shut();

 private:
  void ArmSweep();
  void Sweep();
  void Drain();
  void EndRound();
  void FinishWhenEmpty();
  template <class Visit>
  void ForEachConnection(Visit visit);

  const base::Clock& clock_;
  const std::chrono::milliseconds sweep_interval_;
  asio::io_context io_{1};
  std::optional<asio::executor_work_guard<IoExecutor>> work_;
  Timer sweep_timer_;
  std::string date_;
  std::vector<Connection*> connections_;  // each removes itself when it closes
  base::UniqueFunction<> on_sweep_;
  bool stopping_ = false;
  std::vector<base::Task> running_;     // Drain's half of the double buffer
  std::vector<base::Task> afterwards_;  // of this round

  std::mutex mutex_;               // guards what follows
  std::vector<base::Task> inbox_;  //
  bool wake_pending_ = false;      // a Drain is on its way
  bool shut_ = false;
};

}  // namespace tenure::http
