#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/uuid.hpp"
#include "leases/ledger.hpp"

namespace tenure::tasks {

/// The tenant of Tenure's own tasks. No token can name it.
inline constexpr const char* kOwnTenant = "";

struct TaskKey {
  std::string tenant{};
  std::string name{};

  friend auto operator<=>(const TaskKey&, const TaskKey&) = default;
  /// The lease that is the task's lock.
  leases::LeaseKey LockKey() const { return {tenant, "task/" + name}; }
  std::size_t bytes() const { return db::BytesOf(tenant, name); }
};

/// The row of a task.
struct TaskRow {
  std::int64_t interval_ms = 0;
  std::int64_t next_ms = 0;
  std::int64_t not_before_ms = 0;
  std::int64_t asked_ms = 0;
  std::int64_t last_nominal_ms = 0;
  std::int64_t last_started_ms = 0;
  std::int64_t last_finished_ms = 0;
  std::string last_error{};
  std::int64_t failures = 0;
  std::int64_t runs = 0;
  std::int64_t skipped = 0;

  friend bool operator==(const TaskRow&, const TaskRow&) = default;
};

struct ClaimCommand {
  TaskKey key{};
  std::int64_t interval_ms = 0;
  std::int64_t lock_timeout_ms = 0;
  base::Uuid term{};
  std::string holder{};
  std::int64_t received_boot_ms = 0;

  std::size_t bytes() const { return db::BytesOf(key, holder); }
};
struct FinishCommand {
  TaskKey key{};
  std::int64_t fence = 0;
  base::Uuid term{};
  std::optional<std::string> error{};

  std::size_t bytes() const { return db::BytesOf(key, error); }
};
struct TriggerCommand {
  TaskKey key{};

  std::size_t bytes() const { return key.bytes(); }
};

struct TriggerOutcome {
  bool known = false;      ///< false: there is no such task
  bool under_way = false;  ///< a run goes on; another follows it
  std::int64_t nominal_ms = 0;
};

/// The last grid time that is not after `now_ms`. The grid is the multiples of the interval since
/// 1970, the same for every process: nothing drifts.
std::int64_t GridBefore(std::int64_t now_ms, std::int64_t interval_ms);
std::int64_t GridAfter(std::int64_t now_ms, std::int64_t interval_ms);

/// What is known of one task inside of a transaction that holds its lease's lock; the pure part of
/// tasks.
///
/// Why T1 holds: a run is handed out with the task's lease, so two processes never have it at once;
/// only the holder of the live grant can complete it, and completing moves `next_ms` behind now. So
/// a nominal time is completed at most once. It is not lost either: `next_ms` moves in no other
/// way. After a crash or a failure the same nominal time is handed out again. What was missed
/// meanwhile is run once, and counted.
class Schedule {
 public:
  Schedule(TaskKey key, std::optional<TaskRow> row, leases::Ledger& lock, std::int64_t now_ms);

  leases::ClaimOutcome Claim(const ClaimCommand& command);
  leases::FinishOutcome Finish(const FinishCommand& command);
  TriggerOutcome Trigger();

  const TaskKey& key() const { return key_; }
  bool changed() const { return changed_; }
  const TaskRow& row() const { return row_; }

 private:
  std::int64_t GridTimesSince(std::int64_t nominal_ms) const;

  TaskKey key_;
  bool is_new_;
  TaskRow row_;
  leases::Ledger& lock_;
  std::int64_t now_ms_;
  bool changed_ = false;
};

/// When the task's next run may begin; what a look without locks can tell.
std::int64_t DueMs(const TaskRow& row);

/// How soon to offer again, when it is not due: no later than a run that somebody asks for may
/// wait.
leases::TaskNotDue NotDue(std::int64_t wait_ms);

}  // namespace tenure::tasks
