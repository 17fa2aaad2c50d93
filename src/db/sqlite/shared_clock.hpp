#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>

#include "base/clock.hpp"
#include "db/sqlite/file_clock.hpp"

namespace tenure::db::sqlite {

/// The clock of a file that many processes of one machine share:
///
///   now = CLOCK_BOOTTIME + offset
///
/// with one offset per boot of the machine, chosen by the first process of that boot and read from
/// the file by all others. So at each instant every process reads the same time, and none can be
/// early: the calendar (which anybody may set, and which differs from nothing but itself) only has
/// a say in the offset, so that times can be read by people. It counts while the machine sleeps.
///
/// Guarantees:
///  (1) Within a boot the clock never goes back, and all processes have the same. This rests on one
///      kernel and no shifted time namespace; `RefuseShiftedBootTime` checks the latter, and the
///      mark query refuses a file that another boot has taken over.
///  (2) Across boots the clock does not go back behind the last commit that changed something. How
///      long the machine was off only the calendar tells; if that was set back, no time has passed.
///      Holders need not care: they died with the last boot.
///
/// Thread-safe. REQUIRES for NowMs and TakeMark: Adopt was called.
class SharedClock final : public FileClock {
 public:
  SharedClock(const base::Clock& clock, std::string boot_id)
      : clock_(clock), boot_id_(std::move(boot_id)) {}

  /// What stands for this boot: the stored mark when it is of this boot (then all have its offset),
  /// or the first mark of a new boot, which the caller stores. Changes nothing here.
  Mark Continue(const Mark& stored) const;
  /// From now on this boot's offset is that of `mark`, which is stored.
  void Adopt(const Mark& mark);

  std::int64_t NowMs() override;
  Mark TakeMark() override;
  const Query& mark_query() const override;
  /// The offset does not change, so there is nothing to store when nothing happened. And that is
  /// important: a waiter that asks in vain must not look like news to all others (SharedFeed).
  bool marks_every_commit() const override { return false; }

 private:
  const base::Clock& clock_;
  const std::string boot_id_;
  std::atomic<std::int64_t> offset_ms_{0};
  std::atomic<bool> adopted_{false};
};

/// Throws base::UserError where this process lives in a time namespace that shifts CLOCK_BOOTTIME:
/// its readings could not be compared with those of other processes.
void RefuseShiftedBootTime(const std::filesystem::path& offsets = "/proc/self/timens_offsets");

}  // namespace tenure::db::sqlite
