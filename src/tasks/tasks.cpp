#include "tasks/tasks.hpp"

#include "base/json_writer.hpp"
#include "db/submit.hpp"

namespace tenure::tasks {

db::Answer TriggerAnswer(const TriggerOutcome& outcome) {
  db::Answer answer;
  answer.status = outcome.known ? 202 : 404;
  answer.final = outcome.known;
  base::JsonWriter json(answer.body);
  json.BeginObject().Field("under_way", outcome.under_way);
  json.Key("nominal_at").Time(outcome.nominal_ms);
  json.EndObject();
  return answer;
}

Tasks::Tasks(db::Store& store, wake::Registry& wake, std::string process, const base::Clock& clock,
             telemetry::Registry& metrics)
    : store_(store),
      clock_(clock),
      probe_(metrics),
      change_(std::move(process), clock, wake, probe_),
      change_once_("tasks.change_once", change_, [](const ChangeReply& reply) {
        return TriggerAnswer(std::get<TriggerOutcome>(reply.outcome));
      }) {}

template <class Reply>
void Tasks::Change(const TaskKey& key, Command command, base::Caller caller, Callback<Reply> done) {
  const std::size_t hash = leases::LeaseKeyHash()(key.LockKey());
  store_.WriteLane(leases::kLane)
      .Submit(std::make_unique<ChangeHandler::ItemType>(
          change_, std::move(caller), hash, std::move(command),
          [done = std::move(done)](db::Result<ChangeReply> result) mutable {
            if (result.ok())
              done(std::get<Reply>(std::move(result.value().outcome)));
            else
              done(result.fault());
          }));
}

void Tasks::Claim(ClaimCommand command, base::Caller caller, Callback<leases::ClaimOutcome> done) {
  const TaskKey key = command.key;
  Change(key, std::move(command), std::move(caller), std::move(done));
}

void Tasks::Finish(FinishCommand command, base::Caller caller,
                   Callback<leases::FinishOutcome> done) {
  const TaskKey key = command.key;
  Change(key, std::move(command), std::move(caller), std::move(done));
}

void Tasks::Trigger(TriggerCommand command, base::Caller caller, Callback<TriggerOutcome> done) {
  const TaskKey key = command.key;
  Change(key, std::move(command), std::move(caller), std::move(done));
}

void Tasks::TriggerOnce(TriggerCommand command, db::OnceKey key, base::Caller caller,
                        Callback<db::OnceReply> done) {
  const std::size_t hash = leases::LeaseKeyHash()(command.key.LockKey());
  db::SubmitTo(store_.WriteLane(leases::kLane), change_once_, std::move(caller), hash,
               db::OnceRequest<Command>{std::move(command), std::move(key)}, std::move(done));
}

void Tasks::List(std::string tenant, base::Caller caller, Callback<ListReply> done) {
  store_.ReadLane().Submit(std::make_unique<ListHandler::ItemType>(
      list_, std::move(caller), 0, ListRequest{std::move(tenant)}, std::move(done)));
}

}  // namespace tenure::tasks
