// A machine that wants a seat of a licence for as long as it lives, and tells on standard output for how long it
// believed that it had one: "held FROM UNTIL", times of CLOCK_BOOTTIME in milliseconds, the same clock for all
// processes of the machine.
//
//   seat_holder SERVER_URL MACHINE      with the licence's key in TENURE_LICENSE

#include "tenure/seats/seat_holder.hpp"

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <thread>
#include <variant>

#include "tenure/clock.hpp"

namespace {

namespace seats = tenure::seats;
using namespace std::chrono_literals;

void Hold(const seats::SeatHolder& holder, const tenure::Clock& clock) {
  const std::int64_t from_ms = clock.NowMs();
  std::int64_t until_ms = 0;
  // Each round: a look, and the time of a clock reading before it. What is told is true even if the process is stopped
  // between any two of these lines.
  for (int round = 0; round < 600; ++round) {
    const std::int64_t before_ms = clock.NowMs();
    if (!holder.IsHeld()) break;
    until_ms = before_ms;
    std::this_thread::sleep_for(1ms);
  }
  if (until_ms != 0) std::cout << "held " << from_ms << ' ' << until_ms << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  const char* const key = std::getenv("TENURE_LICENSE");
  if (argc != 3 || key == nullptr) return 2;
  const tenure::Clock& clock = tenure::BootClock();
  bool give_back = false;
  while (true) try {
      seats::SeatHolder holder({.server = argv[1],
                                .license_key = key,
                                .machine_id = argv[2],
                                .wait = 2s,
                                .acquire_again = false,
                                .call_timeout = 2s});
      if (!std::holds_alternative<seats::Seat>(holder.Acquire())) {
        std::this_thread::sleep_for(100ms);
        continue;
      }
      Hold(holder, clock);
      // By turns: given back, and kept beyond the time between two heartbeats.
      give_back = !give_back;
      if (!give_back) Hold(holder, clock);
      holder.Close();
    } catch (const seats::SeatError&) {
      std::this_thread::sleep_for(50ms);  // the server is away
    }
}
