#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "client/leases/test/memory_store.hpp"
#include "tenure/leases/manager.hpp"
#include "tenure/testing/virtual_clock.hpp"

namespace tenure::client::test {

/// A clock that the test moves, a store in memory and a manager on it.
struct World {
  explicit World(leases::ManagerOptions options = {.threads = false})
      : store(std::make_shared<MemoryStore>(clock)) {
    options.clock = &clock;
    if (options.seed == 0) options.seed = 1;
    manager = std::make_unique<leases::Manager>(store->Open(), options);
  }

  /// REQUIRES: it is free.
  leases::Lease Get(const std::string& name, leases::LeaseOptions options = {},
                    leases::Events events = {}) {
    return std::get<leases::Lease>(manager->TryAcquire(name, options, std::move(events)));
  }

  /// Time passes, and the manager does what is due at every moment at which something is.
  void Run(std::int64_t ms) {
    const std::int64_t end_ms = clock.NowMs() + ms;
    std::int64_t next_ms = manager->RunDue();
    while (next_ms <= end_ms) {
      clock.AdvanceTo(next_ms);
      next_ms = manager->RunDue();
    }
    clock.AdvanceTo(end_ms);
    manager->RunDue();
  }

  /// The first so many calls of a kind fail, or are carried out and their replies lost.
  void FailFirst(Op op, int times = kAlways) {
    store->before = First(op, times, [](const Call& call) { call.Fail(); });
  }
  void LoseFirst(Op op, int times = kAlways) {
    store->after = First(op, times, [](const Call& call) { call.LoseReply(); });
  }
  /// What happens in the first so many calls of a kind; from any thread.
  static constexpr int kAlways = std::numeric_limits<int>::max();
  static std::function<void(const Call&)> First(Op op, int times,
                                                std::function<void(const Call&)> happens) {
    return [op, left = std::make_shared<std::atomic<int>>(times),
            happens = std::move(happens)](const Call& call) {
      if (call.op == op && (*left)-- > 0) happens(call);
    };
  }

  /// What the store knows.
  leases::LeaseView Look(const std::string& name) {
    return store->Open()->Connect()->Get(name, leases::Milliseconds(1'000)).value();
  }

  testing::VirtualClock clock;
  std::shared_ptr<MemoryStore> store;
  std::unique_ptr<leases::Manager> manager;
};

}  // namespace tenure::client::test
