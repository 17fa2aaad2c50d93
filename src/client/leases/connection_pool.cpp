#include "client/leases/connection_pool.hpp"

#include <algorithm>
#include <utility>

namespace tenure::client {
namespace {

/// A connection may be a little late: it is asked to keep to the limit, not made to.
Milliseconds WithGrace(Milliseconds limit) { return limit + limit / 2 + Milliseconds(100); }

}  // namespace

std::shared_ptr<leases::Connection> WatchedConnection::Begin(Milliseconds limit) {
  // Connecting and disconnecting may take their time: without the lock, which the watchdog needs.
  std::shared_ptr<leases::Connection> connection;
  std::shared_ptr<leases::Connection> spoiled;
  {
    const base::Lock lock(mutex_);
    if (std::exchange(cancelled_, false)) spoiled = std::move(connection_);
    connection = connection_;
  }
  spoiled = nullptr;
  if (!connection) connection = provider_.Connect();
  std::int64_t overdue_ms = kNever;
  {
    const base::Lock lock(mutex_);
    connection_ = connection;
    if (closed_) throw leases::ProviderUnavailable("the lease manager has ended", {});
    overdue_ms_ = overdue_ms = clock_.NowMs() + WithGrace(limit).count();
  }
  expect_(overdue_ms);
  return connection;
}

void WatchedConnection::End() {
  const base::Lock lock(mutex_);
  overdue_ms_ = kNever;
}

void WatchedConnection::Cancel() {
  const base::Lock lock(mutex_);
  CancelLocked();
}

void WatchedConnection::CancelLocked() {
  if (overdue_ms_ == kNever || cancelled_) return;
  cancelled_ = true;
  connection_->Cancel();
}

void WatchedConnection::CancelOverdue(std::int64_t now_ms) {
  const base::Lock lock(mutex_);
  if (now_ms >= overdue_ms_) CancelLocked();
}

std::int64_t WatchedConnection::overdue_ms() const {
  const base::Lock lock(mutex_);
  return cancelled_ ? kNever : overdue_ms_;
}

void WatchedConnection::Close() {
  const base::Lock lock(mutex_);
  closed_ = true;
  CancelLocked();
}

std::shared_ptr<WatchedConnection> ConnectionPool::Make() {
  const auto connection = std::make_shared<WatchedConnection>(provider_, clock_, expect_);
  std::erase_if(all_, [](const auto& other) { return other.expired(); });
  all_.push_back(connection);
  if (closed_) connection->Close();
  return connection;
}

std::shared_ptr<WatchedConnection> ConnectionPool::Borrow() {
  const base::Lock lock(mutex_);
  if (idle_.empty()) return Make();
  auto connection = std::move(idle_.back());
  idle_.pop_back();
  return connection;
}

void ConnectionPool::Return(std::shared_ptr<WatchedConnection> connection) {
  const base::Lock lock(mutex_);
  if (!closed_ && idle_.size() < kMostIdle) idle_.push_back(std::move(connection));
}

std::shared_ptr<WatchedConnection> ConnectionPool::Dedicate() {
  const base::Lock lock(mutex_);
  return Make();
}

std::vector<std::shared_ptr<WatchedConnection>> ConnectionPool::Live() const {
  const base::Lock lock(mutex_);
  std::vector<std::shared_ptr<WatchedConnection>> live;
  for (const auto& candidate : all_)
    if (auto connection = candidate.lock()) live.push_back(std::move(connection));
  return live;
}

void ConnectionPool::CancelOverdue(std::int64_t now_ms) {
  for (const auto& connection : Live()) connection->CancelOverdue(now_ms);
}

std::int64_t ConnectionPool::NextOverdueMs() const {
  std::int64_t next_ms = kNever;
  for (const auto& connection : Live()) next_ms = std::min(next_ms, connection->overdue_ms());
  return next_ms;
}

void ConnectionPool::Close() {
  std::vector<std::shared_ptr<WatchedConnection>> idle;
  {
    const base::Lock lock(mutex_);
    closed_ = true;
    idle.swap(idle_);  // their connections end here, outside of the lock
  }
  for (const auto& connection : Live()) connection->Close();
}

}  // namespace tenure::client
