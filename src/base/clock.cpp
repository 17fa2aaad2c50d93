#include "base/clock.hpp"

#include <time.h>

namespace tenure::base {
namespace {

std::int64_t ReadNanos(clockid_t id) {
  timespec now{};
  clock_gettime(id, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

class MachineClock final : public Clock {
 public:
  std::int64_t WallMs() const override { return ReadNanos(CLOCK_REALTIME) / 1'000'000; }
  std::int64_t BootMs() const override { return ReadNanos(CLOCK_BOOTTIME) / 1'000'000; }
};

}  // namespace

const Clock& SystemClock() {
  // Never destroyed: a thread that is left behind (a look-up of a name that hangs) may ask for the
  // time while the program ends.
  static const MachineClock& clock = *new MachineClock();
  return clock;
}

std::int64_t MeasureMicros() { return ReadNanos(CLOCK_BOOTTIME) / 1'000; }

}  // namespace tenure::base
