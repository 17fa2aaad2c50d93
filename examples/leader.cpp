// Leader election: run it several times at once with the same URL. One process leads; when it ends
// or dies, another takes over.

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <tenure/leases/leader.hpp>
#include <thread>

namespace leases = tenure::leases;
using namespace std::chrono_literals;

namespace {
std::stop_source interrupted;
}

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: leader URL [TERMS]\n";
    return 2;
  }
  int terms_left = argc > 2 ? std::atoi(argv[2]) : 1'000'000;

  // Signals are taken by a thread of their own: stop_source is not for signal handlers.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread([signals]() mutable {
    int number = 0;
    sigwait(&signals, &number);
    interrupted.request_stop();
  }).detach();

  const auto manager = leases::Open(argv[1]);
  leases::LeaderOptions options;
  options.lease.ttl = 3s;
  options.deposed = [](const leases::Lost& lost) {
    std::cout << "deposed: " << lost.detail << std::endl;
  };
  leases::RunAsLeader(
      *manager, "examples/leader",
      [&](leases::Lease& lease, std::stop_token stop) {
        std::cout << "leading with fence " << lease.fence() << std::endl;
        for (int i = 0; i < 3 && !stop.stop_requested(); ++i) std::this_thread::sleep_for(50ms);
        std::cout << "steps down" << std::endl;
        if (--terms_left == 0) interrupted.request_stop();
      },
      interrupted.get_token(), options);
  return 0;
}
