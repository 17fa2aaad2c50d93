#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <boost/intrusive/list.hpp>

#include "base/clock.hpp"
#include "base/mutex.hpp"
#include "base/task.hpp"
#include "http/asio.hpp"

namespace tenure::http {

class Connection;

/// What a connection is for the list of those that wait for their client.
class IdleLink : public boost::intrusive::list_base_hook<
                     boost::intrusive::link_mode<boost::intrusive::safe_link>> {};

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

  /// The connection waits for its client from now on, or no more.
  void BeginIdle(IdleLink& connection) { idle_.push_back(connection); }
  void EndIdle(IdleLink& connection) { idle_.erase(idle_.iterator_to(connection)); }
  /// Closes the connection that has waited longest for its client; false when none waits.
  bool CloseIdlest();

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
  // Of them: those that wait for their client, the one that has waited longest first.
  boost::intrusive::list<IdleLink, boost::intrusive::constant_time_size<false>> idle_;
  base::UniqueFunction<> on_sweep_;
  bool stopping_ = false;
  std::vector<base::Task> running_;     // Drain's half of the double buffer
  std::vector<base::Task> afterwards_;  // of this round

  base::Mutex mutex_;
  std::vector<base::Task> inbox_ TENURE_GUARDED_BY(mutex_);
  bool wake_pending_ TENURE_GUARDED_BY(mutex_) = false;  // a Drain is on its way
  bool shut_ TENURE_GUARDED_BY(mutex_) = false;
};

}  // namespace tenure::http
