#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "sim/ensemble.hpp"
#include "sim/message_book.hpp"

namespace tenure::sim {

/// What is wrong on purpose.
enum class PlantedInMessages {
  kNothing,
  kAckByAnybody,          ///< the fence of an acknowledgement is not looked at
  kExtensionIsForgotten,  ///< an extension is answered, and the reaper goes by the old deadline
  kTimerFiresTwice,       ///< a promotion leaves a copy behind
  kClaimIsNotHeld,        ///< what was handed out is there for the next one
  kEverythingCrashes,     ///< a crash is counted for what was not begun
  kKeysAreForgotten,      ///< a dedup key does not last
  kPauseIsIgnored,        ///< claims do not look whether a topic is paused
  kMarksPassOver,         ///< the low-water mark passes over what is ready, and nobody looks below
};

/// One seed: producers, pull consumers, workers with a heartbeat and an operator at the processes
/// of an ensemble, and a scheduler that decides at every step who does what and what goes wrong.
///
/// Processes crash before and after any statement and commit, commit slowly, lose the store before
/// COMMIT and the reply after it. Consumers and workers use claims that are over, ask twice, pause
/// past their leases, crash and come back; the store's clock jumps. Nobody is told of anything that
/// another process commits.
///
/// What is checked: every commit and every answer (message_book.hpp); that no waiting claim sleeps
/// on while it could have had something for longer than the longest pause between two looks; and
/// that, once the faults stop, a healthy consumer gets all that is left, and every claim goes from
/// the record.
///
/// Everything is decided by the seed, on one virtual clock, by one thread.
class MessageRun {
 public:
  struct Options {
    std::uint64_t seed = 0;
    PlantedInMessages planted = PlantedInMessages::kNothing;
    bool trace = false;
  };
  MessageRun(Ensemble& ensemble, base::ManualClock& clock, Options options);
  ~MessageRun();
  MessageRun(const MessageRun&) = delete;
  MessageRun& operator=(const MessageRun&) = delete;

  /// What was found to be wrong; empty when nothing was.
  std::string Execute();
  const std::string& trace() const { return trace_; }
  const MessageBook& book() const { return book_; }

 private:
  using Claim = MessageBook::Claim;
  static constexpr std::int64_t kSlowestCommitMs = 400;
  struct Batch {
    base::Uuid claim{};
    std::vector<Claim> messages{};
    std::size_t begun = 0;  ///< so many may be worked on
  };
  /// With a heartbeat. 0: not on record.
  struct Worker {
    std::size_t process = 0;
    std::int64_t number = 0;
    std::vector<Batch> batches{};
  };
  struct Waiting {
    std::size_t process = 0;
    messages::Consumers::Id id = 0;
    std::vector<std::string> topics{};
    std::int64_t since_boot_ms = 0;
  };

  // The scheduler.
  void Prepare();
  void Step();
  void Act(std::size_t process);
  void Operate(std::size_t process);
  void Drive(std::size_t process);
  void OnStep(std::string_view step, Ensemble::When when);
  void OnCommitted();
  void CheckWaiting(std::size_t process);
  void Drain();
  void DrainOnce();

  // What people and programs do.
  void Enqueue(std::size_t process);
  void Pull(std::size_t process);
  void PullAgain(std::size_t process);
  void Wait(std::size_t process);
  void Leave(std::size_t process);
  void ReportSome(std::size_t process);
  void SendReports(std::size_t process, messages::Verdict verdict, std::vector<Claim> claims);
  void Work(Worker& worker);
  void Join(Worker& worker);
  void Beat(Worker& worker);
  void WorkerClaims(Worker& worker);
  void WorkerBegins(Worker& worker);
  void WorkerReports(Worker& worker);
  void Cancel(std::size_t process);
  void Pause(std::size_t process, bool paused);
  void ChangeDead(std::size_t process);
  void OnClaimed(const messages::ClaimRequest& request, const messages::ClaimReply& reply);

  /// A callback that is not listened to once its process has crashed.
  template <class Reply, class Then>
  auto Hear(std::size_t process, Then then) {
    return [this, process, generation = generations_[process],
            then = std::move(then)](db::Result<Reply> result) mutable {
      if (generations_[process] == generation) then(std::move(result));
    };
  }
  /// Nobody comes between a commit and its answers.
  MessageBook::Seen Seen() const { return {&book_.latest(), 1}; }
  messages::ClaimRequest NewClaim();
  std::vector<std::string> AnyTopics();
  std::string AnyTopic() { return Chance(50) ? "a" : "b"; }
  base::Uuid NewId();
  std::uint64_t Random(std::uint64_t bound) { return random_() % bound; }
  bool Chance(int percent) { return static_cast<int>(random_() % 100) < percent; }
  std::int64_t RandomMs(std::int64_t most) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(most + 1));
  }
  std::int64_t Now() const { return clock_.BootMs(); }
  void Trace(const std::string& what);
  void Violation(const std::string& what);

  Ensemble& ensemble_;
  base::ManualClock& clock_;
  const Options options_;
  std::mt19937_64 random_;
  std::int64_t begun_ms_ = 0;
  MessageBook book_;

  // The weather of this seed.
  int crash_percent_ = 0;
  int lose_percent_ = 0;
  int slow_percent_ = 0;
  int unavailable_percent_ = 0;
  bool calm_ = false;  ///< the faults have stopped

  std::array<int, Ensemble::kProcesses> generations_{};  // rises with each crash
  std::optional<std::uint64_t> steps_to_crash_;          // of the process that is driven
  std::set<std::string, std::less<>> queries_;           // of the transaction under way
  std::int64_t number_ = 0;                              // of the last enqueue
  std::vector<Claim> told_;                              // everything that was ever handed out
  std::vector<base::Uuid> timers_;
  std::vector<messages::ClaimRequest> named_claims_;
  std::array<Worker, 2> workers_{};
  std::vector<Waiting> waiting_;
  int pauses_ = 0;
  std::string trace_;
  std::string violations_;
};

}  // namespace tenure::sim
