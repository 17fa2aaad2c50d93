#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/clock.hpp"
#include "db/sqlite/file_clock.hpp"

namespace tenure::db::sqlite {

/// The embedded store's clock: never goes back, never stands still (docs/ground.md, Time).
///
///   now = max(wall clock, high-water mark + CLOCK_BOOTTIME elapsed since the mark)
///
/// That is boot time plus the largest lead of the wall clock over it that was ever seen, so the
/// whole state is one number that only rises. The mark goes into the file with each commit: a
/// process that starts later, even after somebody set the calendar back, goes on from there.
/// Thread-safe.
class StoreClock final : public FileClock {
 public:
  explicit StoreClock(const base::Clock& clock);

  std::int64_t NowMs() override;
  Mark TakeMark() override;
  const Query& mark_query() const override;
  /// The lead may have risen since the last one, and an answer may tell of it.
  bool marks_every_commit() const override { return true; }
  /// Goes on from a stored mark. On another boot it is unknown how long the machine was off: the
  /// wall clock tells, and the mark is only the floor.
  void Restore(const Mark& mark);

 private:
  void Raise(std::int64_t lead_ms);

  const base::Clock& clock_;
  const std::string boot_id_;
  std::atomic<std::int64_t> lead_ms_;  // of the wall clock over the boot clock, the largest seen
};

}  // namespace tenure::db::sqlite
