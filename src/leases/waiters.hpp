#pragma once

#include <cstdint>

#include "base/caller.hpp"
#include "base/clock.hpp"
#include "db/operation.hpp"
#include "db/store.hpp"
#include "leases/lease.hpp"
#include "leases/tickets.hpp"
#include "wake/waiting_room.hpp"

namespace tenure::leases {

class Leases;

/// The requests of this process that wait for a lease; how they wait is the room's business
/// (wake/waiting_room.hpp). A name is a line. The first of it asks when the name is signalled
/// (released, broken or left by somebody, here or elsewhere), and at the very millisecond when the
/// grant in its way ends. The others stand behind it in the store's line too, so they need not ask.
///
/// Once a second the store is asked which of all names are free, which also keeps the tickets
/// alive. The same look, without a write, follows a signal to kRecheckKey.
///
/// Whoever goes leaves the store's line and, if its question was under way and was granted, gives
/// that back. It never ends a grant that may be somebody's: a client whose connection broke repeats
/// its request with the same term, here or in another process, and may hold the lease by the time
/// that the broken connection is noticed. So a grant is given back only if the abandoned question
/// made it and nobody has asked for it again since; otherwise it is left to its deadline.
///
/// Threads: any. Callbacks run on the caller's executor; without one wherever the wait ends.
class Waiters final : wake::WaitingRoom::Policy {
 public:
  using Id = wake::WaitingRoom::Id;
  using Callback = base::UniqueFunction<db::Result<AcquireOutcome>>;

  Waiters(Leases& leases, db::Store& store, wake::Registry& wake, const base::Clock& clock);

  Id Add(AcquireCommand command, std::int64_t wait_ms, base::Caller caller, Callback done);
  void Abandon(Id id) { room_.Abandon(id); }
  void Stop() { room_.Stop(); }

 private:
  class Waiter;

  void Look(wake::Poller::Cause cause,
            base::UniqueFunction<wake::WaitingRoom::Found> done) override;
  void Counted(std::int64_t waiting) override;
  /// Of everybody who waits, each once.
  RefreshRequest AllTickets() const;

  Leases& leases_;
  db::Store& store_;
  RefreshHandler refresh_;
  FreeHandler free_;
  wake::WaitingRoom room_;
};

}  // namespace tenure::leases
