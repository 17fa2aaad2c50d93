#include "http/loop.hpp"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include "base/log.hpp"
#include "http/connection.hpp"
#include "http/message.hpp"

namespace tenure::http {
namespace {

thread_local const Loop* current_loop = nullptr;

/// A round of as many handlers as there are clients makes the loop and the lanes take turns instead
/// of working at the same time; a round of a few brings the lanes little (docs/decisions/0012).
constexpr int kRoundHandlers = 24;

}  // namespace

Loop::Loop(const base::Clock& clock, std::int64_t sweep_interval_ms)
    : clock_(clock),
      sweep_interval_(sweep_interval_ms),
      work_(asio::make_work_guard(io_)),
      sweep_timer_(io_.get_executor()),
      date_(HttpDate(clock.WallMs())) {}

void Loop::Run() {
  current_loop = this;
  ArmSweep();
  while (io_.run_one() > 0) {
    for (int i = 1; i < kRoundHandlers && io_.poll_one() > 0; ++i) {
    }
    EndRound();
  }
  current_loop = nullptr;
}

bool Loop::IsCurrent() const { return current_loop == this; }

void Loop::Afterwards(base::Task task) {
  if (!IsCurrent()) return task();
  afterwards_.push_back(std::move(task));
}

/// Also what is put off meanwhile: the next round may be far away.
void Loop::EndRound() {
  for (std::size_t i = 0; i < afterwards_.size(); ++i) {
    base::Task task = std::move(afterwards_[i]);
    task();
  }
  afterwards_.clear();
}

void Loop::Post(base::Task task) {
  const base::Lock lock(mutex_);
  if (shut_) return;  // the task is the caller's and ends outside the lock
  inbox_.push_back(std::move(task));
  if (wake_pending_) return;
  wake_pending_ = true;
  // Inside the lock: once a task is in the inbox, dropping it (Shut) may end the loop itself.
  asio::post(io_, [this] { Drain(); });
}

void Loop::Drain() {
  {
    const base::Lock lock(mutex_);
    wake_pending_ = false;
    running_.swap(inbox_);
  }
  for (base::Task& task : running_) {
    try {
      task();
    } catch (const std::exception& error) {
      // The exchange that the task held is dropped with it and answers 500.
      base::LogError("http.task", "a task on an HTTP loop failed", {{"error", error.what()}});
    }
    task = base::Task();
  }
  running_.clear();
}

void Loop::Shut() {
  std::vector<base::Task> dropped;
  const base::Lock lock(mutex_);
  shut_ = true;
  dropped.swap(inbox_);
}

void Loop::ArmSweep() {
  sweep_timer_.expires_after(sweep_interval_);
  sweep_timer_.async_wait([this](const ErrorCode& error) {
    // Cancelling does not reach a sweep that is due already, and the sweep itself may have closed
    // the last connection of a loop that stops.
    if (error || !work_) return;
    Sweep();
    if (work_) ArmSweep();
  });
}

void Loop::Sweep() {
  date_ = HttpDate(clock_.WallMs());
  if (on_sweep_) on_sweep_();
  const std::int64_t now_ms = clock_.BootMs();
  ForEachConnection([now_ms](Connection& connection) { connection.CheckDeadline(now_ms); });
}

void Loop::Add(Connection& connection) {
  connection.set_place(connections_.size());
  connections_.push_back(&connection);
}

void Loop::Remove(Connection& connection) {
  Connection* const last = connections_.back();
  connections_[connection.place()] = last;
  last->set_place(connection.place());
  connections_.pop_back();
  FinishWhenEmpty();
}

bool Loop::CloseIdlest() {
  if (idle_.empty()) return false;
  const auto connection = static_cast<Connection&>(idle_.front()).shared_from_this();
  connection->MakeRoom();
  return true;
}

template <class Visit>
void Loop::ForEachConnection(Visit visit) {
  // From the back: a connection that closes is replaced by the last one, which was visited already.
  for (std::size_t i = connections_.size(); i-- > 0;) {
    const auto connection = connections_[i]->shared_from_this();
    visit(*connection);
  }
}

void Loop::BeginStop() {
  stopping_ = true;
  ForEachConnection([](Connection& connection) { connection.BeginStop(); });
  FinishWhenEmpty();
}

void Loop::CloseConnections() {
  ForEachConnection([](Connection& connection) { connection.Close(); });
}

void Loop::FinishWhenEmpty() {
  if (!stopping_ || !connections_.empty()) return;
  on_sweep_ = {};
  sweep_timer_.cancel();
  work_.reset();  // Run returns when the last handler has run
}

}  // namespace tenure::http
