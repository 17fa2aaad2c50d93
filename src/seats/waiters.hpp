#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/caller.hpp"
#include "base/clock.hpp"
#include "db/operation.hpp"
#include "db/store.hpp"
#include "seats/command.hpp"
#include "wake/waiting_room.hpp"

namespace tenure::seats {

class Seats;

/// A place in a line that a request of this process waits at.
struct Place {
  base::Uuid license{};
  std::string machine{};

  friend auto operator<=>(const Place&, const Place&) = default;
  std::size_t bytes() const { return machine.size(); }
};
struct RefreshRequest {
  std::string process{};
  std::vector<Place> places{};
  bool refresh = false;  ///< false: only look

  std::size_t bytes() const { return db::BytesOf(process, places); }
};
struct RefreshReply {
  /// A seat is offered there, the ticket is gone, or something may have lapsed.
  std::vector<Place> to_ask{};
  /// When the next deadline of a licence passes for which somebody waits; nothing: none does.
  std::optional<std::int64_t> next_in_ms{};
};

/// Keeps the tickets of those who wait in this process alive, all in one statement, and looks whose turn
/// it may be.
class RefreshHandler final : public db::TypedHandler<RefreshRequest, RefreshReply> {
 public:
  std::string_view name() const override { return "seats.refresh"; }
  db::LaneName lane() const override { return db::LaneName::Shared(0); }

 protected:
  void WriteItems(db::Transaction& tx, Items items) override;
};

/// The requests of this process that wait for a seat, or for an offer to a ticket; how they wait is the
/// room's business (wake/waiting_room.hpp). A machine of a licence is a line of its own: the store's line
/// decides whose turn it is, by an offer, and the offer's transaction signals exactly that one.
///
/// Once a second, and at the millisecond when a deadline passes, the store is asked whose turn it may be,
/// which also keeps the tickets alive: so an offer whose process died at once is found, too. Whoever goes leaves its ticket behind: it lives for a few
/// seconds, in which the client may come back to its place. What its question is granted meanwhile is
/// given back by its session id.
///
/// Threads: any. Callbacks run on the caller's executor; without one wherever the wait ends.
class Waiters final : wake::WaitingRoom::Policy {
 public:
  using Id = wake::WaitingRoom::Id;
  template <class Reply>
  using Callback = base::UniqueFunction<db::Result<Reply>>;
  using Acquired = base::IdempotentReply<AcquireOutcome>;

  Waiters(Seats& seats, db::Store& store, wake::Registry& wake, const base::Clock& clock);

  Id AddAcquire(AcquireCommand command, std::optional<base::IdempotencyKey> once,
                std::int64_t wait_ms, base::Caller caller, Callback<Acquired> done);
  Id AddTicket(TicketCommand command, std::string machine, std::int64_t wait_ms,
               base::Caller caller, Callback<TicketOutcome> done);
  void Abandon(Id id) { room_.Abandon(id); }
  void Stop() { room_.Stop(); }

 private:
  class Waiter;
  class SeatWaiter;
  class TicketWaiter;

  void Look(wake::Poller::Cause cause,
            base::UniqueFunction<wake::WaitingRoom::Found> done) override;
  void Counted(std::int64_t waiting) override;
  void GiveOn(const std::set<Place>& places) const;

  Seats& seats_;
  db::Store& store_;
  RefreshHandler refresh_;
  wake::WaitingRoom room_;
};

}  // namespace tenure::seats
