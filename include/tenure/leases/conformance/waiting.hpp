#pragma once

#include "tenure/leases/conformance/fixture.hpp"

/// Who waits, where a store has a queue or tells of releases.
namespace tenure::leases::conformance {

TEST_P(LeaseConformance, AReleaseHandsOverToTheWaiter) {
  if (!guarantees().fifo) GTEST_SKIP() << "no queue";
  const Grant first = Take(a_);
  const auto waiter = Wait(b_);
  AwaitWaiters(1);
  EXPECT_TRUE(Release(first).released);
  waiter->thread.join();
  ASSERT_TRUE(waiter->outcome && Granted(*waiter->outcome));
  EXPECT_GT(std::get<Grant>(*waiter->outcome).fence, first.fence);
}

TEST_P(LeaseConformance, WhoWaitsIsToldOfARelease) {
  if (!guarantees().push) GTEST_SKIP() << "who waits asks again from time to time";
  // Two hand one lease to and fro. Without being told, each turn would take a pause of polling.
  Grant holder = Take(a_);
  for (int i = 0; i < 20; ++i) {
    const auto waiter = Wait(NewTerm());
    AwaitWaiters(1);
    EXPECT_TRUE(Release(holder).released);
    waiter->thread.join();
    ASSERT_TRUE(waiter->outcome && Granted(*waiter->outcome));
    holder = std::get<Grant>(*waiter->outcome);
  }
}

TEST_P(LeaseConformance, WaitersAreServedInTheirOrder) {
  if (!guarantees().fifo) GTEST_SKIP() << "no queue";
  Grant holder = Take(a_);
  std::vector<std::unique_ptr<Waiter>> waiters;
  for (int i = 0; i < 4; ++i) {
    waiters.push_back(Wait(NewTerm()));
    AwaitWaiters(i + 1);
  }
  for (const auto& waiter : waiters) {
    EXPECT_TRUE(Release(holder).released);
    waiter->thread.join();
    ASSERT_TRUE(waiter->outcome && Granted(*waiter->outcome));
    holder = std::get<Grant>(*waiter->outcome);
  }
}

TEST_P(LeaseConformance, NobodyBargesPastAWaiter) {
  if (!guarantees().fifo) GTEST_SKIP() << "no queue";
  const Grant first = Take(a_);
  const auto waiter = Wait(b_);
  AwaitWaiters(1);
  std::atomic<bool> over = false;
  std::thread barger([&, mine = Another()] {
    while (!over)
      EXPECT_FALSE(
          Granted(mine->Acquire({.name = name_, .term = NewTerm(), .ttl = kLong}, kTimeout)));
  });
  Release(first);
  waiter->thread.join();
  over = true;
  barger.join();
  EXPECT_TRUE(waiter->outcome && Granted(*waiter->outcome));
}

TEST_P(LeaseConformance, AnExpiryHandsOverToTheWaiter) {
  if (!guarantees().fifo) GTEST_SKIP() << "no queue";
  const Grant first = Take(a_, short_ttl());
  const auto waiter = Wait(b_);
  for (int i = 0; i < 100 && !waiter->done; ++i) {
    GetParam().advance(short_ttl() / 4);
    std::this_thread::sleep_for(Milliseconds(5));  // where time is not real, the waiter has to run
  }
  waiter->thread.join();
  ASSERT_TRUE(waiter->outcome && Granted(*waiter->outcome));
  EXPECT_GT(std::get<Grant>(*waiter->outcome).fence, first.fence);
}

TEST_P(LeaseConformance, AWaitThatWasCancelledLeavesTheQueue) {
  if (!guarantees().fifo) GTEST_SKIP() << "no queue";
  const Grant first = Take(a_);
  const auto waiter = Wait(b_);
  AwaitWaiters(1);
  waiter->connection->Cancel();
  waiter->thread.join();
  EXPECT_FALSE(waiter->outcome && Granted(*waiter->outcome));
  Release(first);
  // A dead waiter costs at most its ticket's time.
  for (int i = 0; i < 200; ++i) {
    if (Granted(Ask(c_))) return;
    GetParam().advance(Milliseconds(50));
  }
  FAIL() << "the queue stands still";
}

}  // namespace tenure::leases::conformance
