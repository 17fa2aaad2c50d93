#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "db/connection.hpp"
#include "db/store.hpp"
#include "messages/messages.hpp"
#include "sessions/sessions.hpp"
#include "sim/ensemble.hpp"
#include "sim/usage_book.hpp"
#include "support/temp_dir.hpp"
#include "telemetry/metrics.hpp"
#include "usage/sender.hpp"
#include "usage/usage.hpp"
#include "wake/registry.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace tenure::sim {

/// The processes of a simulation of usage: each the production code of sessions, messages and usage
/// with its sender, on lanes and memory of its own, all on one SQLite file, in memory where the
/// machine has such a file system. Driven by hand; they tell each other nothing.
class UsageEnsemble {
 public:
  static constexpr std::size_t kProcesses = 2;
  using When = Ensemble::When;
  using Hook = std::function<void(std::string_view step, When when)>;
  using Answer = base::UniqueFunction<usage::PostReply>;
  struct Settings {
    sessions::Options sessions{};
    usage::Options usage{};
  };

  explicit UsageEnsemble(base::ManualClock& clock);
  ~UsageEnsemble();

  /// A new process in place of the old one: nothing is left of what it had in memory.
  /// REQUIRES: whoever kept an answer of its sender has dropped it.
  void Restart(std::size_t process, const Settings& settings);
  /// Runs lanes, waiters and the sender until nothing moves at this instant. Throws ProcessCrash.
  void Drive(std::size_t process);

  sessions::Sessions& sessions(std::size_t process) { return *processes_[process].sessions; }
  messages::Messages& messages(std::size_t process) { return *processes_[process].messages; }
  usage::Usage& usage(std::size_t process) { return *processes_[process].usage; }

  /// The tables themselves, past all of the product's code.
  UsageBook::Rows Ask(const std::string& sql);
  void Clear();

  /// Stands at every step of every transaction; may let time pass, may throw.
  Hook hook{};
  /// Gets every request of every sender.
  std::function<void(std::size_t process, usage::Post post, Answer answer)> post{};

 private:
  class Steps final : public db::StepHook {
   public:
    explicit Steps(UsageEnsemble& owner) : owner_(owner) {}
    void Before(std::string_view step) override {
      if (owner_.hook) owner_.hook(step, When::kBefore);
    }
    void After(std::string_view step) override {
      if (owner_.hook) owner_.hook(step, When::kAfter);
    }

   private:
    UsageEnsemble& owner_;
  };
  struct Process {
    std::unique_ptr<db::Store> store{};
    std::unique_ptr<wake::Registry> wake{};
    std::unique_ptr<sessions::Sessions> sessions{};
    std::unique_ptr<messages::Messages> messages{};
    std::unique_ptr<usage::Usage> usage{};
    std::unique_ptr<usage::Sender> sender{};
  };
  static void Kill(Process& process);

  base::ManualClock& clock_;
  support::TempDir dir_{support::Storage::kMemory};
  telemetry::Registry metrics_;
  Steps steps_{*this};
  sqlite3* database_ = nullptr;
  std::map<std::string, sqlite3_stmt*> statements_;
  std::array<Process, kProcesses> processes_;
};

}  // namespace tenure::sim
