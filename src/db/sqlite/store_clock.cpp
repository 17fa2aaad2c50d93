#include "db/sqlite/store_clock.hpp"

#include <fstream>

#include "db_sql/queries.hpp"

namespace tenure::db::sqlite {

std::string MachineBootId() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

StoreClock::StoreClock(const base::Clock& clock)
    : clock_(clock), boot_id_(MachineBootId()), lead_ms_(clock.WallMs() - clock.BootMs()) {}

void StoreClock::Raise(std::int64_t lead_ms) {
  std::int64_t seen = lead_ms_.load();
  while (lead_ms > seen && !lead_ms_.compare_exchange_weak(seen, lead_ms)) {
  }
}

std::int64_t StoreClock::NowMs() {
  const std::int64_t boot_ms = clock_.BootMs();
  Raise(clock_.WallMs() - boot_ms);
  return boot_ms + lead_ms_.load();
}

StoreClock::Mark StoreClock::TakeMark() {
  const std::int64_t now_ms = NowMs();
  return {now_ms, now_ms - lead_ms_.load(), boot_id_};
}

const Query& StoreClock::mark_query() const { return sql::kWriteClockMark; }

void StoreClock::Restore(const Mark& mark) {
  const bool same_boot = !boot_id_.empty() && mark.boot_id == boot_id_;
  Raise(mark.now_ms - (same_boot ? mark.boot_ms : clock_.BootMs()));
}

}  // namespace tenure::db::sqlite
