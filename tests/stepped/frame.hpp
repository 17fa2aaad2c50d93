#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/uuid.hpp"
#include "db/query.hpp"
#include "db/store.hpp"
#include "stepped/kept_connections.hpp"
#include "stepped/world.hpp"
#include "store/tables.hpp"
#include "store/test_store.hpp"
#include "support/seeds.hpp"
#include "wake/registry.hpp"

namespace tenure::stepped {

constexpr std::int64_t kNeverMs = 1'000'000'000;
constexpr support::Seeds kSeeds{300, 5'000};
/// A planted bug must be found by one of so many.
constexpr std::uint64_t kSeedsForABug = 300;

class Frame;

/// What a simulated process has in memory: a test's own struct with the capabilities under test. It
/// is gone when the process crashes.
struct Server {
  virtual ~Server() = default;
  /// What it does beside its lanes, a piece at a time. False: there is nothing now.
  virtual bool RunSome() { return false; }
};

/// A simulated server process: a store of its own on the database of the run, with one write lane.
/// It stops before every statement, and it is the clock that its connections read.
class Process final : public base::Clock, public db::StepHook {
 public:
  Process(Frame& frame, std::size_t index) : frame_(frame), index_(index) {}

  std::size_t index() const { return index_; }
  std::string name() const { return "p" + std::to_string(index_); }
  db::Store& store() { return *store_; }
  wake::Registry& wake() { return *wake_; }
  base::ManualClock& clock() const;
  telemetry::Registry& metrics() const;
  /// Runs all lanes, one after the other, until nothing is left.
  void Drive();

  // Of the transaction under way, or of the last one.

  std::set<std::string, std::less<>> queries{};
  std::int64_t locked_at_ms = 0;  ///< when it got its locks; 0: it has none
  /// The number of its last commit in the order of all commits, or how many there had been when it
  /// looked.
  int seen = 0;

  std::int64_t WallMs() const override { return early_ms_ ? early_ms_ : clock().WallMs(); }
  std::int64_t BootMs() const override { return clock().BootMs(); }
  void Before(std::string_view step) override;
  void After(std::string_view step) override;

 private:
  friend class Frame;

  Frame& frame_;
  const std::size_t index_;
  bool stepping_ = true;
  std::int64_t early_ms_ = 0;  // of a clock that was read before the lock; 0: there is none
  int early_left_ = 0;         // readings of it
  int batches_left_ = 0;
  std::vector<const db::Query*> queries_of_store_;
  std::unique_ptr<KeptConnections> connections_;
  std::unique_ptr<db::Store> store_;
  std::unique_ptr<wake::Registry> wake_;
  std::unique_ptr<Server> server_;
  std::atomic<db::Lane*> lane_{nullptr};  // the one that runs
};

/// One run of a stepped test. The frame brings the database, the processes, seeds, crashes, lost
/// replies and planted texts of queries. It fails on every deadlock, and a failure comes with its
/// trace. A test derives from it and brings its work and its judge.
class Frame : private World::Actors {
 public:
  static constexpr std::size_t kProcesses = 3;
  struct Options {
    std::vector<const db::Query*> queries{};  ///< of the capabilities under test, and of users
    /// Emptied before each seed, so that it does not matter which seeds were played before.
    std::vector<std::string_view> tables{};
    int batches = 4;  ///< of each process
    World::Odds odds{};
    std::string_view lock_step{};  ///< takes the locks
    std::string_view look_step{};  ///< reads what is decided by; empty: does not matter
    /// The bug "clock before the lock": a process decides by a time that it read before it waited.
    bool early_clock = false;
    int clocks = 1;  ///< so many readings of it decide a transaction
    /// SQL functions go by PostgreSQL's own clock: the store's is far ahead of it.
    bool ahead_of_postgres = false;
  };

  explicit Frame(Options options);
  ~Frame() override;

  /// What is wrong, with the trace; empty when nothing is.
  std::string Run(std::uint64_t seed);
  const std::string& trace() const { return world_.trace(); }
  /// Before which statements a process stood while a user's own transaction was open, in all runs.
  const std::set<std::string, std::less<>>& beside_strangers() const { return beside_strangers_; }

 protected:
  // What a test brings.

  /// What a new process has in memory.
  virtual std::unique_ptr<Server> Boot(Process& process) = 0;
  /// A seed begins: nothing is left of the one before. `Alone` can be used.
  virtual void Begin() = 0;
  /// Gives the process a batch of work.
  virtual void Submit(Process& process) = 0;
  /// All have done their work. `Alone` and `Ask` can be used.
  virtual void Judge() = 0;

  // What it may bring.

  /// Before the lanes of a process are opened.
  virtual void OnOpen(db::Store&) {}
  /// Before a statement, on the process's thread; everybody else stands, or waits for a lock.
  virtual void OnStep(Process&, std::string_view /*step*/) {}
  /// Behind a commit, likewise.
  virtual void OnCommit(Process&) {}
  /// Whether its transaction is a user's own, which may stay open for as long as it likes: who is not one
  /// too waits for it only on the lane of keys that users chose.
  virtual bool IsStranger(const Process&) const { return false; }
  /// A fault that a request may hear. A lost reply always is.
  virtual bool IsExpected(const base::Fault& /*fault*/) const { return false; }
  void BetweenSteps() override { clock().Advance(static_cast<std::int64_t>(Random(20))); }

  // What a test is given.

  /// What is wrong on purpose: another text in place of a query's own.
  void Plant(const db::Query& text);
  /// The same for a part of the text. REQUIRES: the query has it.
  void Plant(const db::Query& query, std::string_view part, std::string_view by);

  std::uint64_t Random(std::uint64_t bound) { return random_() % bound; }
  bool Chance(std::uint64_t percent) { return Random(100) < percent; }
  /// From the seed, so that a run is the same each time, in the same order of locks.
  base::Uuid NewId();
  /// One of the last few.
  template <class T>
  const T& AnyLate(const std::vector<T>& all) {
    return all[all.size() - 1 - Random(std::min<std::size_t>(all.size(), 4))];
  }

  Process& process(std::size_t index) { return *processes_[index]; }
  template <class Own>
  Own& ServerOf(Process& process) {
    return static_cast<Own&>(*process.server_);
  }
  base::ManualClock& clock() { return store_.clock(); }
  /// Another one in each run.
  const std::string& tenant() const { return tenant_; }
  store::Tables& tables() { return *tables_; }

  /// A time as one since the seed began, so that it is the same each time.
  std::int64_t Since(std::int64_t wall_ms) const { return wall_ms - begun_ms_; }
  void Violation(const std::string& what) { violations_ += "  VIOLATION: " + what + "\n"; }
  bool has_violations() const { return !violations_.empty(); }
  /// Whether there is a reply. A fault that nobody expects is a violation.
  template <class Reply>
  bool Expect(const db::Result<Reply>& result) {
    if (!result.ok() && !result.fault().outcome_unknown() && !IsExpected(result.fault()))
      Violation(std::string("a request was answered with a fault: ") + result.fault().what());
    return result.ok();
  }
  /// A callback that only cares about that.
  auto Expected() {
    return [this](const auto& result) { Expect(result); };
  }

  /// The first process does what it is given, without the scheduler, while everybody else rests.
  void Alone(const std::function<void(Process&)>& submit);
  /// The same for one answer. Throws its fault.
  template <class Reply, class SubmitWith>
  Reply Ask(SubmitWith submit) {
    std::optional<db::Result<Reply>> answer;
    Alone([&](Process& process) {
      submit(process, [&](db::Result<Reply> result) { answer = std::move(result); });
    });
    if (!answer) throw std::logic_error("a request was not answered");
    if (!answer->ok()) throw answer->fault();
    return std::move(answer->value());
  }

 private:
  friend class Process;

  std::function<void()> NextWork(std::size_t index) final;
  std::unique_ptr<KeptConnections> Connect(Process& process);
  void Restart(std::size_t index) final;
  int BackendPid(std::size_t index) final;
  void Blocked(std::size_t index) final;
  void NoteStrangers(const Process& beside, std::string_view step);
  void Forget(Process& process);

  const Options options_;
  store::TestStore store_;
  const std::unique_ptr<store::Tables> tables_;
  std::map<std::string_view, std::string> planted_texts_;
  std::map<std::string_view, db::Query> planted_;
  std::array<std::unique_ptr<Process>, kProcesses> processes_;
  std::atomic<int> commits_{0};
  // One judges at a time: of two that committed, one may have waited in COMMIT for the other.
  std::mutex judging_;
  World world_;
  int runs_ = 0;
  std::set<std::string, std::less<>> beside_strangers_;

  // Of one run.
  std::mt19937_64 random_;
  std::int64_t begun_ms_ = 0;
  std::string tenant_;
  std::string violations_;
};

/// The queries of some modules, and of a test's users.
std::vector<const db::Query*> QueriesOf(
    std::initializer_list<std::span<const db::Query* const>> modules,
    std::initializer_list<const db::Query*> users = {});

}  // namespace tenure::stepped
