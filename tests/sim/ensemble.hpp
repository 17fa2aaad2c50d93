#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string_view>

#include "base/clock.hpp"
#include "db/connection.hpp"
#include "db/store.hpp"
#include "messages/messages.hpp"
#include "sim/message_table.hpp"
#include "support/temp_dir.hpp"
#include "telemetry/metrics.hpp"
#include "wake/registry.hpp"

namespace tenure::sim {

/// Thrown by the hook inside of a transaction: nothing catches it on its way out of the lane, as
/// nothing catches SIGKILL.
struct ProcessCrash {};

/// The processes of a simulation of messages: each the production code on lanes, connections and
/// memory of its own (what it remembers of topics included), all on one SQLite file, in memory
/// where the machine has such a file system. Driven by hand.
///
/// They tell each other nothing: what one of them commits, another one that waits must find by
/// itself, as if every notification had been lost.
class Ensemble {
 public:
  static constexpr std::size_t kProcesses = 2;
  enum class When { kBefore, kAfter };
  using Hook = std::function<void(std::string_view step, When when)>;

  explicit Ensemble(base::ManualClock& clock);
  ~Ensemble();

  /// A new process in place of the old one. Whoever waited for an answer gets none, except that the
  /// waiting claims are told that it stops: nobody must listen.
  void Restart(std::size_t process);
  /// Runs lanes and waiters until nothing moves at this instant. Throws ProcessCrash.
  void Drive(std::size_t process);
  messages::Messages& messages(std::size_t process) { return *processes_[process].messages; }

  MessageTable& table() { return *table_; }
  /// Stands at every step of every transaction; may let time pass, may throw.
  Hook hook{};

 private:
  class Steps final : public db::StepHook {
   public:
    explicit Steps(Ensemble& owner) : owner_(owner) {}
    void Before(std::string_view step) override {
      if (owner_.hook) owner_.hook(step, When::kBefore);
    }
    void After(std::string_view step) override {
      if (owner_.hook) owner_.hook(step, When::kAfter);
    }

   private:
    Ensemble& owner_;
  };
  struct Process {
    std::unique_ptr<db::Store> store{};
    std::unique_ptr<wake::Registry> wake{};
    std::unique_ptr<messages::Messages> messages{};
  };

  base::ManualClock& clock_;
  support::TempDir dir_{support::Storage::kMemory};
  telemetry::Registry metrics_;
  Steps steps_{*this};
  std::unique_ptr<MessageTable> table_;
  std::array<Process, kProcesses> processes_;
};

}  // namespace tenure::sim
