// Leaders, reliable tasks and chaos.

#include <algorithm>
#include <atomic>
#include <mutex>
#include <semaphore>
#include <stdexcept>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/leases/test/world.hpp"
#include "tenure/leases/chaos.hpp"
#include "tenure/leases/leader.hpp"
#include "tenure/leases/reliable_task.hpp"
#include "tenure/log.hpp"

namespace tenure::leases {
namespace {

using client::test::Call;
using client::test::MemoryStore;
using client::test::Op;
using client::test::World;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const ManagerOptions kQuiet{.stall_guard = false};
const LeaderOptions kOnce{.contend_again = false};

class Leader : public ::testing::Test {
 protected:
  World world{kQuiet};
  std::stop_source stop;
};

void AwaitStop(const std::stop_token& stop) {
  std::binary_semaphore stopped(0);
  const std::stop_callback callback(stop, [&] { stopped.release(); });
  stopped.acquire();
}

TEST_F(Leader, ReleasesOnlyAfterItsWorkHasReturned) {
  std::binary_semaphore elected(0);
  std::thread leader([&] {
    RunAsLeader(
        *world.manager, "leader",
        [&](Lease& lease, const std::stop_token& token) {
          elected.release();
          AwaitStop(token);
          EXPECT_TRUE(lease.Held());
          EXPECT_EQ(world.Look("leader").state, LeaseState::kHeld);
        },
        stop.get_token());
  });
  elected.acquire();
  stop.request_stop();
  leader.join();
  EXPECT_EQ(world.Look("leader").state, LeaseState::kFree);
}

TEST_F(Leader, ContendsAgainAfterALoss) {
  std::vector<std::int64_t> fences;
  std::vector<std::optional<LossReason>> losses;
  RunAsLeader(*world.manager, "leader",
              [&](Lease& lease, const std::stop_token& token) {
                fences.push_back(lease.fence());
                if (fences.size() == 3) {
                  stop.request_stop();
                  return;
                }
                world.manager->Break({.name = "leader", .force = true});
                lease.TryRenewNow();
                AwaitStop(token);
                EXPECT_FALSE(lease.Held());
              },
              stop.get_token(),
              {.deposed = [&](const Lost& lost) { losses.push_back(lost.verdict); }});
  EXPECT_THAT(fences, ElementsAre(1, 2, 3));
  EXPECT_THAT(losses, ElementsAre(LossReason::kBroken, LossReason::kBroken));
}

TEST_F(Leader, WhatTheWorkThrowsGoesToTheCallerAndTheLeaseIsReleased) {
  EXPECT_THROW(
      RunAsLeader(
          *world.manager, "leader",
          [](Lease&, const std::stop_token&) { throw std::domain_error("no"); }, {}, kOnce),
      std::domain_error);
  world.manager = nullptr;
  EXPECT_EQ(world.Look("leader").state, LeaseState::kFree);
}

TEST_F(Leader, StopsWaitingWhenItIsStopped) {
  const Lease other = world.Get("leader");
  std::thread leader([&] {
    RunAsLeader(
        *world.manager, "leader", [](Lease&, const std::stop_token&) { FAIL(); }, stop.get_token());
  });
  while (world.Look("leader").waiters == 0) std::this_thread::yield();
  stop.request_stop();
  leader.join();
}

TEST_F(Leader, OutlastsTroublesOfTheStore) {
  world.FailFirst(Op::kAcquire, 5);
  std::atomic<bool> over = false;
  std::thread time([&] {
    while (!over) {
      world.clock.Advance(1);
      std::this_thread::yield();
    }
  });
  int led = 0;
  RunAsLeader(*world.manager, "leader", [&](Lease&, const std::stop_token&) { ++led; }, {},
              {.lease = {.ttl = kMaxTtl}, .contend_again = false});
  over = true;
  time.join();
  EXPECT_EQ(led, 1);
}

TEST_F(Leader, OutlastsAProxyThatRefusesTheRequest) {
  int refused = 0;
  world.store->before = [&](const Call& call) {
    if (call.op == Op::kAcquire && ++refused <= 2)
      throw std::invalid_argument("400: the proxy does not like it");
  };
  std::atomic<bool> over = false;
  std::thread time([&] {
    while (!over) {
      world.clock.Advance(1);
      std::this_thread::yield();
    }
  });
  int led = 0;
  RunAsLeader(*world.manager, "leader", [&](Lease&, const std::stop_token&) { ++led; }, {},
              {.lease = {.ttl = kMaxTtl}, .contend_again = false});
  over = true;
  time.join();
  EXPECT_EQ(led, 1);
}

TEST_F(Leader, IsToldAtOnceOfANameOrNumbersThatNoStoreTakes) {
  const auto nothing = [](Lease&, const std::stop_token&) {};
  EXPECT_THROW(RunAsLeader(*world.manager, "no spaces", nothing, {}, kOnce), std::invalid_argument);
  EXPECT_THROW(
      RunAsLeader(*world.manager, "leader", nothing, {}, {.lease = {.ttl = Milliseconds(1)}}),
      std::invalid_argument);
}

/// A task that is offered by hand.
struct TaskWorld : World {
  TaskWorld() {
    options.name = "report";
    options.work = [this](const TaskContext& context) {
      runs.push_back(context.nominal_ms);
      if (work) work(context);
    };
    options.finished = [this](const TaskContext&, const std::string& error) {
      errors.push_back(error);
    };
  }

