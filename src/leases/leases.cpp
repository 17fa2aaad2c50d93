#include "leases/leases.hpp"

#include "leases/json.hpp"

namespace tenure::leases {

Leases::Leases(db::Store& store, wake::Registry& wake, std::string process,
               const base::Clock& clock, telemetry::Registry& metrics)
    : store_(store),
      process_(std::move(process)),
      clock_(clock),
      probe_(metrics),
      change_(process_, clock, wake, probe_, store.evidence()),
      change_once_("leases.change_once", change_, BreakAnswer, db::LaneName::UserKeys()),
      waiters_(*this, store, wake, clock) {}

template <class Reply>
void Leases::Change(Command command, base::Caller caller, Callback<Reply> done) {
  store_.Submit(change_, std::move(caller), std::move(command), db::Only<Reply>(std::move(done)));
}

void Leases::Acquire(AcquireCommand command, base::Caller caller, Callback<AcquireOutcome> done) {
  command.asked_boot_ms = clock_.BootMs();
  Change(std::move(command), std::move(caller), std::move(done));
}

Waiters::Id Leases::AcquireWaiting(AcquireCommand command, std::int64_t wait_ms,
                                   base::Caller caller, Callback<AcquireOutcome> done) {
  return waiters_.Add(std::move(command), wait_ms, std::move(caller), std::move(done));
}

void Leases::Renew(std::vector<RenewCommand> commands, base::Caller caller,
                   Callback<std::vector<RenewOutcome>> done) {
  Change(std::move(commands), std::move(caller), std::move(done));
}

void Leases::Release(ReleaseCommand command, base::Caller caller, Callback<ReleaseOutcome> done) {
  Change(std::move(command), std::move(caller), std::move(done));
}

void Leases::Break(BreakCommand command, base::Caller caller, Callback<BreakOutcome> done) {
  Change(std::move(command), std::move(caller), std::move(done));
}

void Leases::BreakOnce(BreakCommand command, base::IdempotencyKey key, base::Caller caller,
                       Callback<base::IdempotentReply<Outcome>> done) {
  store_.Submit(change_once_, std::move(caller), {std::move(command), std::move(key)},
                std::move(done));
}

void Leases::Find(FindRequest request, base::Caller caller, Callback<FindReply> done) {
  store_.Submit(find_, std::move(caller), std::move(request), std::move(done));
}

void Leases::List(PageRequest request, base::Caller caller, Callback<PageReply> done) {
  store_.Submit(list_, std::move(caller), std::move(request), std::move(done));
}

void Leases::TidySome(TidyRequest request, base::Caller caller, Callback<TidyReply> done) {
  store_.Submit(tidy_, std::move(caller), std::move(request), std::move(done));
}

void Leases::CountActive(Callback<CountReply> done) {
  store_.Submit(count_, nullptr, {}, std::move(done));
}

}  // namespace tenure::leases
