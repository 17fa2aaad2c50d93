#include "wake/registry.hpp"

#include <atomic>
#include <latch>
#include <memory>
#include <semaphore>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::wake {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A registry that is driven by hand, and who was woken in which order.
class ByHand : public testing::Test {
 protected:
  Registry::Id Wait(const std::string& key, int who, std::int64_t in_ms) {
    return registry_.Wait(key, in_ms < 0 ? Registry::kNever : clock_.BootMs() + in_ms,
                          [this, who] { woken_.push_back(who); });
  }
  std::vector<int> Run() {
    woken_.clear();
    const std::size_t ran = registry_.RunDue();
    EXPECT_EQ(ran, woken_.size());
    return woken_;
  }

  base::ManualClock clock_{0};
  std::vector<int> woken_;
  Registry registry_{clock_};
};

TEST_F(ByHand, ASignalWakesWhoeverWaitsForTheKeyAndNeverInsideOfItsCaller) {
  Wait("a", 1, -1);
  Wait("b", 2, -1);
  registry_.SignalAll("a");
  EXPECT_THAT(woken_, IsEmpty());
  EXPECT_THAT(Run(), ElementsAre(1));
  registry_.SignalAll("a");
  EXPECT_THAT(Run(), IsEmpty());
  EXPECT_EQ(registry_.size(), 1u);
}

TEST_F(ByHand, ASignalThatNobodyWaitsForIsForgotten) {
  registry_.SignalAll("a");
  Wait("a", 1, -1);
  EXPECT_THAT(Run(), IsEmpty());
}

TEST_F(ByHand, AllOfAKeyAndEverybodyAreWokenInOrderOfArrival) {
  Wait("a", 1, -1);
  Wait("b", 2, -1);
  Wait("a", 3, 5);
  registry_.SignalAll("a");
  EXPECT_THAT(Run(), ElementsAre(1, 3));
  Wait("b", 4, 5);
  registry_.SignalEverybody();
  EXPECT_THAT(Run(), ElementsAre(2, 4));
  clock_.Advance(10);
  EXPECT_THAT(Run(), IsEmpty());
  EXPECT_EQ(registry_.size(), 0u);
}

