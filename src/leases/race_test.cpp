// L1 under real concurrency: a thousand acquisitions of one name at the same moment, over three
// processes with threads of their own, on PostgreSQL.

#include <atomic>
#include <barrier>
#include <chrono>
#include <set>
#include <thread>

#include "leases/test_process.hpp"

namespace tenure::leases {
namespace {

constexpr int kProcesses = 3;
constexpr int kThreads = 10;
constexpr int kAcquires = 1'000;
constexpr int kRounds = 5;

class RacingProcess {
 public:
  RacingProcess(store::TestStore& store, const std::string& id)
      : store_(store.NewProcess()),
        wake_(store.clock()),
        leases_(*store_, wake_, id, store.clock(), store.metrics()) {
    store_->Start();
  }
  ~RacingProcess() { store_->Stop(); }

  Leases& leases() { return leases_; }

 private:
  std::unique_ptr<db::Store> store_;
  wake::Registry wake_;
  Leases leases_;
};

TEST(LeasesRace, L1_L2_OfAThousandAcquisitionsAtOnceOneIsGranted) {
  store::TestStore store(store::EngineKind::kPostgres, sql::All());
  std::vector<std::unique_ptr<RacingProcess>> processes;
  for (int i = 0; i < kProcesses; ++i)
    processes.push_back(std::make_unique<RacingProcess>(store, "p" + std::to_string(i)));
  std::int64_t last_fence = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::mutex mutex;
    std::vector<Grant> grants;           // guarded by mutex
    std::set<std::int64_t> fences_seen;  // guarded by mutex
    std::atomic<int> answered = 0;
    std::barrier start(kThreads);
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kThreads; ++thread)
      threads.emplace_back([&, thread] {
        start.arrive_and_wait();
        for (int i = thread; i < kAcquires; i += kThreads) {
          AcquireCommand command;
          command.key = {"default", "job"};
          command.term = Term(round * kAcquires + i);
          command.ttl_ms = 60'000;
          auto& process = *processes[static_cast<std::size_t>(i % kProcesses)];
          process.leases().Acquire(command, nullptr, [&](db::Result<AcquireOutcome> result) {
            {
              const std::lock_guard lock(mutex);
              EXPECT_TRUE(result.ok());
              if (const auto* grant = std::get_if<Grant>(&result.value()))
                grants.push_back(*grant);
              else
                fences_seen.insert(std::get<HeldByAnother>(result.value()).fence);
            }
            ++answered;
          });
        }
      });
    threads.clear();
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (answered < kAcquires && std::chrono::steady_clock::now() < deadline)
      std::this_thread::yield();
    ASSERT_EQ(answered, kAcquires) << "some were never answered";
    ASSERT_EQ(grants.size(), 1u);
    EXPECT_GT(grants.front().fence, last_fence);
    last_fence = grants.front().fence;
    EXPECT_EQ(fences_seen, std::set{last_fence}) << "all others hear of the same holder";
    store.clock().Advance(60'000);
  }
}

}  // namespace
}  // namespace tenure::leases
