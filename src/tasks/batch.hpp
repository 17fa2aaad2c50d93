#pragma once

#include <variant>
#include <vector>

#include "base/caller.hpp"
#include "base/clock.hpp"
#include "db/method.hpp"
#include "tasks/probe.hpp"
#include "tasks/task.hpp"
#include "wake/registry.hpp"

namespace tenure::tasks {

using Command = std::variant<ClaimCommand, FinishCommand, TriggerCommand>;
using Outcome = std::variant<leases::ClaimOutcome, leases::FinishOutcome, TriggerOutcome>;

struct ChangeReply {
  Outcome outcome;
  bool first_run = false;  ///< of the task, ever: it has no lateness
};

/// Claims, finishes and triggers runs. An offer for a task that is not due is answered by a look,
/// without a write. Everything else happens under the lock of the task's lease, in the transaction
/// that grants or ends it.
class ChangeHandler final : public db::TypedHandler<Command, ChangeReply> {
 public:
  ChangeHandler(std::string process, const base::Clock& clock, wake::Registry& wake, Probe& probe)
      : process_(std::move(process)), clock_(clock), wake_(wake), probe_(probe) {}
  std::string_view name() const override { return "tasks.change"; }
  db::LaneName lane() const override { return leases::kLane; }
  std::size_t KeyHash(const Command& command) const override;
  bool reads() const override { return true; }

 protected:
  void ReadItems(db::Transaction& tx, Items items) override;
  void WriteItems(db::Transaction& tx, Items items) override;
  void DoneItems(Items items) override;

 private:
  const std::string process_;
  const base::Clock& clock_;
  wake::Registry& wake_;
  Probe& probe_;
};

struct TaskView {
  std::string name{};
  TaskRow row{};
  std::string holder{};        ///< of the lock; empty: nobody runs it
  std::int64_t fence = 0;      ///< of the lock
  std::int64_t locked_ms = 0;  ///< since when it is locked; 0: it is not
  std::int64_t lock_expires_ms = 0;
};
struct ListReply {
  std::vector<TaskView> tasks{};
  std::int64_t now_ms = 0;
};

void ListTasks(db::Transaction& tx, db::Items<std::string, ListReply> tenants);

/// What is answered to whoever has a task run; nothing when there is no such task.
std::optional<base::StoredAnswer> TriggerAnswer(const TriggerOutcome& outcome);

/// Under which key the offers for a task are woken when somebody triggered it.
std::string WakeKey(const TaskKey& key);

struct ForgetTasksRequest {
  std::int64_t retention_ms = 0;
};
/// Deletes a batch of users' tasks that nobody has offered to run for so long.
db::Swept ForgetUnusedTasks(db::Transaction& tx, const ForgetTasksRequest& request,
                            std::int64_t now_ms);

}  // namespace tenure::tasks
