#pragma once

#include <optional>

#include "jobs/write_runs.hpp"
#include "wake/registry.hpp"

namespace tenure::jobs {

struct FireRequest {};
struct FireReply {
  std::int64_t now_ms = 0;
  std::optional<std::int64_t> next_look_ms{};  ///< none: nothing is planned
  bool has_more = false;                       ///< something is due that there was no room for
  bool has_locked = false;                     ///< something is due, and another process has it
};

/// Fires what is due: one bounded batch of jobs in one transaction.
///
/// M3. Any number of processes does this at the same moment, and none leads. A job is due by
/// `look_ms`, which is looked at again under the row's lock (lock_due.sql): of two who find it due
/// the second one finds it decided, or passes it over while the first is at it. The runs, their
/// messages and the job's next time are one transaction: it commits as a whole or, if its process
/// dies at any line, is as if it had never been, and the job is due as before. Should the schedule
/// name a time a second time (newer tzdata, a clock that went back, a row that was changed by
/// hand), the unique index of (job, nominal time) has the last word, and no message is written.
///
/// Lock order: jobs (SKIP LOCKED), runs (SKIP LOCKED), topics; then new rows. So a fire waits for
/// nobody but, in a topic's first message, for another process that makes the same topic.
class FireHandler final : public db::TypedHandler<FireRequest, FireReply, Written> {
 public:
  FireHandler(const ZoneSource& zones, const Rules& rules, const Outbox& outbox,
              wake::Registry& wake, Probe& probe)
      : zones_(zones), rules_(rules), outbox_(outbox), wake_(wake), probe_(probe) {}
  std::string_view name() const override { return "jobs.fire"; }
  bool reads() const override { return true; }

 protected:
  /// Mostly nothing is due: that is seen without a lock.
  void ReadItems(db::Transaction& tx, Items items) override;
  Written WriteItems(db::Transaction& tx, Items items) override;
  void DoneItems(Items items, const Written& written) override;

 private:
  const ZoneSource& zones_;
  const Rules rules_;
  const Outbox outbox_;
  wake::Registry& wake_;
  Probe& probe_;
};

}  // namespace tenure::jobs
