#include "inbox/inbox.hpp"

#include "db/submit.hpp"

namespace tenure::inbox {
using db::SubmitTo;

Inbox::Inbox(db::Store& store, const Budget& budget, telemetry::Registry& metrics)
    : store_(store), probe_(metrics), change_(budget, probe_) {}

template <class Reply, class SomeCommand>
void Inbox::Change(SomeCommand command, base::Caller caller, Callback<Reply> done) {
  const std::size_t hash = MessageKeyHash()(command.key);
  SubmitTo(store_.WriteLane(hash), change_, std::move(caller), hash,
           ChangeRequest{std::move(command)},
           [done = std::move(done)](db::Result<ChangeReply> result) mutable {
             if (result.ok())
               done(std::get<Reply>(std::move(result.value().outcome)));
             else
               done(result.fault());
           });
}

void Inbox::Begin(BeginCommand command, base::Caller caller, Callback<BeginOutcome> done) {
  Change(std::move(command), std::move(caller), std::move(done));
}

void Inbox::Complete(CompleteCommand command, base::Caller caller, Callback<FinishOutcome> done) {
  Change(std::move(command), std::move(caller), std::move(done));
}

void Inbox::Fail(FailCommand command, base::Caller caller, Callback<FinishOutcome> done) {
  Change(std::move(command), std::move(caller), std::move(done));
}

void Inbox::Find(FindRequest request, base::Caller caller, Callback<FindReply> done) {
  SubmitTo(store_.ReadLane(), find_, std::move(caller), 0, std::move(request), std::move(done));
}

void Inbox::TidySome(TidyRequest request, base::Caller caller, Callback<TidyReply> done) {
  SubmitTo(store_.WriteLane(0), tidy_, std::move(caller), 0, request, std::move(done));
}

void Inbox::CountStuck(Callback<CountReply> done) {
  SubmitTo(store_.ReadLane(), count_, nullptr, 0, CountRequest{}, std::move(done));
}

}  // namespace tenure::inbox
