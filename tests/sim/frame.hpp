#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/seeded_random.hpp"
#include "base/uuid.hpp"
#include "db/connection.hpp"
#include "db/engine.hpp"
#include "db/store.hpp"
#include "store/tables.hpp"
#include "support/seeds.hpp"
#include "support/temp_dir.hpp"
#include "telemetry/metrics.hpp"
#include "wake/registry.hpp"

namespace tenure::sim {

/// Thrown by the hook inside of a transaction: nothing catches it on its way out of the lane, as
/// nothing catches SIGKILL.
struct ProcessCrash {};

/// Thrown when lanes and waiters go on and on at one instant.
struct NeverRests {};

/// What a simulated process has in memory: a simulation's own struct with the capabilities under
/// test. It is gone when the process crashes; whoever waited in it may be told that it stops, and
/// nobody must listen.
struct Server {
  virtual ~Server() = default;
  /// What threads of its own would do now. False: nothing.
  virtual bool RunSome() { return false; }
};

/// The processes of a simulation: each the production code on lanes, connections and memory of its
/// own, all on one SQLite file, in memory where the machine has such a file system. Driven by hand.
///
/// They tell each other nothing: what one of them commits, another one that waits must find by
/// itself, as if every notification had been lost.
class Ensemble {
 public:
  struct Process {
    std::size_t index = 0;
    base::ManualClock& clock;
    telemetry::Registry& metrics;
    std::unique_ptr<db::Store> store{};
    std::unique_ptr<wake::Registry> wake{};
    std::unique_ptr<Server> server{};

    std::string name() const { return "p" + std::to_string(index); }
  };
  /// Makes what is in a process.
  class Maker {
   public:
    virtual ~Maker() = default;
    /// Before its lanes are opened.
    virtual void OnOpen(db::Store&) {}
    virtual std::unique_ptr<Server> Boot(Process& process) = 0;
  };

  /// One process has the file to itself, as a server has; several share it.
  explicit Ensemble(std::size_t processes, const db::FreezePolicy& policy = {});
  ~Ensemble();

  /// A new process in place of the old one, if there was one.
  void Restart(std::size_t process, Maker& maker);
  /// Copies the store's folder as it is, in place of an earlier copy.
  void SaveCopy();
  /// What of a copy is put back: what stands beside the database notices more when it stays.
  enum class What { kFolder, kDatabase };
  /// The process dies, the copy is put back, and a new process begins on it. REQUIRES: there is one process, and a copy.
  void PutBack(Maker& maker, What what);
  /// Runs lanes and waiters until nothing moves at this instant. Throws ProcessCrash and
  /// NeverRests.
  void Drive(std::size_t process);
  /// Its timers run, its lanes do not: as when the store does not answer.
  void RunTimers(std::size_t process);

  std::size_t size() const { return processes_.size(); }
  bool IsUp(std::size_t process) const { return processes_[process].server != nullptr; }
  template <class Own>
  Own& ServerOf(std::size_t process) {
    return static_cast<Own&>(*processes_[process].server);
  }
  base::ManualClock& clock() { return clock_; }
  /// REQUIRES: several processes.
  store::Tables& tables() { return *tables_; }

  /// Stands at every step of every transaction; may let time pass, may throw.
  db::StepHook* hook = nullptr;
  /// The bug of a store that decides by the time at which a request came in.
  void ReadClockEarly() { store_clock_.Freeze(); }
  void ReadClockInTime() { store_clock_.Thaw(); }

 private:
  /// What the store reads.
  class StoreClock final : public base::Clock {
   public:
    explicit StoreClock(const base::Clock& real) : real_(real) {}
    std::int64_t WallMs() const override { return early_ ? early_->wall_ms : real_.WallMs(); }
    std::int64_t BootMs() const override { return early_ ? early_->boot_ms : real_.BootMs(); }
    void Freeze() {
      if (!early_) early_ = {real_.WallMs(), real_.BootMs()};
    }
    void Thaw() { early_.reset(); }

   private:
    struct Reading {
      std::int64_t wall_ms = 0;
      std::int64_t boot_ms = 0;
    };
    const base::Clock& real_;
    std::optional<Reading> early_;
  };
  class Steps final : public db::StepHook {
   public:
    explicit Steps(Ensemble& owner) : owner_(owner) {}
    void Before(std::string_view step) override {
      if (owner_.hook) owner_.hook->Before(step);
    }
    void After(std::string_view step) override {
      if (owner_.hook) owner_.hook->After(step);
    }

