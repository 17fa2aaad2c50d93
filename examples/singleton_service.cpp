// A job that must run once for all processes at each grid time: a reliable task.

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <tenure/leases/reliable_task.hpp>

namespace leases = tenure::leases;
using namespace std::chrono_literals;

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: singleton_service URL RUNS\n";
    return 2;
  }
  int runs_left = std::atoi(argv[2]);
  std::mutex mutex;
  std::condition_variable finished;

  const auto manager = leases::Open(argv[1]);
  leases::ReliableTaskOptions options;
  options.name = "examples/report";
  options.interval = 200ms;
  options.lock_timeout = 5s;
  options.work = [](const leases::TaskContext& run) {
    std::cout << "runs for " << run.nominal_ms << " with fence " << run.fence << std::endl;
  };
  options.finished = [&](const leases::TaskContext&, const std::string& error) {
    const std::lock_guard lock(mutex);
    if (error.empty()) --runs_left;
    finished.notify_all();
  };
  const leases::ReliableTask task(*manager, options);

  std::unique_lock lock(mutex);
  finished.wait(lock, [&] { return runs_left <= 0; });
  return 0;
}
