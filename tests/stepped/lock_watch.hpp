#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "base/clock.hpp"
#include "db/connection.hpp"

namespace tenure::stepped {

/// Watches one process's steps: notes when it got its locks and in which order it committed, and
/// plays the bug "clock before the lock", with which a process decides by a time that it read
/// before it waited.
class LockWatch final : public base::Clock, public db::StepHook {
 public:
  struct Steps {
    std::string_view lock{};  ///< takes the locks
    std::string_view look{};  ///< reads what it decides by; empty: does not matter
  };
  LockWatch(const base::Clock& real, db::StepHook& scheduler, std::atomic<int>& commits,
            Steps steps, bool early)
      : real_(real), scheduler_(scheduler), commits_(commits), steps_(steps), early_(early) {}

  std::int64_t WallMs() const override { return early_ms_ ? early_ms_ : real_.WallMs(); }
  std::int64_t BootMs() const override { return real_.BootMs(); }

  void Before(std::string_view step) override {
    scheduler_.Before(step);
    if (early_ && step == steps_.lock) early_ms_ = real_.WallMs();
  }
  void After(std::string_view step) override {
    if (step == steps_.lock) locked_at_ms = real_.WallMs();
    if (step == steps_.look) seen = commits_;
    if (step == "clock") early_ms_ = 0;
    if (step == "commit") seen = ++commits_;
    scheduler_.After(step);
  }

  std::int64_t locked_at_ms = 0;  ///< of the batch under way; 0: it has no locks
  /// The number of its last commit in the order of all commits, or how many there had been when it
  /// looked.
  int seen = 0;

 private:
  const base::Clock& real_;
  db::StepHook& scheduler_;
  std::atomic<int>& commits_;
  const Steps steps_;
  const bool early_;
  std::int64_t early_ms_ = 0;
};

}  // namespace tenure::stepped
