#include "client/seats/fork_guard.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "base/mutex.hpp"

namespace tenure::client {
namespace {

std::atomic<std::uint64_t> fork_generation{1};

/// Never destroyed: a program may fork while it ends.
struct ForkTable {
  base::Mutex mutex;
  std::vector<int> descriptors TENURE_GUARDED_BY(mutex);
};
ForkTable& Forks() {
  static auto* const table = new ForkTable;
  return *table;
}

// The mutex is held over the fork, so that the child finds a list that nobody was changing.
void BeforeFork() TENURE_NOT_ANALYSED { Forks().mutex.lock(); }
void AfterForkInParent() TENURE_NOT_ANALYSED { Forks().mutex.unlock(); }
void AfterForkInChild() TENURE_NOT_ANALYSED {
  fork_generation.fetch_add(1, std::memory_order_relaxed);
  for (const int fd : Forks().descriptors) close(fd);
  Forks().descriptors.clear();
  Forks().mutex.unlock();
}

}  // namespace

std::uint64_t ForkGeneration() noexcept { return fork_generation.load(std::memory_order_relaxed); }

void WatchForks() {
  static const int watching = pthread_atfork(BeforeFork, AfterForkInParent, AfterForkInChild);
  static_cast<void>(watching);
}

void CloseAfterFork(int fd) {
  const base::Lock lock(Forks().mutex);
  Forks().descriptors.push_back(fd);
}

void ForgetAfterFork(int fd) {
  const base::Lock lock(Forks().mutex);
  std::erase(Forks().descriptors, fd);
}

}  // namespace tenure::client
