#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "jobs/jobs.hpp"
#include "sim/frame.hpp"
#include "sim/job_book.hpp"
#include "sim/simulated_zones.hpp"

namespace tenure::sim {

struct JobServer final : Server {
  JobServer(Ensemble::Process& process, const std::string& zones)
      : messages(*process.store, *process.wake, process.name(), process.clock, process.metrics),
        jobs(*process.store, messages, *process.wake, {}, process.metrics, zones) {}

  messages::Messages messages;
  jobs::Jobs jobs;
};

/// One seed: jobs of all policies at the processes of an ensemble, each of which fires, operators
/// who change, pause, trigger, backfill and remove them, and workers; and a scheduler that decides at
/// every step who does what and what goes wrong.
///
/// Processes crash before and after any statement and commit, commit slowly, lose the store before
/// COMMIT and the reply after it; nothing is up for seconds or hours; tzdata is replaced, and each
/// process finds that out by itself. What is checked: every commit (job_book.hpp), and that nothing
/// is left once the faults stop.
class JobRun final : public SeedRun {
 public:
  static constexpr std::size_t kProcesses = 3;
  /// What is wrong on purpose.
  enum class Planted {
    kNothing,
    kTimeIsForgotten,     ///< a fire moves the next time one period too far
    kRunWithoutMessage,   ///< a message of a fire is not written
    kEndIsForgotten,      ///< a run does not end with its message
    kNoteIsLost,          ///< nothing says what was left out
    kWaitsForEver,        ///< a run that waited is not let go
    kUnchangedIsChanged,  ///< a put that changes nothing begins the schedule anew
  };

  JobRun(Ensemble& ensemble, std::uint64_t seed, Planted planted);
  ~JobRun() override;

  std::map<std::string, std::int64_t> counts() const override {
    return {{"rows of the schedule", book_.runs()},
            {"left out for another run", book_.left_out()},
            {"missed", book_.missed()},
            {"waited", book_.waited()},
            {"acknowledged", acknowledged_}};
  }

 private:
  static constexpr int kSteps = 60;
  static constexpr auto kTenant = "t";

  std::unique_ptr<Server> Boot(Ensemble::Process& process) override;
  void Step() override;
  void Settle() override;
  void OnBefore(std::string_view step) override;
  void OnCommitted() override;

  void Act(std::size_t process);
  void Operate(std::size_t process);
  void Put(std::size_t process, const std::string& name);
  void Change(std::size_t process, jobs::JobCommand command, const std::string& what);
  void Backfill(std::size_t process, const std::string& name);
  void Claim(std::size_t process);
  void SettleSome(std::size_t process);
  void RenewZones(std::size_t process);
  void DriveIt(std::size_t process);
  void DriveRest();

  jobs::JobKey KeyOf(const std::string& name) const { return {kTenant, name}; }
  std::string AnyName() { return std::string(1, "asqzj"[Random(5)]); }
  JobCommit Commit() const;
  JobServer& server(std::size_t process) { return ensemble().ServerOf<JobServer>(process); }

  const Planted planted_;
  JobBook book_;
  std::size_t driven_ = 0;
  std::int64_t lead_ms_ = 0;   // of the store's clock over the machine's
  std::int64_t begun_ms_ = 0;  // of the transaction under way
  std::vector<messages::ClaimedMessage> claimed_;
  std::map<std::string, jobs::Definition> put_;
  std::int64_t acknowledged_ = 0;
};

}  // namespace tenure::sim
