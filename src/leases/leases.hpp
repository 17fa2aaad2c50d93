#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/caller.hpp"
#include "base/clock.hpp"
#include "db/idempotency.hpp"
#include "db/store.hpp"
#include "leases/change.hpp"
#include "leases/probe.hpp"
#include "leases/reads.hpp"
#include "leases/retention.hpp"
#include "leases/tickets.hpp"
#include "leases/waiters.hpp"
#include "wake/registry.hpp"

namespace tenure::leases {

/// Leases on a store: what the routes, the tasks, the library's providers and the tests call. Every
/// call returns at once; the callback runs on the caller's executor (none: on a lane's thread) when
/// the store has decided.
///
/// Any number of processes may run this on one store: nothing is remembered here but who waits.
class Leases {
 public:
  template <class Reply>
  using Callback = base::UniqueFunction<db::Result<Reply>>;

  /// `process` names this process among those of the store ("host:pid:random").
  Leases(db::Store& store, wake::Registry& wake, std::string process, const base::Clock& clock,
         telemetry::Registry& metrics);

  /// One try.
  void Acquire(AcquireCommand command, base::Caller caller, Callback<AcquireOutcome> done);
  /// Tries until it is granted, the term is found to be over, or `wait_ms` have passed.
  Waiters::Id AcquireWaiting(AcquireCommand command, std::int64_t wait_ms, base::Caller caller,
                             Callback<AcquireOutcome> done);
  /// Whoever waited has gone: leaves the line, and gives back what its question is granted. The
  /// callback is dropped.
  void Abandon(Waiters::Id id) { waiters_.Abandon(id); }

  /// Each name at most once in `commands`; the outcomes are in their order.
  void Renew(std::vector<RenewCommand> commands, base::Caller caller,
             Callback<std::vector<RenewOutcome>> done);
  void Release(ReleaseCommand command, base::Caller caller, Callback<ReleaseOutcome> done);
  void Break(BreakCommand command, base::Caller caller, Callback<BreakOutcome> done);
  /// The same under an idempotency key.
  void BreakOnce(BreakCommand command, base::IdempotencyKey key, base::Caller caller,
                 Callback<base::IdempotentReply<Outcome>> done);

  void Find(FindRequest request, base::Caller caller, Callback<FindReply> done);
  void List(PageRequest request, base::Caller caller, Callback<PageReply> done);

  /// One bounded batch of background work. The caller repeats while `has_more`.
  void TidySome(TidyRequest request, base::Caller caller, Callback<TidyReply> done);
  void CountActive(Callback<CountReply> done);

  /// Answers everybody who waits with kStopping; nobody waits any more afterwards.
  void StopWaiting() { waiters_.Stop(); }

  Probe& probe() { return probe_; }
  const std::string& process() const { return process_; }
  const base::Clock& clock() const { return clock_; }

 private:
  template <class Reply>
  void Change(Command command, base::Caller caller, Callback<Reply> done);

  db::Store& store_;
  const std::string process_;
  const base::Clock& clock_;
  Probe probe_;
  ChangeHandler change_;
  db::IdempotentHandler<Command, Outcome> change_once_;
  FindHandler find_;
  ListHandler list_;
  CountHandler count_;
  TidyHandler tidy_;
  Waiters waiters_;
};

}  // namespace tenure::leases
