// I1 with real threads: several processes on one store, each with running lanes.
#include <atomic>
#include <latch>
#include <map>
#include <mutex>
#include <thread>

#include "inbox/test_process.hpp"

namespace tenure::inbox {
namespace {

using store::EngineKind;

constexpr int kProcesses = 5;
constexpr int kDeliveries = 50;
constexpr int kRounds = 10;

class InboxRace : public testing::TestWithParam<EngineKind> {};

INSTANTIATE_TEST_SUITE_P(Stores, InboxRace,
                         testing::Values(EngineKind::kSqlite, EngineKind::kSharedSqlite,
                                         EngineKind::kPostgres, EngineKind::kPooledPostgres),
                         store::EngineName);

/// What a round's deliveries were told.
struct Told {
  std::atomic<int> process{0};
  std::atomic<int> in_progress{0};
  std::atomic<int> other{0};
};

TEST_P(InboxRace, I1_OfFiftyDeliveriesOverSeveralProcessesExactlyOneIsToldToProcess) {
  store::TestStore store(GetParam(), sql::All());
  std::vector<std::unique_ptr<TestProcess>> processes;
  const int count = GetParam() == EngineKind::kSqlite ? 1 : kProcesses;
  for (int i = 0; i < count; ++i) {
    processes.push_back(std::make_unique<TestProcess>(store));
    processes.back()->store().Start();
  }
  // Each round is a message that is new, then lapsed (its worker crashed), then lapsed again.
  for (int round = 0; round < kRounds; ++round) {
    Told told;
    std::latch answered(kDeliveries);
    const std::string id = std::to_string(round / 3);
    std::vector<std::jthread> clients;
    for (int i = 0; i < kDeliveries; ++i)
      clients.emplace_back([&, i] {
        processes[static_cast<std::size_t>(i % count)]->inbox().Begin(
            TestProcess::Command(id, {.hash = "h", .lease_ms = 1'000}), nullptr,
            [&](const db::Result<BeginOutcome>& result) {
              auto& counter = !result.ok()                                          ? told.other
                              : result.value().kind == BeginOutcome::Kind::kProcess ? told.process
                              : result.value().kind == BeginOutcome::Kind::kInProgress
                                  ? told.in_progress
                                  : told.other;
              ++counter;
              answered.count_down();
            });
      });
    answered.wait();
    EXPECT_EQ(told.process, 1) << round;
    EXPECT_EQ(told.in_progress, kDeliveries - 1) << round;
    store.clock().Advance(1'000);
  }
  for (auto& process : processes) process->store().Stop();
}

}  // namespace
}  // namespace tenure::inbox
