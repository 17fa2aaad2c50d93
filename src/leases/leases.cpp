#include "leases/leases.hpp"

#include "leases/json.hpp"

namespace tenure::leases {
namespace {

template <class Handler, class Request, class Callback>
void SubmitTo(db::Lane& lane, Handler& handler, base::Executor* home, std::size_t key_hash,
              Request request, Callback done) {
  lane.Submit(std::make_unique<typename Handler::ItemType>(handler, home, key_hash,
                                                           std::move(request), std::move(done)));
}

}  // namespace

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
                       [this](AcquireCommand command, Waiters::Callback done) {
                         Acquire(std::move(command), nullptr, std::move(done));
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
                   .count = [this](std::int64_t count) { probe_.Waiting(count); },
               },
               wake, clock) {}

template <class Reply>
void Leases::Change(const LeaseKey& key, Command command, base::Executor* home,
                    Callback<Reply> done) {
  const std::size_t hash = LeaseKeyHash()(key);
  SubmitTo(store_.WriteLane(hash), change_, home, hash, std::move(command),
           [done = std::move(done)](db::Result<ChangeReply> result) mutable {
             if (result.ok())
               done(std::get<Reply>(std::move(result.value().outcome)));
             else
               done(result.fault());
           });
}

void Leases::Acquire(AcquireCommand command, base::Executor* home, Callback<AcquireOutcome> done) {
  const LeaseKey key = command.key;
  Change(key, std::move(command), home, std::move(done));
}

Waiters::Id Leases::AcquireWaiting(AcquireCommand command, std::int64_t wait_ms,
                                   base::Executor* home, Callback<AcquireOutcome> done) {
  return waiters_.Add(std::move(command), wait_ms, home, std::move(done));
}

void Leases::Renew(std::vector<RenewCommand> commands, base::Executor* home,
                   Callback<std::vector<RenewOutcome>> done) {
  const LeaseKey key = commands.front().key;
  Change(key, std::move(commands), home, std::move(done));
}

void Leases::Release(ReleaseCommand command, base::Executor* home, Callback<ReleaseOutcome> done) {
  const LeaseKey key = command.key;
  Change(key, std::move(command), home, std::move(done));
}

void Leases::Break(BreakCommand command, base::Executor* home, Callback<ChangeReply> done) {
  const std::size_t hash = LeaseKeyHash()(command.key);
  SubmitTo(store_.WriteLane(hash), change_, home, hash, Command(std::move(command)),
           std::move(done));
}

void Leases::BreakOnce(BreakCommand command, db::OnceKey key, base::Executor* home,
                       Callback<db::OnceReply> done) {
  const std::size_t hash = LeaseKeyHash()(command.key);
  SubmitTo(store_.WriteLane(hash), change_once_, home, hash,
           db::OnceRequest<Command>{std::move(command), std::move(key)}, std::move(done));
}

void Leases::Find(FindRequest request, base::Executor* home, Callback<FindReply> done) {
  SubmitTo(store_.ReadLane(), find_, home, 0, std::move(request), std::move(done));
}

void Leases::List(PageRequest request, base::Executor* home, Callback<PageReply> done) {
  SubmitTo(store_.ReadLane(), list_, home, 0, std::move(request), std::move(done));
}

void Leases::TidySome(TidyRequest request, Callback<TidyReply> done) {
  SubmitTo(store_.WriteLane(0), tidy_, nullptr, 0, std::move(request), std::move(done));
}

void Leases::CountActive(Callback<CountReply> done) {
  SubmitTo(store_.ReadLane(), count_, nullptr, 0, CountRequest{}, std::move(done));
}

}  // namespace tenure::leases
