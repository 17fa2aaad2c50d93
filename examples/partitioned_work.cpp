// Work that is divided into partitions, each worked on by one process at a time. Every process
// takes the partitions that are free; when one dies, the others take over its partitions.

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
#include <tenure/leases/manager.hpp>
#include <thread>
#include <variant>
#include <vector>

namespace leases = tenure::leases;
using namespace std::chrono_literals;

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: partitioned_work URL PARTITIONS\n";
    return 2;
  }
  const int partitions = std::atoi(argv[2]);
  const auto manager = leases::Open(argv[1]);

  std::vector<leases::Lease> mine;
  for (int i = 0; i < partitions; ++i) {
    const std::string name = "examples/partition/" + std::to_string(i);
    auto outcome = manager->TryAcquire(name, {.ttl = 5s});
    if (auto* lease = std::get_if<leases::Lease>(&outcome)) {
      mine.push_back(std::move(*lease));
    } else {
      const auto& held = std::get<leases::HeldByAnother>(outcome);
      std::cout << name << " is " << held.holder << "'s" << std::endl;
    }
  }
  for (auto& lease : mine) {
    // Between two pieces of work: is it still ours?
    lease.ThrowIfLost();
    std::cout << "works on " << lease.name() << " with fence " << lease.fence() << std::endl;
  }
  for (auto& lease : mine) lease.Close();
  std::cout << "done with " << mine.size() << " of " << partitions << std::endl;
  return 0;
}
