#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "sim/usage_book.hpp"
#include "sim/usage_ensemble.hpp"

namespace tenure::sim {

/// What is wrong on purpose.
enum class PlantedInUsage {
  kNothing,
  kChunkIsForgotten,    ///< a chunk goes from the record before the receiver has taken it
  kSilenceIsConsent,    ///< no answer counts as an acknowledgement
  kFactorReachesBack,   ///< a factor counts in windows that are closed
  kRemovedBeforeTaken,  ///< sessions are removed as soon as their windows are closed
  kWindowIsSkipped,     ///< a number is left out
  kEndIsMoved,          ///< an end is written down a minute too early
};

/// One seed: users who start, upgrade and end sessions, tasks that close windows, put them into
/// chunks and tidy up, an operator who sets factors, the senders of all processes, a receiver, and
/// a scheduler that decides at every step who does what and what goes wrong.
///
/// Processes crash before and after any statement and commit, commit slowly, lose the store before
/// COMMIT and the reply after it. Everything stands still for many windows, and is caught up with.
/// The ensemble comes back with another interval; an endpoint is set late. The receiver refuses,
/// is down, takes its time beyond the sender's lease, and loses answers to what it has taken.
///
/// What is checked: every commit and every request (usage_book.hpp); and that, once the faults
/// stop, all that is closed is delivered, and adds up.
///
/// Everything is decided by the seed, on one virtual clock, by one thread.
class UsageRun {
 public:
  struct Options {
    std::uint64_t seed = 0;
    PlantedInUsage planted = PlantedInUsage::kNothing;
    bool trace = false;
  };
  UsageRun(UsageEnsemble& ensemble, base::ManualClock& clock, Options options);
  ~UsageRun();
  UsageRun(const UsageRun&) = delete;
  UsageRun& operator=(const UsageRun&) = delete;

  /// What was found to be wrong; empty when nothing was.
  std::string Execute();
  const std::string& trace() const { return trace_; }
  const UsageBook& book() const { return *book_; }

 private:
  /// A request that the receiver has not answered.
  struct Pending {
    std::size_t process = 0;
    usage::Post post{};
    UsageEnsemble::Answer answer;
  };

  // The scheduler.
  void Step();
  void Act(std::size_t process);
  void Upkeep(std::size_t process);
  void Drive(std::size_t process);
  void RestartOne(std::size_t process);
  /// All of them, with other settings: the way in which an ensemble's settings change.
  void RestartAll();
  void OnStep(std::string_view step, UsageEnsemble::When when);
  void OnCommitted();
  void Drain();

  // What people and programs do.
  void Put(std::size_t process);
  void End(std::size_t process);
  void Seal(std::size_t process, int most);
  void Emit(std::size_t process, int most);
  void SetFactor(std::size_t process);
  /// The receiver comes to one of the requests that it has.
  void Answer();
  void AnswerWell(Pending pending);

  std::uint64_t Random(std::uint64_t bound) { return random_() % bound; }
  bool Chance(int percent) { return static_cast<int>(random_() % 100) < percent; }
  std::int64_t RandomMs(std::int64_t most) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(most + 1));
  }
  base::Uuid NewId();
  void Trace(const std::string& what);
  void Violation(const std::string& what);

  UsageEnsemble& ensemble_;
  base::ManualClock& clock_;
  const Options options_;
  std::mt19937_64 random_;
  std::int64_t begun_ms_ = 0;
  std::unique_ptr<UsageBook> book_;
  UsageEnsemble::Settings settings_;

  // The weather of this seed.
  int crash_percent_ = 0;
  int lose_percent_ = 0;
  int slow_percent_ = 0;
  int unavailable_percent_ = 0;
  bool is_late_ = false;  ///< there is no endpoint at first, and nothing is removed
  bool calm_ = false;     ///< the faults have stopped

  std::optional<std::uint64_t> steps_to_crash_;  // of the process that is driven
  std::set<std::string, std::less<>> queries_;   // of the transaction under way
  std::vector<sessions::Key> keys_;
  std::vector<sessions::Session> known_;
  std::vector<Pending> pending_;
  std::string trace_;
  std::string violations_;
};

}  // namespace tenure::sim
