#pragma once

#include <string>

#include "base/caller.hpp"
#include "base/clock.hpp"
#include "db/once.hpp"
#include "db/store.hpp"
#include "tasks/batch.hpp"
#include "tasks/probe.hpp"
#include "wake/registry.hpp"

namespace tenure::tasks {

/// What is answered to whoever has a task run.
db::Answer TriggerAnswer(const TriggerOutcome& outcome);

/// Reliable tasks on a store: singletons over an ensemble of processes (spec 20). What the routes,
/// the library's providers and the tests call. Every call returns at once; the callback runs on
/// the caller's executor (none: on a lane's thread).
class Tasks {
 public:
  template <class Reply>
  using Callback = base::UniqueFunction<db::Result<Reply>>;

  Tasks(db::Store& store, wake::Registry& wake, std::string process, const base::Clock& clock,
        telemetry::Registry& metrics);

  /// Offers to run a task.
  void Claim(ClaimCommand command, base::Caller caller, Callback<leases::ClaimOutcome> done);
  void Finish(FinishCommand command, base::Caller caller, Callback<leases::FinishOutcome> done);
  /// Has it run now, or once more when it runs already.
  void Trigger(TriggerCommand command, base::Caller caller, Callback<TriggerOutcome> done);
  /// The same under an idempotency key. The answer has status 404 when there is no such task, and
  /// is not kept then.
  void TriggerOnce(TriggerCommand command, db::OnceKey key, base::Caller caller,
                   Callback<db::OnceReply> done);
  void List(std::string tenant, base::Caller caller, Callback<ListReply> done);

  Probe& probe() { return probe_; }
  const base::Clock& clock() const { return clock_; }

 private:
  template <class Reply>
  void Change(const TaskKey& key, Command command, base::Caller caller, Callback<Reply> done);

  db::Store& store_;
  const base::Clock& clock_;
  Probe probe_;
  ChangeHandler change_;
  db::OnceHandler<Command, ChangeReply> change_once_;
  ListHandler list_;
};

}  // namespace tenure::tasks