   private:
    Ensemble& owner_;
  };
  std::unique_ptr<db::Engine> NewEngine(std::size_t processes);
  void Kill(Process& process);

  base::ManualClock clock_{1'766'311'200'000};
  StoreClock store_clock_{clock_};
  support::TempDir dir_{support::Storage::kMemory};
  std::unique_ptr<support::TempDir> copy_;
  const db::FreezePolicy policy_;
  telemetry::Registry metrics_;
  Steps steps_{*this};
  std::unique_ptr<store::Tables> tables_;
  std::vector<Process> processes_;
};

/// One seed of a simulation. The frame brings the random numbers, the processes with their crashes
/// at any step of a transaction, slow and lost commits, the trace, and the rule that every request
/// is answered in the end. A simulation derives from it and brings its work and its judge.
///
/// Everything is decided by the seed, on one virtual clock, by one thread: a seed gives the same
/// trace each time.
class SeedRun : private db::StepHook, private Ensemble::Maker {
 public:
  SeedRun(const SeedRun&) = delete;
  SeedRun& operator=(const SeedRun&) = delete;

  /// What was found to be wrong; empty when nothing was.
  std::string Play();
  const std::string& trace() const { return trace_; }
  /// What happened how often: a simulation in which nothing happens finds nothing.
  virtual std::map<std::string, std::int64_t> counts() const = 0;

 protected:
  /// In percent, of each seed.
  struct Weather {
    int crash = 0;        ///< of each drive: at one of its first steps
    int lost_reply = 0;   ///< of each commit
    int unavailable = 0;  ///< of each commit: the store is lost before it
    int slow = 0;         ///< of each commit
    std::int64_t slowest_commit_ms = 0;
    bool slow_once = false;  ///< in a drive
  };
  SeedRun(Ensemble& ensemble, std::uint64_t seed, int steps);
  ~SeedRun() override;
  /// REQUIRES: called by the simulation's constructor, when the clock stands where it begins.
  void Begin(const Weather& weather);

  // What a simulation brings.

  virtual void Step() = 0;
  /// The faults have stopped: what is left is brought to its end, and judged.
  virtual void Settle() = 0;
  std::unique_ptr<Server> Boot(Ensemble::Process& process) override = 0;

  // What it may bring.

  void OnOpen(db::Store& /*store*/) override {}
  virtual void OnBefore(std::string_view /*step*/) {}
  virtual void OnAfter(std::string_view /*step*/) {}
  virtual void OnCommitted() {}
  /// Whether the store may be lost before the commit of the transaction under way.
  virtual bool MayBeLost() const { return true; }
  virtual void OnCrash(std::size_t /*process*/) {}
  virtual void Pass(std::int64_t ms) { clock().Advance(ms); }

  // What it is given.

  std::uint64_t Random(std::uint64_t bound) { return random_() % bound; }
  bool Chance(int percent) { return static_cast<int>(random_() % 100) < percent; }
  std::int64_t RandomMs(std::int64_t most) {
    return static_cast<std::int64_t>(Random(static_cast<std::uint64_t>(most + 1)));
  }
  int Pick(std::initializer_list<int> of) { return of.begin()[Random(of.size())]; }
  /// One of the last `back`.
  template <class T>
  const T& AnyLate(const std::vector<T>& all, std::size_t back) {
    return all[all.size() - 1 - Random(std::min(all.size(), back))];
  }
  base::Uuid NewId();

  Ensemble& ensemble() { return ensemble_; }
  base::ManualClock& clock() const { return ensemble_.clock(); }
  std::int64_t Now() const { return clock().BootMs(); }
  bool calm() const { return calm_; }
  void SetCalm(bool calm) { calm_ = calm; }
  /// Of the transaction under way, or of the last one.
  const std::set<std::string, std::less<>>& queries() const { return queries_; }

