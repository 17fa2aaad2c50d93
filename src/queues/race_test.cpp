// Q1, Q3 and Q4 under real concurrency: three processes with lanes of their own on one PostgreSQL,
// producers, consumers that crash, and time that passes.

#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "queues/contract_fixture.hpp"
#include "store/tables.hpp"

namespace tenure::queues {
namespace {

constexpr int kProcesses = 3;
constexpr int kKeys = 4;
constexpr int kProducers = 3;
constexpr int kConsumers = 5;
constexpr int kMessages = 60;  // of each producer
constexpr std::int64_t kCap = 3;

class RacingQueues {
 public:
  RacingQueues(store::TestStore& store, const std::string& id)
      : store_(store.NewProcess({.lanes = {.max_wait_ms = 1'000'000'000}})),
        clock_(store.clock()),
        wake_(store.clock()),
        messages_(*store_, wake_, id, store.clock(), store.metrics()),
        queues_(*store_, wake_, messages_, store.clock()) {
    store_->Start();
  }
  ~RacingQueues() { store_->Stop(); }

  /// What waits for its time (a session that somebody has locked) is driven by those who wait here.
  template <class Reply, class Submit>
  Reply Wait(Submit submit) {
    std::promise<db::Result<Reply>> promise;
    auto future = promise.get_future();
    submit([&promise](db::Result<Reply> result) { promise.set_value(std::move(result)); });
    while (future.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready) {
      const std::scoped_lock one_at_a_time(driving_);
      clock_.Advance(1);
      wake_.RunDue();
    }
    db::Result<Reply> result = future.get();
    if (!result.ok()) throw result.fault();
    return std::move(result.value());
  }
  std::int64_t Send(const std::string& key, const std::string& payload) {
    return Wait<SendReply>([&](auto done) {
             queues_.Send({"default", "q", {TestProcess::Of(key, payload)}}, std::move(done));
           })
        .messages.at(0)
        .sequence;
  }
  AcceptReply Accept(const std::string& consumer) {
    return Wait<AcceptReply>([&](auto done) {
      queues_.Accept(TestProcess::Ask(2, consumer, 3), nullptr, std::move(done));
    });
  }
  ReportOutcome Tell(Report report) {
    return Wait<ReportReply>([&](auto done) {
             queues_.Report({"default", "q", {std::move(report)}}, nullptr, std::move(done));
           })
        .outcomes.at(0);
  }

 private:
  std::unique_ptr<db::Store> store_;
  base::ManualClock& clock_;
  std::mutex driving_;
  wake::Registry wake_;
  messages::Messages messages_;
  Queues queues_;
};

/// What was seen: shares no code with the rules.
class Judge {
 public:
  void Sent(const std::string& key, std::int64_t sequence, const std::string& payload) {
    const std::scoped_lock lock(mutex_);
    EXPECT_TRUE(sent_[key].emplace(sequence, payload).second) << "a number given twice";
  }
  void Handed(const HeldSession& session) {
    const std::scoped_lock lock(mutex_);
    const std::int64_t first = session.messages.empty() ? 0 : session.messages.front().sequence;
    EXPECT_TRUE(handed_[session.key].emplace(session.fence, first).second)
        << "Q1: a fence that is not new";
  }
  /// Answers are heard in any order: a lease may end before its holder is told that it has it.
  void HandedInOrder() const {
    for (const auto& [key, handed] : handed_) {
      std::int64_t before = 0;
      for (const auto& [fence, first] : handed) {
        if (first == 0) continue;
        EXPECT_GE(first, before) << "Q1: " << key << " went back with fence " << fence;
        before = first;
      }
    }
  }
  void Done(const std::string& key, std::int64_t fence, std::int64_t sequence) {
    const std::scoped_lock lock(mutex_);
    std::int64_t& done = done_[key];
    EXPECT_EQ(sequence, done + 1) << "Q1: " << key << " was completed out of order";
    EXPECT_GE(fence, completed_by_[key]) << "Q1: an older fence completed";
    completed_by_[key] = fence;
    done = sequence;
    ++total_;
  }
  int total() const { return total_; }
  const std::map<std::string, std::map<std::int64_t, std::string>>& sent() const { return sent_; }

 private:
  std::mutex mutex_;
  std::map<std::string, std::map<std::int64_t, std::string>> sent_;
  std::map<std::string, std::map<std::int64_t, std::int64_t>> handed_;  ///< fence -> first message
  std::map<std::string, std::int64_t> done_, completed_by_;
  std::atomic<int> total_{0};
};

TEST(QueuesRace, Q1_Q3_Q4_ManyProcessesKeepOrderAndCapAndLoseNothing) {
  store::TestStore store(store::EngineKind::kPostgres, AllQueries());
  TestProcess looker(store, "looker");
  looker.Declare({.max_concurrent_sessions = kCap,
                  .session_timeout_ms = 2'000,
                  .max_delivery_count = 0,
                  .backoff_ms = 1});
  std::vector<std::unique_ptr<RacingQueues>> processes;
  for (int i = 0; i < kProcesses; ++i)
    processes.push_back(std::make_unique<RacingQueues>(store, "p" + std::to_string(i)));
  Judge judge;
  // Answers of one session are compared in the order in which they were decided.
  std::array<std::mutex, kKeys> judging;
  const auto process_of = [&](std::mt19937& random) -> RacingQueues& {
    return *processes[random() % kProcesses];
  };

  std::vector<std::jthread> threads;
  for (int producer = 0; producer < kProducers; ++producer)
    threads.emplace_back([&, producer] {
      std::mt19937 random(static_cast<unsigned>(producer));
      for (int i = 0; i < kMessages; ++i) {
        const std::string key = "k" + std::to_string(random() % kKeys);
        const std::string payload = std::to_string(producer) + "." + std::to_string(i);
        judge.Sent(key, process_of(random).Send(key, payload), payload);
      }
    });
  for (int consumer = 0; consumer < kConsumers; ++consumer)
    threads.emplace_back([&, consumer] {
      std::mt19937 random(static_cast<unsigned>(100 + consumer));
      const std::string name = "c" + std::to_string(consumer);
      const auto tables = store::OpenPostgresTables(store.url());  // past all of Tenure's code
      while (judge.total() < kProducers * kMessages && !testing::Test::HasFailure()) {
        const AcceptReply accepted = process_of(random).Accept(name);
        if (accepted.sessions.empty()) store.clock().Advance(50);
        if (!accepted.sessions.empty()) {
          EXPECT_LE(tables->Number("select count(*) from tenure.queue_sessions where state = 2"),
                    kCap)
              << "Q3";
        }
        for (const HeldSession& session : accepted.sessions) {
          judge.Handed(session);
          if (random() % 4 == 0) continue;  // it crashes: the lease ends it
          for (const Message& message : session.messages) {
            Report report = TestProcess::Of(Report::Kind::kComplete, session, message.sequence);
            report.keep = message.sequence != session.messages.back().sequence;
            if (random() % 6 == 0) {
              report.kind = Report::Kind::kFail;
              process_of(random).Tell(report);
              break;
            }
            const std::scoped_lock one_at_a_time(
                judging[static_cast<std::size_t>(session.key.back() - '0')]);
            if (process_of(random).Tell(report).kind != ReportOutcome::Kind::kDone) break;
            judge.Done(session.key, session.fence, message.sequence);
          }
        }
      }
    });
  threads.clear();
  judge.HandedInOrder();
  for (const auto& [key, messages] : judge.sent())
    EXPECT_EQ(messages.rbegin()->first, static_cast<std::int64_t>(messages.size())) << "a gap";
  EXPECT_EQ(
      store.Number("",
                   "select coalesce(sum(messages), 0) + coalesce(sum(bytes), 0) + "
                   "coalesce(sum(held), 0) + coalesce(sum(ready), 0) "
                   "from tenure.queue_counters"),
      store.Number("", "select count(*) filter (where state = 2) from tenure.queue_sessions"));
}

}  // namespace
}  // namespace tenure::queues
