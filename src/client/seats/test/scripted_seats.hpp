#pragma once

#include <deque>
#include <functional>
#include <mutex>
#include <semaphore>
#include <string>
#include <vector>

#include "client/seats/backend.hpp"

namespace tenure::client::test {

/// Waits until somebody gives it.
class Given {
 public:
  void Give() { semaphore_.release(); }
  void Await() { semaphore_.acquire(); }
  bool taken() { return semaphore_.try_acquire(); }

 private:
  std::counting_semaphore<> semaphore_{0};
};

/// Who gives seats, as a test says: each question is answered by what the test put there for it.
class ScriptedSeats final : public SeatBackend {
 public:
  using OnAcquire = std::function<SeatAnswer(const SeatRequest&)>;
  using OnBeat = std::function<BeatAnswer(const std::string& session)>;

  /// A seat for that long, under a session that the number names.
  static SeatGrant GrantOf(int number, Milliseconds remaining) {
    SeatGrant grant;
    grant.seat.session_id = "session-" + std::to_string(number);
    grant.seat.license_id = "license";
    grant.seat.fence = number;
    grant.remaining = remaining;
    return grant;
  }
  static SeatCallFailed Away(bool outcome_unknown = false, Milliseconds retry_after = {}) {
    return {CallFailed(CallFailed::Kind::kUnavailable, "nobody answers", outcome_unknown),
            retry_after};
  }

  void Next(OnAcquire answer) {
    const std::lock_guard lock(mutex_);
    answers_.push_back(std::move(answer));
  }
  void NextGrant(int number, Milliseconds remaining) {
    Next([=](const SeatRequest&) { return GrantOf(number, remaining); });
  }
  void WhenBeaten(OnBeat answer) {
    const std::lock_guard lock(mutex_);
    on_beat_ = std::move(answer);
  }
  void WhenReleased(std::function<bool(const std::string&)> answer) {
    const std::lock_guard lock(mutex_);
    on_release_ = std::move(answer);
  }

  std::vector<SeatRequest> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  std::vector<std::size_t> rounds() const {
    const std::lock_guard lock(mutex_);
    return rounds_;
  }
  std::vector<std::string> released() const {
    const std::lock_guard lock(mutex_);
    return released_;
  }
  std::vector<std::string> left() const {
    const std::lock_guard lock(mutex_);
    return left_;
  }

  SeatAnswer Acquire(const SeatRequest& request, Milliseconds, const std::stop_token&) override {
    OnAcquire answer;
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
      if (answers_.empty()) throw Away();
      answer = std::move(answers_.front());
      answers_.pop_front();
    }
    return answer(request);
  }

  std::vector<BeatAnswer> Beat(std::span<const std::string> sessions, Milliseconds,
                               const std::stop_token&) override {
    OnBeat answer;
    {
      const std::lock_guard lock(mutex_);
      rounds_.push_back(sessions.size());
      answer = on_beat_;
    }
    if (!answer) throw Away();
    std::vector<BeatAnswer> answers;
    for (const std::string& session : sessions) answers.push_back(answer(session));
    return answers;
  }

  bool Release(const std::string& session, Milliseconds, const std::stop_token&) override {
    const std::lock_guard lock(mutex_);
    released_.push_back(session);
    return on_release_ ? on_release_(session) : true;
  }

  void LeaveLine(const std::string& ticket, Milliseconds) override {
    const std::lock_guard lock(mutex_);
    left_.push_back(ticket);
  }

 private:
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::deque<OnAcquire> answers_;
  OnBeat on_beat_;
  std::function<bool(const std::string&)> on_release_;
  std::vector<SeatRequest> requests_;
  std::vector<std::size_t> rounds_;
  std::vector<std::string> released_;
  std::vector<std::string> left_;
};

}  // namespace tenure::client::test
