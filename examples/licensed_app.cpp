// A program that may run only while it holds a seat of its licence: it says who it is by the machine,
// stands in line when all seats are taken, works while the seat is held (also without a connection,
// until the deadline), and stops when it is lost.

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <tenure/seats/seat_holder.hpp>
#include <thread>

namespace seats = tenure::seats;
using namespace std::chrono_literals;

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: licensed_app SERVER STEPS (the licence's key in TENURE_LICENSE)\n";
    return 2;
  }
  const char* const key = std::getenv("TENURE_LICENSE");
  int steps_left = std::atoi(argv[2]);

  seats::SeatOptions options;
  options.server = argv[1];
  options.license_key = key ? key : "";
  options.application = "licensed_app";
  options.machine_scope = seats::MachineScope::kProcess;  // several may run on one machine
  options.wait = 1min;

  seats::SeatEvents events;
  events.waiting = [](const seats::InLine& waiting) {
    std::cout << "all seats are taken; number " << waiting.position << " in the line" << std::endl;
  };
  events.at_risk = [](const seats::AtRisk& risk) {
    std::cout << "no heartbeat arrived; good for " << risk.valid_for.count() << " ms" << std::endl;
  };
  events.lost = [](const seats::SeatLost& lost) {
    std::cout << "the seat is lost: " << lost.detail << std::endl;
  };

  seats::SeatHolder holder(options, events);
  const auto outcome = holder.Acquire();
  if (const auto* none = std::get_if<seats::NoSeat>(&outcome)) {
    std::cerr << "no seat: " << none->detail << "\n";
    return 4;
  }
  std::cout << "works with fence " << holder.seat()->fence << std::endl;
  for (; steps_left > 0 && holder.IsHeld(); --steps_left) std::this_thread::sleep_for(10ms);
  std::cout << (steps_left == 0 ? "done" : "stopped") << std::endl;
  return steps_left == 0 && holder.Close().released ? 0 : 6;
}
