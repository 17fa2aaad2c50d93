#include "holder/line.hpp"

#include <algorithm>
#include <utility>

namespace tenure::holder {
namespace {

/// A session may be a little late: it is asked to keep to the limit, not made to.
Milliseconds WithGrace(Milliseconds limit) { return limit + limit / 2 + Milliseconds(100); }

}  // namespace

std::shared_ptr<leases::Session> Line::Begin(Milliseconds limit) {
  // Connecting and disconnecting may take their time: without the lock, which the watchdog needs.
  std::shared_ptr<leases::Session> session;
  std::shared_ptr<leases::Session> spoiled;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(cancelled_, false)) spoiled = std::move(session_);
    session = session_;
  }
  spoiled = nullptr;
  if (!session) session = provider_.Connect();
  std::int64_t overdue_ms = kNever;
  {
    const std::lock_guard lock(mutex_);
    session_ = session;
    if (closed_) throw leases::ProviderUnavailable("the lease manager has ended", {});
    overdue_ms_ = overdue_ms = clock_.NowMs() + WithGrace(limit).count();
  }
  expect_(overdue_ms);
  return session;
}

void Line::End() {
  const std::lock_guard lock(mutex_);
  overdue_ms_ = kNever;
}

void Line::Cancel() {
  const std::lock_guard lock(mutex_);
  CancelLocked();
}

void Line::CancelLocked() {
  if (overdue_ms_ == kNever || cancelled_) return;
  cancelled_ = true;
  session_->Cancel();
}

void Line::CancelOverdue(std::int64_t now_ms) {
  const std::lock_guard lock(mutex_);
  if (now_ms >= overdue_ms_) CancelLocked();
}

std::int64_t Line::overdue_ms() const {
  const std::lock_guard lock(mutex_);
  return cancelled_ ? kNever : overdue_ms_;
}

void Line::Close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  CancelLocked();
}

std::shared_ptr<Line> Lines::Make() {
  const auto line = std::make_shared<Line>(provider_, clock_, expect_);
  std::erase_if(all_, [](const auto& other) { return other.expired(); });
  all_.push_back(line);
  if (closed_) line->Close();
  return line;
}

std::shared_ptr<Line> Lines::Borrow() {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) return Make();
  auto line = std::move(idle_.back());
  idle_.pop_back();
  return line;
}

void Lines::Return(std::shared_ptr<Line> line) {
  const std::lock_guard lock(mutex_);
  if (!closed_ && idle_.size() < kMostIdle) idle_.push_back(std::move(line));
}

std::shared_ptr<Line> Lines::Dedicate() {
  const std::lock_guard lock(mutex_);
  return Make();
}

std::vector<std::shared_ptr<Line>> Lines::Live() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Line>> live;
  for (const auto& candidate : all_)
    if (auto line = candidate.lock()) live.push_back(std::move(line));
  return live;
}

void Lines::CancelOverdue(std::int64_t now_ms) {
  for (const auto& line : Live()) line->CancelOverdue(now_ms);
}

std::int64_t Lines::NextOverdueMs() const {
  std::int64_t next_ms = kNever;
  for (const auto& line : Live()) next_ms = std::min(next_ms, line->overdue_ms());
  return next_ms;
}

void Lines::Close() {
  std::vector<std::shared_ptr<Line>> idle;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    idle.swap(idle_);  // their connections end here, outside of the lock
  }
  for (const auto& line : Live()) line->Close();
}

}  // namespace tenure::holder