  ReliableTaskOptions options;
  std::function<void(const TaskContext&)> work;
  std::vector<std::int64_t> runs;
  std::vector<std::string> errors;
};

/// What the library logs, and what on_trouble is told, while it lives.
class Said {
 public:
  Said() {
    SetLogHook([this](const LogLine& line) {
      const std::lock_guard lock(mutex_);
      lines_.emplace_back(line.event);
    });
  }
  ~Said() { SetLogHook({}); }
  Said(const Said&) = delete;
  Said& operator=(const Said&) = delete;

  ManagerOptions Options(ManagerOptions options) {
    options.on_trouble = [this](const std::string& what) {
      const std::lock_guard lock(mutex_);
      told_.push_back(what);
    };
    return options;
  }
  std::ptrdiff_t Logged(std::string_view event) const {
    const std::lock_guard lock(mutex_);
    return std::ranges::count(lines_, event);
  }
  std::vector<std::string> told() const {
    const std::lock_guard lock(mutex_);
    return told_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;  // guarded by mutex_
  std::vector<std::string> told_;   // guarded by mutex_
};

TEST(LeaderTrouble, AnElectionAndAReleaseThatFailAreTold) {
  Said said;
  World world(said.Options(kQuiet));
  world.store->before = [](const Call& call) {
    if (call.op == Op::kRelease) call.Fail();
  };
  RunAsLeader(
      *world.manager, "leader", [](Lease&, const std::stop_token&) {}, {}, kOnce);
  world.manager = nullptr;  // runs the handlers that wait
  EXPECT_THAT(said.told(), ::testing::Contains(HasSubstr("releasing leader: ")));
  EXPECT_EQ(said.Logged("leases.trouble"), 1) << "of several within ten seconds";
}

TEST(LeaderTrouble, AReleaseThatNobodyWaitsForIsTriedAgainAndTold) {
  Said said;
  World world(said.Options({.threads = false}));
  world.FailFirst(Op::kRelease, 3);
  { const Lease dropped = world.Get("leader"); }
  world.Run(5'000);
  EXPECT_THAT(said.told(), ElementsAre(HasSubstr("releasing leader: "), HasSubstr("releasing "),
                                       HasSubstr("releasing ")));
  EXPECT_EQ(said.Logged("leases.trouble"), 1);
  EXPECT_EQ(world.Look("leader").state, LeaseState::kFree);
}

using TaskThread = Leader;
class Task : public ::testing::Test {
 protected:
  TaskWorld world;
};

TEST_F(Task, RunsOnceForEachGridTime) {
  ReliableTask one(*world.manager, world.options);
  ReliableTask two(*world.manager, world.options);
  for (int i = 0; i < 10; ++i) {
    one.Offer();
    two.Offer();
    world.Run(60'000);
  }
  ASSERT_EQ(world.runs.size(), 10U);
  for (std::size_t i = 1; i < world.runs.size(); ++i)
    EXPECT_EQ(world.runs[i] - world.runs[i - 1], 60'000);
  EXPECT_EQ(world.errors, std::vector<std::string>(10));
}

TEST_F(Task, SaysWhenToOfferAgain) {
  ReliableTask task(*world.manager, world.options);
  const std::int64_t at_once = task.Offer();
  EXPECT_EQ(at_once, world.clock.NowMs());
  const std::int64_t next_ms = task.Offer();
  EXPECT_GT(next_ms, world.clock.NowMs());
  EXPECT_LE(next_ms, world.clock.NowMs() + 60'000);
}

TEST_F(Task, AFailedRunIsTriedAgainSoonForTheSameTime) {
  int failures = 2;
  world.work = [&](const TaskContext&) {
    if (failures-- > 0) throw std::runtime_error("no paper");
  };
  ReliableTask task(*world.manager, world.options);
  for (int i = 0; i < 3; ++i) {
    task.Offer();
    world.Run(100);
  }
  ASSERT_EQ(world.runs.size(), 3U);
  EXPECT_EQ(world.runs[0], world.runs[2]);
  EXPECT_THAT(world.errors, ElementsAre("no paper", "no paper", ""));
}

TEST(TaskTrouble, AStoreThatIsAwayIsToldEachTimeAndLoggedFromTimeToTime) {
  Said said;
  World world(said.Options({.threads = false}));
  world.FailFirst(Op::kClaim);
  ReliableTask task(*world.manager, {.name = "report", .work = [](const TaskContext&) { FAIL(); }});
  for (int i = 0; i < 30; ++i) {
    world.clock.AdvanceTo(task.Offer());
    world.manager->RunDue();
  }
  EXPECT_EQ(said.told().size(), 30U);
  EXPECT_THAT(said.told().front(), HasSubstr("claiming the task report: "));
  EXPECT_EQ(said.Logged("leases.trouble"), 3) << "in 30 seconds";
}

TEST(TaskTrouble, ARunThatThrowsIsLogged) {
  const Said said;
  TaskWorld world;
  world.work = [](const TaskContext&) { throw std::runtime_error("no paper"); };
  ReliableTask task(*world.manager, world.options);
  task.Offer();
  EXPECT_EQ(said.Logged("tasks.failed"), 1);
}

TEST_F(Task, ALongRunKeepsItsLock) {
  world.work = [&](const TaskContext& context) {
    world.Run(1'000'000);
    EXPECT_FALSE(context.stop.stop_requested());
    EXPECT_EQ(context.lease, "task/report");
  };
  ReliableTask task(*world.manager, world.options);
  task.Offer();
  EXPECT_THAT(world.errors, ElementsAre(""));
  EXPECT_GE(world.store->Count(Op::kRenew), 1'000 / 30) << "every quarter of the timeout";
}

TEST_F(Task, WorkIsCancelledByTheEndOfItsLockAndItsEndIsRefused) {
  world.work = [&](const TaskContext& context) {
    world.store->before = [](const Call& call) {
      if (call.op == Op::kRenew) call.Fail();
    };
    world.Run(107'999);
    EXPECT_FALSE(context.stop.stop_requested());
    world.Run(1);
    EXPECT_TRUE(context.stop.stop_requested()) << "by the deadline, not after a count of failures";
    world.Run(12'000);
    // Another process takes over, for the same time.
    const auto run = std::get<TaskRun>(world.store->Open()->Connect()->ClaimTask(
        {.name = "report", .term = "other"}, Milliseconds(1'000)));
    EXPECT_TRUE(run.reclaimed);
    EXPECT_EQ(run.nominal_ms, context.nominal_ms);
    EXPECT_GT(run.lock.fence, context.fence);
  };
  ReliableTask task(*world.manager, world.options);
  task.Offer();
  ASSERT_EQ(world.errors.size(), 1U);
  EXPECT_THAT(world.errors[0], HasSubstr("refused"));
  EXPECT_EQ(world.Look("task/report").holder, "") << "the new run is untouched";
  EXPECT_EQ(world.Look("task/report").term, "other");
}

TEST_F(Task, ALostReplyOfAClaimIsTheSameRun) {
  world.LoseFirst(Op::kClaim, 1);
  ReliableTask task(*world.manager, world.options);
  task.Offer();
  EXPECT_TRUE(world.runs.empty());
  task.Offer();
  EXPECT_EQ(world.runs.size(), 1U);
  EXPECT_THAT(world.errors, ElementsAre(""));
}

TEST_F(Task, AClaimWhoseTermEndedUnheardOfIsMadeWithANewOne) {
  world.LoseFirst(Op::kClaim, 1);
  ReliableTask task(*world.manager, world.options);
  task.Offer();
  world.Run(120'000);  // the claim was carried out, and its lock has expired
  task.Offer();
  task.Offer();
  EXPECT_EQ(world.runs.size(), 1U);
}

TEST_F(TaskThread, ALostReplyOfTheFinishStillCounts) {
  world.LoseFirst(Op::kFinish, 1);
  std::binary_semaphore finished(0);
  std::string error = "none";
  const ReliableTask task(*world.manager, {.name = "report",
                                           .work = [](const TaskContext&) {},
                                           .finished =
                                               [&](const TaskContext&, const auto& e) {
                                                 error = e;
                                                 finished.release();
                                               }});
  world.store->AwaitCount(Op::kFinish, 1);
  while (!finished.try_acquire()) {
    world.clock.Advance(10);
    std::this_thread::yield();
  }
  EXPECT_EQ(error, "");
  EXPECT_EQ(world.store->Count(Op::kFinish), 2);
}

TEST_F(TaskThread, AtShutdownTheWorkIsStoppedAndWaitedFor) {
  std::binary_semaphore begun(0);
  bool ended = false;
  {
    const ReliableTask task(*world.manager, {.name = "report", .work = [&](const TaskContext& c) {
                                               begun.release();
                                               AwaitStop(c.stop);
                                               ended = true;
                                             }});
    begun.acquire();
  }
  EXPECT_TRUE(ended);
  EXPECT_EQ(world.Look("task/report").state, LeaseState::kFree);
}

TEST_F(TaskThread, WakeOffersAtOnce) {
  ReliableTask task(*world.manager, {.name = "report", .work = [](const TaskContext&) {}});
  world.store->AwaitCount(Op::kClaim, 2);
  task.Wake();
  world.store->AwaitCount(Op::kClaim, 3);
}

TEST(Chaos, IsDecidedByItsSeed) {
  const auto play = [](std::uint64_t seed) {
    testing::VirtualClock clock;
    const auto store = std::make_shared<MemoryStore>(clock);
    const auto provider = MakeChaosProvider(
        store->Open(), {.seed = seed, .failure = 0.3, .lost_reply = 0.3, .duplicate = 0.3});
    const auto connection = provider->Connect();
    std::string story;
    for (int i = 0; i < 50; ++i) {
      try {
        connection->Acquire({.name = "a", .term = "t"}, Milliseconds(100));
        story += 'y';
      } catch (const ProviderUnavailable& e) {
        story += e.outcome_unknown() ? '?' : 'n';
      }
    }
    return story + std::to_string(store->Count(Op::kAcquire));
  };
  EXPECT_EQ(play(1), play(1));
  EXPECT_NE(play(1), play(2));
}

TEST(Chaos, HoldersBearItWithoutTwoAtOnce) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    testing::VirtualClock clock;
    const auto store = std::make_shared<MemoryStore>(clock);
    const auto make = [&](std::uint64_t salt) {
      return std::make_unique<Manager>(
          MakeChaosProvider(
              store->Open(),
              {.seed = seed * 10 + salt, .failure = 0.2, .lost_reply = 0.2, .duplicate = 0.2}),
          ManagerOptions{.threads = false, .clock = &clock, .seed = seed});
    };
    const std::unique_ptr<Manager> managers[] = {make(1), make(2), make(3)};
    Lease leases[3];
    std::int64_t highest = 0;
    for (int step = 0; step < 2'000; ++step) {
      const std::size_t who = static_cast<std::size_t>(step) % 3;
      if (!leases[who].Held()) {
        try {
          auto outcome = managers[who]->TryAcquire("a", {.ttl = Milliseconds(2'000)});
          if (auto* lease = std::get_if<Lease>(&outcome)) {
            EXPECT_GT(lease->fence(), highest) << "L2";
            highest = lease->fence();
            leases[who] = std::move(*lease);
          }
        } catch (const LeaseError&) {
          // Asked again in the next round.
        }
      }
      const int holders = static_cast<int>(leases[0].Held()) + static_cast<int>(leases[1].Held()) +
                          static_cast<int>(leases[2].Held());
      ASSERT_LE(holders, 1) << "L1 and L3, seed " << seed;
      if (step % 97 == 0) leases[who] = Lease();
      clock.Advance(37);
      for (const auto& manager : managers) manager->RunDue();
    }
    EXPECT_GT(highest, 5);
  }
}

}  // namespace
}  // namespace tenure::leases
