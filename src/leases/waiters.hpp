#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "base/caller.hpp"
#include "base/clock.hpp"
#include "db/operation.hpp"
#include "leases/lease.hpp"
#include "leases/upkeep.hpp"
#include "wake/registry.hpp"

namespace tenure::leases {

/// The requests of this process that wait for a lease. It decides nothing: each of them asks the
/// store again when it may be its turn, and the store grants to the lowest live ticket.
///
/// Of those who wait for one name here only the first asks, since the others stand behind it in the
/// store's line too. It asks when
///  - the name is signalled: released, broken or left by somebody, here or elsewhere;
///  - the deadline of the grant in its way has come, to the millisecond;
///  - once a second the store is asked which of all names are free (which also keeps the tickets
///    alive): what makes good for a signal that was lost with its sender. The same look, without a
///    write, follows a signal to kRecheckKey.
/// Each waits no longer than its own time; its last question also leaves the line.
///
/// Whoever goes leaves the line and, if a question of its own was under way and was granted, gives
/// that back. It never ends a grant that may be somebody's: a client whose connection broke repeats
/// its request with the same term, here or in another process, and may hold the lease by the time
/// that the broken connection is noticed. So a grant is given back only if the abandoned question
/// made it and nobody has asked for it again since; otherwise it is left to its deadline.
///
/// No wake-up is lost: the name is registered before the first question, so a signal that comes
/// while a question is under way is remembered, and asked for again.
///
/// Threads: any. Callbacks run where the asked operations complete (the caller's executor), or in
/// Stop.
class Waiters {
 public:
  using Id = std::uint64_t;
  using Callback = base::UniqueFunction<db::Result<AcquireOutcome>>;

  /// How the waiters reach the store.
  struct Store {
    /// Completes on a lane's thread, or at once on the caller's.
    std::function<void(AcquireCommand, std::vector<base::Fence>, Callback)> ask;
    std::function<void(ReleaseCommand)> leave;
    std::function<void(RefreshRequest, base::UniqueFunction<db::Result<RefreshReply>>)> refresh;
    /// Only looks which names are free.
    std::function<void(RefreshRequest, base::UniqueFunction<db::Result<RefreshReply>>)> look;
    std::function<void(std::int64_t)> count;  ///< how many wait now
  };

  Waiters(Store store, wake::Registry& wake, const base::Clock& clock);
  ~Waiters();
  Waiters(const Waiters&) = delete;
  Waiters& operator=(const Waiters&) = delete;

  Id Add(AcquireCommand command, std::int64_t wait_ms, base::Caller caller, Callback done);
  void Abandon(Id id);
  void Stop();

 private:
  struct Waiter;
  struct Line;
  struct State;
  std::shared_ptr<State> state_;  // shared with what is under way
};

}  // namespace tenure::leases
