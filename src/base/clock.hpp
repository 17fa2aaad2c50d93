#pragma once

#include <atomic>
#include <cstdint>

namespace tenure::base {

/// The only place where Tenure reads a clock of this machine. Everything that needs time takes a
/// `Clock&`, so tests and the simulation own it.
///
/// Two readings, never mixed:
///  - `WallMs` is the calendar: it may jump in both directions. It is used for nothing but the
///    embedded store's own clock, for the ends of tokens and certificates, and for log lines.
///  - `BootMs` is CLOCK_BOOTTIME: it never goes back and it counts while the machine sleeps. All
///    durations inside the process (time-outs, ages, back-off) are differences of it.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual std::int64_t WallMs() const = 0;
  virtual std::int64_t BootMs() const = 0;
};

/// The machine's clocks. Thread-safe.
const Clock& SystemClock();

/// Microseconds of CLOCK_BOOTTIME for measuring latencies only: nothing is decided by it.
std::int64_t MeasureMicros();

/// A clock that stands still until a test moves it. Thread-safe.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(std::int64_t wall_ms) : wall_ms_(wall_ms), boot_ms_(1'000'000) {}

  std::int64_t WallMs() const override { return wall_ms_.load(); }
  std::int64_t BootMs() const override { return boot_ms_.load(); }

  /// Time passes: both readings move.
  void Advance(std::int64_t ms) {
    wall_ms_ += ms;
    boot_ms_ += ms;
  }

  /// Somebody sets the calendar, forwards or back: only the wall clock moves.
  void StepWall(std::int64_t ms) { wall_ms_ += ms; }

 private:
  std::atomic<std::int64_t> wall_ms_;
  std::atomic<std::int64_t> boot_ms_;
};

}  // namespace tenure::base
