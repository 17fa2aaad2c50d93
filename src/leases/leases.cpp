#include "leases/leases.hpp"

#include "db/submit.hpp"
#include "leases/json.hpp"

namespace tenure::leases {
using db::SubmitTo;

Leases::Leases(db::Store& store, wake::Registry& wake, std::string process,
               const base::Clock& clock, telemetry::Registry& metrics)
    : store_(store),
      process_(std::move(process)),
      clock_(clock),
      probe_(metrics),
      change_(process_, clock, wake, probe_),
      change_once_("leases.change_once", change_, BreakAnswer),
      waiters_({
                   .ask =
                       [this](AcquireCommand command, std::vector<base::Fence> fences,
                              Waiters::Callback done) {
                         Acquire(std::move(command), {nullptr, std::move(fences)}, std::move(done));
                       },
                   .leave =
                       [this](ReleaseCommand command) {
                         Release(std::move(command), nullptr, [](const auto&) {});
                       },
                   .refresh =
                       [this](RefreshRequest request, Callback<RefreshReply> done) {
                         SubmitTo(store_.WriteLane(0), refresh_, nullptr, 0, std::move(request),
                                  std::move(done));
                       },
                   .look =
                       [this](RefreshRequest request, Callback<RefreshReply> done) {
                         SubmitTo(store_.ReadLane(), free_, nullptr, 0, std::move(request),
                                  std::move(done));
                       },
                   .count = [this](std::int64_t count) { probe_.Waiting(count); },
               },
               wake, clock) {}

template <class Reply>
void Leases::Change(const LeaseKey& key, Command command, base::Caller caller,
                    Callback<Reply> done) {
  const std::size_t hash = LeaseKeyHash()(key);
  SubmitTo(store_.WriteLane(kLane), change_, std::move(caller), hash, std::move(command),
           [done = std::move(done)](db::Result<ChangeReply> result) mutable {
             if (result.ok())
               done(std::get<Reply>(std::move(result.value().outcome)));
             else
               done(result.fault());
           });
}

void Leases::Acquire(AcquireCommand command, base::Caller caller, Callback<AcquireOutcome> done) {
  const LeaseKey key = command.key;
  command.asked_boot_ms = clock_.BootMs();
  Change(key, std::move(command), std::move(caller), std::move(done));
}

Waiters::Id Leases::AcquireWaiting(AcquireCommand command, std::int64_t wait_ms,
                                   base::Caller caller, Callback<AcquireOutcome> done) {
  return waiters_.Add(std::move(command), wait_ms, std::move(caller), std::move(done));
}

void Leases::Renew(std::vector<RenewCommand> commands, base::Caller caller,
                   Callback<std::vector<RenewOutcome>> done) {
  const LeaseKey key = commands.front().key;
  Change(key, std::move(commands), std::move(caller), std::move(done));
}

void Leases::Release(ReleaseCommand command, base::Caller caller, Callback<ReleaseOutcome> done) {
  const LeaseKey key = command.key;
  Change(key, std::move(command), std::move(caller), std::move(done));
}

void Leases::Break(BreakCommand command, base::Caller caller, Callback<ChangeReply> done) {
  const std::size_t hash = LeaseKeyHash()(command.key);
  SubmitTo(store_.WriteLane(kLane), change_, std::move(caller), hash, Command(std::move(command)),
           std::move(done));
}

void Leases::BreakOnce(BreakCommand command, db::OnceKey key, base::Caller caller,
                       Callback<db::OnceReply> done) {
  const std::size_t hash = LeaseKeyHash()(command.key);
  SubmitTo(store_.WriteLane(kLane), change_once_, std::move(caller), hash,
           db::OnceRequest<Command>{std::move(command), std::move(key)}, std::move(done));
}

void Leases::Find(FindRequest request, base::Caller caller, Callback<FindReply> done) {
  SubmitTo(store_.ReadLane(), find_, std::move(caller), 0, std::move(request), std::move(done));
}

void Leases::List(PageRequest request, base::Caller caller, Callback<PageReply> done) {
  SubmitTo(store_.ReadLane(), list_, std::move(caller), 0, std::move(request), std::move(done));
}

void Leases::TidySome(TidyRequest request, base::Caller caller, Callback<TidyReply> done) {
  SubmitTo(store_.WriteLane(0), tidy_, std::move(caller), 0, std::move(request), std::move(done));
}

void Leases::CountActive(Callback<CountReply> done) {
  SubmitTo(store_.ReadLane(), count_, nullptr, 0, CountRequest{}, std::move(done));
}

}  // namespace tenure::leases