  /// A process that crashes meanwhile is there again at once: what it had in memory is gone.
  void Drive(std::size_t process);
  void DriveAll();
  void Restart(std::size_t process);
  /// The same on the copy that was made of the store.
  void PutBack(std::size_t process, Ensemble::What what = Ensemble::What::kFolder);
  /// A callback that must be called, and that is not listened to once its process has crashed.
  template <class Then>
  auto Hear(std::size_t process, Then then) {
    ++unanswered_[process];
    return [this, process, generation = generations_[process],
            then = std::move(then)](auto result) mutable {
      if (generations_[process] != generation) return;
      --unanswered_[process];
      then(std::move(result));
    };
  }
  auto Hear(std::size_t process) {
    return Hear(process, [](const auto&) {});
  }
  /// Somebody who was to hear something has hung up.
  void HangUp(std::size_t process) { --unanswered_[process]; }
  /// The run is over, and nobody listens any more.
  void HearNothing();

  void Trace(const std::string& what);
  void Violation(const std::string& what);
  bool has_violations() const { return !violations_.empty(); }

 private:
  void Before(std::string_view step) final;
  void After(std::string_view step) final;
  void CrashHere(std::string_view where, std::string_view step);

  Ensemble& ensemble_;
  const int steps_;
  std::mt19937_64 random_;
  base::SeededRandom ids_;  // what the code under test draws
  std::int64_t begun_ms_ = 0;
  Weather weather_;
  bool calm_ = false;
  bool slowed_ = false;
  std::vector<int> generations_;                 // of each process: rises with each crash
  std::vector<int> unanswered_;                  // of each process
  std::optional<std::uint64_t> steps_to_crash_;  // of the process that is driven
  std::set<std::string, std::less<>> queries_;
  std::string trace_;
  std::string violations_;
};

/// Plays seeds one after another on one store. `OneSeed` is a SeedRun, made of ensemble, seed and
/// bug; it says how many processes it has.
template <class OneSeed>
class Simulation {
 public:
  using Planted = typename OneSeed::Planted;
  explicit Simulation(Planted planted = Planted::kNothing) : planted_(planted) {}

  /// What is wrong, with the trace; empty when nothing is.
  std::string Run(std::uint64_t seed) {
    if (runs_++ % kRunsPerStore == 0) {
      ensemble_.reset();
      db::FreezePolicy policy;
      if constexpr (requires { OneSeed::kFreezeMs; }) policy.freeze_ms = OneSeed::kFreezeMs;
      ensemble_ = std::make_unique<Ensemble>(OneSeed::kProcesses, policy);
    }
    OneSeed run(*ensemble_, seed, planted_);
    const std::string wrong = run.Play();
    trace_ = run.trace();
    for (const auto& [what, count] : run.counts()) counts_[what] += count;
    return wrong.empty() ? "" : fmt::format("seed {}:\n{}{}", seed, trace_, wrong);
  }
  const std::string& trace() const { return trace_; }
  /// Of all seeds together.
  const std::map<std::string, std::int64_t>& counts() const { return counts_; }

 private:
  /// What is left of each run adds up.
  static constexpr int kRunsPerStore = 1'000;

  const Planted planted_;
  std::unique_ptr<Ensemble> ensemble_;
  int runs_ = 0;
  std::string trace_;
  std::map<std::string, std::int64_t> counts_;
};

/// All seeds hold, and of all that is counted there was as much per seed as `at_least` says.
template <class OneSeed>
void ExpectHolds(support::Seeds seeds, const std::map<std::string, double>& at_least) {
  Simulation<OneSeed> simulation;
  const auto held = static_cast<double>(support::ExpectEverySeedHolds(simulation, seeds));
  for (const auto& [what, count] : simulation.counts()) {
    std::cout << count << " " << what << "\n";
    EXPECT_GE(static_cast<double>(count), held * at_least.at(what)) << what;
  }
}

/// Seeds give the same trace each time, whatever ran before.
template <class OneSeed>
void ExpectReplays(std::uint64_t seeds = 20) {
  Simulation<OneSeed> one;
  Simulation<OneSeed> another;
  another.Run(1'000);
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) support::ExpectTheSame(one, another, seed);
}

template <class Planted>
struct PlantedBug {
  Planted planted{};
  const char* by_name = "";
  std::uint64_t known = 0;  ///< a seed that finds it, tried first; 0: none is known
};

/// Each planted bug is found by one of so many seeds, and called by its name.
template <class OneSeed>
void ExpectFound(std::uint64_t seeds,
                 std::initializer_list<PlantedBug<typename OneSeed::Planted>> bugs) {
  for (const auto& [planted, by_name, known] : bugs)
    support::ExpectFound(Simulation<OneSeed>(planted), seeds, by_name, known);
}

}  // namespace tenure::sim
