// A day of auto-renewal on the virtual clock: the library's manager on a real store.

#include <algorithm>
#include <memory>
#include <variant>

#include <gtest/gtest.h>

#include "client/store/lease_provider.hpp"
#include "leases/leases.hpp"
#include "leases_sql/queries.hpp"
#include "store/test_store.hpp"
#include "tasks/tasks.hpp"
#include "tasks_sql/queries.hpp"
#include "tenure/leases/manager.hpp"

namespace tenure::sim {
namespace {

/// The holder's clock is the store's machine's.
class SharedClock final : public Clock {
 public:
  explicit SharedClock(const base::Clock& clock) : clock_(clock) {}
  std::int64_t NowMs() const override { return clock_.BootMs(); }
  void WaitUntil(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
                 std::int64_t /*until_ms*/) const override {
    changed.wait(lock);  // nobody sleeps by it: the manager has no threads
  }

 private:
  const base::Clock& clock_;
};

TEST(Day, L3_ALeaseIsHeldFor24HoursAndNobodyElseGetsIt) {
  constexpr std::int64_t kDayMs = 24LL * 3'600'000;
  store::TestStore store(store::EngineKind::kSqlite, leases::sql::All());
  const auto process = store.NewProcess();
  wake::Registry wake(store.clock());
  leases::Leases leases(*process, wake, "p", store.clock(), store.metrics());
  tasks::Tasks tasks(*process, wake, "p", store.clock(), store.metrics());
  process->Start();
  const SharedClock clock(store.clock());
  {
    leases::Manager manager(client::MakeLocalProvider(leases, tasks, "default"),
                            {.threads = false, .clock = &clock, .seed = 1});
    auto outcome = manager.TryAcquire("job", {.ttl = leases::Milliseconds(300'000)});
    auto& lease = std::get<leases::Lease>(outcome);
    const std::int64_t end_ms = clock.NowMs() + kDayMs;
    for (std::int64_t next_ms = manager.RunDue(); clock.NowMs() < end_ms;
         next_ms = manager.RunDue()) {
      store.clock().Advance(std::max<std::int64_t>(1, next_ms - clock.NowMs()));
      ASSERT_TRUE(lease.Held());
    }
    EXPECT_EQ(manager.stats().lost, 0);
    EXPECT_EQ(manager.stats().renewal_failures, 0);
    EXPECT_GE(manager.stats().renewals, kDayMs / 100'000);
    EXPECT_EQ(manager.Get("job")->fence, lease.fence());
    EXPECT_TRUE(std::holds_alternative<leases::HeldByAnother>(manager.TryAcquire("job")));
  }
  process->Stop();
}

}  // namespace
}  // namespace tenure::sim
