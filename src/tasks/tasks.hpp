#pragma once

#include <string>

#include "db/idempotency.hpp"
#include "tasks/batch.hpp"

namespace tenure::tasks {

/// Reliable tasks on a store: singletons over an ensemble of processes. What the routes,
/// the library's providers and the tests call.
class Tasks {
  const base::Clock& clock_;
  Probe probe_;
  db::Method<ChangeHandler> change_;

 public:
  template <class Reply>
  using Callback = base::UniqueFunction<db::Result<Reply>>;

  Tasks(db::Store& store, wake::Registry& wake, std::string process, const base::Clock& clock,
        telemetry::Registry& metrics)
      : clock_(clock),
        probe_(metrics),
        change_(store, std::move(process), clock, wake, probe_),
        TriggerOnce(
            store, "tasks.change_once", change_.handler(),
            [](const ChangeReply& reply) {
              return TriggerAnswer(std::get<TriggerOutcome>(reply.outcome));
            },
            db::LaneName::UserKeys()),
        List(store, "tasks.list"),
        ForgetUnused(store, "tasks.forget", db::LaneName::Shared(0)) {}

  /// Offers to run a task.
  void Claim(ClaimCommand command, base::Caller caller, Callback<leases::ClaimOutcome> done) {
    Change(std::move(command), std::move(caller), std::move(done));
  }
  void Finish(FinishCommand command, base::Caller caller, Callback<leases::FinishOutcome> done) {
    Change(std::move(command), std::move(caller), std::move(done));
  }
  /// Has it run now, or once more when it runs already.
  void Trigger(TriggerCommand command, base::Caller caller, Callback<TriggerOutcome> done) {
    Change(std::move(command), std::move(caller), std::move(done));
  }
  /// The same under an idempotency key. That there is no such task is not kept.
  db::Method<db::IdempotentHandler<Command, ChangeReply>> TriggerOnce;
  /// Of a tenant.
  db::Look<ListTasks> List;
  /// One bounded batch of forgetting.
  db::Sweep<ForgetUnusedTasks> ForgetUnused;

  Probe& probe() { return probe_; }
  const base::Clock& clock() const { return clock_; }

 private:
  template <class Reply>
  void Change(Command command, base::Caller caller, Callback<Reply> done) {
    change_(std::move(command), std::move(caller),
            [done = std::move(done)](db::Result<ChangeReply> result) mutable {
              if (result.ok())
                done(std::get<Reply>(std::move(result.value().outcome)));
              else
                done(result.fault());
            });
  }
};

}  // namespace tenure::tasks
