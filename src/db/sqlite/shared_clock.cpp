#include "db/sqlite/shared_clock.hpp"

#include <algorithm>
#include <fstream>

#include "base/error.hpp"
#include "db_sql/queries.hpp"

namespace tenure::db::sqlite {

FileClock::Mark SharedClock::Continue(const Mark& stored) const {
  if (stored.boot_id == boot_id_) return stored;
  return {std::max(clock_.WallMs(), stored.now_ms), clock_.BootMs(), boot_id_};
}

void SharedClock::Adopt(const Mark& mark) {
  offset_ms_ = mark.now_ms - mark.boot_ms;
  adopted_ = true;
}

std::int64_t SharedClock::NowMs() {
  TENURE_CHECK(adopted_, "a shared file's clock is read before its identity was checked");
  return clock_.BootMs() + offset_ms_;
}

FileClock::Mark SharedClock::TakeMark() {
  const std::int64_t now_ms = NowMs();
  return {now_ms, now_ms - offset_ms_, boot_id_};
}

const Query& SharedClock::mark_query() const { return sql::kAdvanceClockMark; }

void RefuseShiftedBootTime(const std::filesystem::path& offsets) {
  std::ifstream file(offsets);  // missing where the kernel knows no time namespaces
  std::string clock;
  std::int64_t seconds = 0;
  std::int64_t nanoseconds = 0;
  while (file >> clock >> seconds >> nanoseconds)
    if (clock == "boottime" && (seconds != 0 || nanoseconds != 0))
      throw base::UserError(
          "This process runs in a time namespace that shifts the clock since boot, so its leases "
          "could not be compared with those of other processes on this machine.\n"
          "Start it without a shifted time namespace, or keep the leases in PostgreSQL or a Tenure "
          "server.");
}

}  // namespace tenure::db::sqlite
