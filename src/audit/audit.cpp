#include "audit/audit.hpp"

#include <memory>
#include <utility>

#include "db/submit.hpp"

namespace tenure::audit {
using db::SubmitTo;

Audit::Audit(db::Store& store, const base::Clock& clock, telemetry::Registry& metrics)
    : store_(store),
      probe_(metrics),
      refusals_(
          [this](base::Actor actor, db::Deed deed, base::UniqueFunction<bool> done) {
            Note(std::move(actor), std::move(deed),
                 [done = std::move(done)](const db::Result<NoteReply>& result) mutable {
                   done(result.ok());
                 });
          },
          clock, probe_) {}

void Audit::List(ListRequest request, base::Executor* home, Callback<ListReply> done) {
  SubmitTo(store_.ReadLane(), list_, home, 0, std::move(request), std::move(done));
}

void Audit::Note(base::Actor actor, db::Deed deed, Callback<NoteReply> done) {
  base::Caller caller;
  caller.actor = std::make_shared<const base::Actor>(std::move(actor));
  SubmitTo(store_.WriteLane(0), note_, std::move(caller), 0, NoteRequest{std::move(deed)},
           std::move(done));
}

void Audit::ForgetSome(const ForgetRequest& request, base::Caller caller,
                       Callback<ForgetReply> done) {
  SubmitTo(store_.WriteLane(0), forget_, std::move(caller), 0, request, std::move(done));
}

}  // namespace tenure::audit
