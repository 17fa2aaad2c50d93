#pragma once

#include <variant>
#include <vector>

#include "base/clock.hpp"
#include "db/operation.hpp"
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

struct ListRequest {
  std::string tenant{};
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

class ListHandler final : public db::TypedHandler<ListRequest, ListReply> {
 public:
  std::string_view name() const override { return "tasks.list"; }
  bool reads() const override { return true; }

 protected:
  void ReadItems(db::Transaction& tx, Items items) override;
};

/// Under which key the offers for a task are woken when somebody triggered it.
std::string WakeKey(const TaskKey& key);

}  // namespace tenure::tasks
