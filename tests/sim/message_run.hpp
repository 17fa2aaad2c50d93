#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "messages/messages.hpp"
#include "sim/frame.hpp"
#include "sim/message_book.hpp"

namespace tenure::sim {

struct MessageServer final : Server {
  explicit MessageServer(Ensemble::Process& process)
      : messages(*process.store, *process.wake, process.name(), process.clock, process.metrics) {}

  messages::Messages messages;
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
class MessageRun final : public SeedRun {
 public:
  static constexpr std::size_t kProcesses = 2;
  /// What is wrong on purpose.
  enum class Planted {
    kNothing,
    kAckByAnybody,          ///< the fence of an acknowledgement is not looked at
    kExtensionIsForgotten,  ///< an extension is answered, and the reaper goes by the old deadline
    kTimerFiresTwice,       ///< a promotion leaves a copy behind
    kClaimIsNotHeld,        ///< what was handed out is there for the next one
    kEverythingCrashes,     ///< a crash is counted for what was not begun
    kKeysAreForgotten,      ///< a dedup key does not last
    kPauseIsIgnored,        ///< claims do not look whether a topic is paused
    kMarksPassOver,  ///< the low-water mark passes over what is ready, and nobody looks below
  };

  MessageRun(Ensemble& ensemble, std::uint64_t seed, Planted planted);
  ~MessageRun() override;

  std::map<std::string, std::int64_t> counts() const override {
    return {{"claims", book_.claims()}, {"messages finished", book_.finished()}};
  }

 private:
  using Claim = MessageBook::Claim;
  static constexpr int kSteps = 60;
  static constexpr auto kTenant = "t";
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
  std::unique_ptr<Server> Boot(Ensemble::Process& process) override;
  void Step() override;
  void Settle() override;
  void OnCommitted() override;
  void OnCrash(std::size_t process) override;
  void Prepare();
  void Act(std::size_t process);
  void Operate(std::size_t process);
  void DriveAndCheck(std::size_t process);
  void PassMarksOver(std::size_t process);
  void CheckWaiting(std::size_t process);
  void DrainOnce();

  // What people and programs do.
  void Enqueue(std::size_t process);
  void Pull(std::size_t process);
  void PullAgain(std::size_t process);
  void Wait(std::size_t process);
  void Leave(std::size_t process);
  void ReportSome(std::size_t process);
  void SendReports(std::size_t process, messages::Disposition disposition,
                   std::vector<Claim> claims);
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

  /// Nobody comes between a commit and its answers.
  MessageBook::Seen Seen() const { return {&book_.latest(), 1}; }
  messages::ClaimRequest NewClaim();
  std::vector<std::string> AnyTopics();
  std::string AnyTopic() { return Chance(50) ? "a" : "b"; }
  messages::Messages& messages(std::size_t process) {
    return ensemble().ServerOf<MessageServer>(process).messages;
  }

  const Planted planted_;
  MessageBook book_;
  std::int64_t number_ = 0;  // of the last enqueue
  std::vector<Claim> told_;  // everything that was ever handed out
  std::vector<base::Uuid> timers_;
  std::vector<messages::ClaimRequest> named_claims_;
  std::array<Worker, 2> workers_{};
  std::vector<Waiting> waiting_;
  int pauses_ = 0;
};

}  // namespace tenure::sim
