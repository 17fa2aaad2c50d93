// A manager with its threads, on a virtual clock where time matters. Tests wait for what they
// expect to happen, never for time to pass.

#include <atomic>
#include <latch>
#include <mutex>
#include <semaphore>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/leases/test/world.hpp"

namespace tenure::leases {
namespace {

using client::test::Call;
using client::test::Op;
using client::test::World;

const LeaseOptions kThreadsLease{.ttl = Milliseconds(10'000)};

/// Threads, and no ticks beside those that a test is about.
const ManagerOptions kThreadsManager{.stall_guard = false};

/// Waits until somebody gives it.
class Signal {
 public:
  void Give() { semaphore_.release(); }
  void Await() { semaphore_.acquire(); }
  bool given() { return semaphore_.try_acquire(); }

 private:
  std::counting_semaphore<> semaphore_{0};
};

/// Moves the clock in small steps until its end, for those who sleep on it.
class Time {
 public:
  explicit Time(testing::VirtualClock& clock)
      : thread_([this, &clock] {
          while (!over_) {
            clock.Advance(1);
            std::this_thread::yield();
          }
        }) {}
  ~Time() {
    over_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> over_{false};
  std::thread thread_;
};

TEST(Threads, RenewalsGoOnByThemselves) {
  World world(kThreadsManager);
  Signal renewed;
  const Lease lease =
      world.Get("a", kThreadsLease, {.renewed = [&](const Renewed&) { renewed.Give(); }});
  for (int i = 0; i < 100; ++i) {
    world.clock.Advance(3'400);
    renewed.Await();
    ASSERT_TRUE(lease.Held());
  }
  EXPECT_EQ(lease.fence(), 1);
}

TEST(Threads, ARenewalThatHangsDoesNotHideTheLoss) {
  World world(kThreadsManager);
  std::latch may_end(1);
  world.store->before = [&](const Call& call) {
    if (call.op == Op::kRenew) may_end.wait();  // hears nothing of Cancel either
  };
  Signal lost;
  const Lease lease = world.Get("a", kThreadsLease, {.lost = [&](const Lost&) { lost.Give(); }});
  world.clock.Advance(3'400);
  world.store->AwaitCount(Op::kRenew, 1);
  world.clock.Advance(5'600);
  lost.Await();
  EXPECT_FALSE(lease.Held());
  EXPECT_TRUE(lease.token().stop_requested());
  EXPECT_EQ(lease.loss()->verdict, std::nullopt);
  may_end.count_down();
}

TEST(Threads, ARenewalThatHangsIsCancelledAndTriedAgainOnANewSession) {
  World world(kThreadsManager);
  std::atomic<int> hangs = 1;
  world.store->before = [&](const Call& call) {
    if (call.op == Op::kRenew && hangs-- > 0) call.Hang();
  };
  Signal failed;
  Signal renewed;
  const Lease lease = world.Get("a", kThreadsLease,
                                {.renewed = [&](const Renewed&) { renewed.Give(); },
                                 .renewal_failed = [&](const RenewalFailed&) { failed.Give(); }});
  world.clock.Advance(3'400);
  world.store->AwaitCount(Op::kRenew, 1);
  world.clock.Advance(2'000);  // an eighth of the ttl, and some grace
  failed.Await();
  world.clock.Advance(100);
  renewed.Await();
  EXPECT_EQ(lease.state(), HoldState::kHeld);
}

TEST(Threads, ASlowHandlerDelaysNoRenewalAndNoLoss) {
  World world(kThreadsManager);
  std::latch may_end(1);
  Signal in_handler;
  const Lease lease = world.Get("a", kThreadsLease, {.renewed = [&](const Renewed&) {
                                  in_handler.Give();
                                  may_end.wait();
                                }});
  world.clock.Advance(3'400);
  in_handler.Await();
  for (int i = 2; i <= 5; ++i) {
    world.clock.Advance(3'400);
    world.store->AwaitCount(Op::kRenew, i);
  }
  Signal stopped;
  const std::stop_callback callback(lease.token(), [&] { stopped.Give(); });
  ASSERT_TRUE(world.manager->Break({.name = "a"})->broken);
  world.clock.Advance(3'400);
  stopped.Await();
  EXPECT_FALSE(lease.Held());
  may_end.count_down();
}

TEST(Threads, ADestructorDoesNotWaitForTheRelease) {
  World world(kThreadsManager);
  std::latch may_end(1);
  world.store->before = [&](const Call& call) {
    if (call.op == Op::kRelease) may_end.wait();
  };
  const Lease kept = world.Get("b", kThreadsLease);
  { const Lease lease = world.Get("a", kThreadsLease); }
  world.store->AwaitCount(Op::kRelease, 1);
  // And no renewal waits for it.
  world.clock.Advance(3'400);
  world.store->AwaitCount(Op::kRenew, 1);
  may_end.count_down();
  world.manager = nullptr;
  EXPECT_EQ(world.Look("a").state, LeaseState::kFree);
  EXPECT_EQ(world.Look("b").state, LeaseState::kHeld) << "a manager releases nothing by itself";
}

TEST(Threads, AHangingReleaseDoesNotKeepTheManager) {
  World world(kThreadsManager);
  world.store->before = [](const Call& call) {
    if (call.op == Op::kRelease) call.Hang();
  };
  { const Lease lease = world.Get("a", kThreadsLease); }
  world.store->AwaitCount(Op::kRelease, 1);
  const Time time(world.clock);
  world.manager = nullptr;
}

TEST(Threads, AWaiterIsServedWhenTheHolderReleases) {
  World world(kThreadsManager);
  Lease first = world.Get("a", kThreadsLease);
  std::thread waiter([&] {
    const Lease second = world.manager->Acquire("a", Milliseconds(60'000), kThreadsLease);
    EXPECT_EQ(second.fence(), 2);
    EXPECT_TRUE(second.Held());
  });
  while (world.Look("a").waiters == 0) std::this_thread::yield();
  EXPECT_TRUE(first.Close().released);
  waiter.join();
}

TEST(Threads, ManyMayWaitAtOnceAndEachIsServed) {
  World world(kThreadsManager);
  Lease first = world.Get("a", kThreadsLease);
  std::atomic<int> served = 0;
  std::vector<std::thread> waiters;
  for (int i = 0; i < 8; ++i)
    waiters.emplace_back([&] {
      Lease lease = world.manager->Acquire("a", Milliseconds(60'000), kThreadsLease);
      EXPECT_TRUE(lease.Held());
      ++served;
      lease.Close();
    });
  while (world.Look("a").waiters < 8) std::this_thread::yield();
  first.Close();
  for (auto& waiter : waiters) waiter.join();
  EXPECT_EQ(served, 8);
}

TEST(Threads, AWaitThatIsLongBesideTheTtlStillEndsWithAValidLease) {
  World world(kThreadsManager);
  Lease first = world.Get("a", {.ttl = Milliseconds(20'000), .auto_renew = false});
  std::thread waiter([&] {
    // 0.9 of 20 s that were waited for leave nothing of a ttl of 1 s: it is asked for again.
    const Lease second =
        world.manager->Acquire("a", Milliseconds(60'000), {.ttl = Milliseconds(1'000)});
    EXPECT_TRUE(second.Held());
    EXPECT_EQ(second.fence(), 2);
  });
  while (world.Look("a").waiters == 0) std::this_thread::yield();
  world.clock.Advance(20'000);
  waiter.join();
}

TEST(Threads, AWaiterGivesUpWhenItIsStopped) {
  World world(kThreadsManager);
  const Lease first = world.Get("a", kThreadsLease);
  std::stop_source stop;
  std::thread waiter([&] {
    const auto outcome = world.manager->TryAcquireFor("a", Milliseconds(60'000), kThreadsLease, {},
                                                      stop.get_token());
    EXPECT_TRUE(std::holds_alternative<HeldByAnother>(outcome));
  });
  while (world.Look("a").waiters == 0) std::this_thread::yield();
  stop.request_stop();
  waiter.join();
  EXPECT_EQ(world.Look("a").waiters, 0);
}

TEST(Threads, AnAcquisitionOutlastsTroublesOfTheStore) {  // no count of tries
  World world(kThreadsManager);
  std::atomic<int> failures = 30;
  world.store->before = [&](const Call& call) {
    if (call.op == Op::kAcquire && failures-- > 0) call.Fail();
  };
  const Time time(world.clock);
  const Lease lease =
      world.manager->Acquire("a", Milliseconds(3'600'000), {.ttl = leases::kMaxTtl});
  EXPECT_EQ(lease.fence(), 1);
}

TEST(Threads, AnAcquisitionEndsWithItsTime) {
  World world(kThreadsManager);
  world.store->before = [](const Call& call) {
    if (call.op == Op::kAcquire) call.Fail();
  };
  const Time time(world.clock);
  EXPECT_THROW(world.manager->Acquire("a", Milliseconds(5'000)), ProviderUnavailable);
}

TEST(Threads, LostRepliesOfAWaitingAcquisitionKeepTheTerm) {
  World world(kThreadsManager);
  std::atomic<int> losses = 5;
  world.store->after = [&](const Call& call) {
    if (call.op == Op::kAcquire && losses-- > 0) call.LoseReply();
  };
  const Time time(world.clock);
  const Lease lease =
      world.manager->Acquire("a", Milliseconds(3'600'000), {.ttl = leases::kMaxTtl});
  EXPECT_EQ(lease.fence(), 1);
  const auto terms = world.store->acquired_terms();
  EXPECT_EQ(terms, std::vector<std::string>(6, terms.front()));
}

TEST(Threads, AStallIsReportedAndRenewsEarly) {
  World world(ManagerOptions{});
  Signal stalled;
  Signal lease_stalled;
  world.manager->OnStall([&](const Stalled& stall) {
    EXPECT_GE(stall.gap, Milliseconds(500));
    stalled.Give();
  });
  const Lease lease =
      world.Get("a", kThreadsLease, {.stalled = [&](const Stalled&) { lease_stalled.Give(); }});
  // The watchdog sleeps until its next tick; a process that was stopped wakes up much later.
  while (world.clock.NextWakeMs() > world.clock.NowMs() + 500) std::this_thread::yield();
  world.clock.Advance(2'000);
  stalled.Await();
  lease_stalled.Await();
  world.store->AwaitCount(Op::kRenew, 1);
  EXPECT_TRUE(lease.Held());
}

TEST(Threads, ALossIsToldOnceHoweverManyNotice) {
  for (int round = 0; round < 20; ++round) {
    World world(kThreadsManager);
    std::atomic<int> told = 0;
    Signal lost;
    Lease lease = world.Get("a", {.ttl = Milliseconds(10'000), .auto_renew = false},
                            {.lost = [&](const Lost&) {
                              ++told;
                              lost.Give();
                            }});
    std::vector<std::thread> lookers;
    for (int i = 0; i < 3; ++i)
      lookers.emplace_back([&] {
        while (lease.Held()) std::this_thread::yield();
        EXPECT_EQ(lease.state(), HoldState::kLost);
      });
    world.clock.Advance(9'000);
    for (auto& looker : lookers) looker.join();
    lost.Await();
    world.manager = nullptr;
    EXPECT_EQ(told, 1);
  }
}

TEST(Threads, LeasesAndManagersEndInAnyOrder) {
  for (int round = 0; round < 20; ++round) {
    World world(kThreadsManager);
    std::vector<Lease> leases;
    for (int i = 0; i < 8; ++i) leases.push_back(world.Get("a" + std::to_string(i), kThreadsLease));
    std::thread ender([&] { leases.erase(leases.begin(), leases.begin() + 4); });
    world.clock.Advance(3'400);
    if (round % 2 == 0) ender.join();
    world.manager = nullptr;
    if (ender.joinable()) ender.join();
  }
}

TEST(Threads, OnTheMachinesClockALeaseIsKeptOverManyTtls) {
  const auto store = std::make_shared<client::test::MemoryStore>(BootClock());
  Manager manager(store->Open());
  std::latch renewed(10);
  std::atomic<int> left = 10;
  const auto outcome =
      manager.TryAcquire("a", {.ttl = Milliseconds(400)}, {.renewed = [&](const Renewed&) {
                           if (left-- > 0) renewed.count_down();
                         }});
  renewed.wait();
  EXPECT_EQ(std::get<Lease>(outcome).fence(), 1);
}

}  // namespace
}  // namespace tenure::leases