TEST_F(ByHand, TimersAreExactAndRunInOrderOfTheirTimes) {
  Wait("a", 1, 20);
  Wait("a", 2, 10);
  Wait("b", 3, 10);
  Wait("b", 4, 0);
  EXPECT_THAT(Run(), ElementsAre(4));
  clock_.Advance(9);
  EXPECT_THAT(Run(), IsEmpty());
  clock_.Advance(1);
  EXPECT_THAT(Run(), ElementsAre(2, 3));
  clock_.StepWall(3'600'000);
  EXPECT_THAT(Run(), IsEmpty()) << "the calendar has nothing to do with it";
  clock_.Advance(60'000);
  EXPECT_THAT(Run(), ElementsAre(1));
}

TEST_F(ByHand, ATaskRunsOnceThoughItsTimeAndASignalComeTogether) {
  Wait("a", 1, 10);
  clock_.Advance(10);
  registry_.SignalAll("a");
  EXPECT_THAT(Run(), ElementsAre(1));
  EXPECT_THAT(Run(), IsEmpty());
}

TEST_F(ByHand, WhatIsCancelledNeverRuns) {
  const auto first = Wait("a", 1, 10);
  const auto second = Wait("a", 2, 10);
  EXPECT_TRUE(registry_.Cancel(first));
  EXPECT_FALSE(registry_.Cancel(first));
  clock_.Advance(10);
  EXPECT_THAT(Run(), ElementsAre(2));
  EXPECT_FALSE(registry_.Cancel(second));
  const auto third = Wait("a", 3, -1);
  registry_.SignalAll("a");
  EXPECT_TRUE(registry_.Cancel(third)) << "it was woken, and has not begun";
  EXPECT_THAT(Run(), IsEmpty());
}

TEST_F(ByHand, ATaskMayWaitAgainSignalAndCancel) {
  const auto other = Wait("b", 2, -1);
  registry_.Wait("a", 0, [&] {
    woken_.push_back(1);
    EXPECT_TRUE(registry_.Cancel(other));
    Wait("a", 3, 0);
    Wait("c", 4, -1);
    registry_.SignalAll("c");
  });
  EXPECT_THAT(Run(), ElementsAre(1)) << "what becomes due in a pass waits for the next";
  EXPECT_THAT(Run(), ElementsAre(4, 3));
}

TEST_F(ByHand, StopDropsWhatWaitsWithoutRunningIt) {
  const auto owned = std::make_shared<int>(0);
  registry_.Wait("a", 0, [owned] { ++*owned; });
  registry_.SignalAll("a");
  registry_.Stop();
  registry_.Wait("a", 0, [owned] { ++*owned; });
  registry_.SignalAll("a");
  EXPECT_EQ(registry_.RunDue(), 0u);
  EXPECT_EQ(*owned, 0);
  EXPECT_EQ(owned.use_count(), 1) << "the tasks are gone";
}

TEST(Threaded, SignalsAndTimersArriveOnTheRegistrysThread) {
  const base::Clock& clock = base::SystemClock();
  Registry registry(clock);
  std::binary_semaphore woken(0);
  std::thread::id where;
  // Before Start, too: the thread finds it.
  registry.Wait("early", clock.BootMs() + 1, [&] { woken.release(); });
  registry.Start();
  woken.acquire();
  registry.Wait("a", Registry::kNever, [&] {
    where = std::this_thread::get_id();
    woken.release();
  });
  registry.SignalAll("a");
  woken.acquire();
  EXPECT_NE(where, std::this_thread::get_id());

  registry.Wait("far", clock.BootMs() + 3'600'000, [] { FAIL() << "an hour has not passed"; });
  std::int64_t at_ms = 0;
  const std::int64_t until_ms = clock.BootMs() + 20;
  registry.Wait("near", until_ms, [&] {
    at_ms = clock.BootMs();
    woken.release();
  });
  woken.acquire();
  EXPECT_GE(at_ms, until_ms);
  EXPECT_EQ(registry.size(), 1u);
}

TEST(Threaded, EveryTaskRunsOnceOrIsCancelledWhateverHappensAtOnce) {
  constexpr int kThreads = 4;
  constexpr int kEach = 2'000;
  Registry registry(base::SystemClock());
  std::vector<std::atomic<int>> runs(kThreads * kEach);
  std::vector<std::atomic<bool>> cancelled(kThreads * kEach);
  std::latch settled(kThreads * kEach);
  registry.Start();
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kThreads; ++thread)
      threads.emplace_back([&, thread] {
        for (int i = 0; i < kEach; ++i) {
          const auto who = static_cast<std::size_t>(thread) * kEach + static_cast<std::size_t>(i);
          const std::string key = std::to_string(i % 7);
          const std::int64_t until =
              i % 3 == 0 ? Registry::kNever : base::SystemClock().BootMs() + i % 5;
          const auto id = registry.Wait(key, until, [&, who] {
            ++runs[who];
            settled.count_down();
          });
          if (i % 2 == 0) registry.SignalAll(key);
          if (i % 4 == 1 && registry.Cancel(id)) {
            cancelled[who] = true;
            settled.count_down();
          }
          if (i % 500 == 0) registry.SignalEverybody();
        }
      });
  }
  registry.SignalEverybody();
  settled.wait();
  registry.Stop();
  EXPECT_EQ(registry.size(), 0u);
  for (std::size_t who = 0; who < runs.size(); ++who)
    ASSERT_EQ(runs[who] + (cancelled[who] ? 1 : 0), 1) << who;
}

TEST(Threaded, StopEndsItWhileSignalsComeAndAHundredThousandWait) {
  Registry registry(base::SystemClock());
  const auto owned = std::make_shared<std::atomic<int>>(0);
  const std::int64_t hour = base::SystemClock().BootMs() + 3'600'000;
  for (int i = 0; i < 100'000; ++i)
    registry.Wait(std::to_string(i % 1'000), hour + i, [owned] { ++*owned; });
  registry.Start();
  std::latch begun(1);
  const std::jthread signaller([&](const std::stop_token& stop) {
    for (int i = 0; !stop.stop_requested(); ++i) {
      registry.SignalAll(std::to_string(i % 1'000));
      if (i == 1'000) begun.count_down();
    }
  });
  begun.wait();
  registry.Stop();
  const int ran = *owned;
  EXPECT_EQ(registry.size(), 0u);
  EXPECT_EQ(owned.use_count(), 1);
  registry.SignalAll("1");
  EXPECT_EQ(*owned, ran);
}

}  // namespace
}  // namespace tenure::wake
