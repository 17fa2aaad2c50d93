#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/task.hpp"
#include "wake/poller.hpp"
#include "wake/registry.hpp"

namespace tenure::wake {

/// A request that waits, as its capability sees it: what it asks the store, and what the client is
/// told. When it asks is the room's business (waiting_room.hpp).
///
/// Threads: the room calls Ask never while a question of the same waiter is under way. Finish comes
/// once, and may come while a question is under way (the room stops): it must not look at what the
/// question writes, if it is given a fault. GiveBack comes after the question's answer.
class Waiter {
 public:
  /// What a question came to.
  struct Answer {
    enum class Kind {
      kEnd,     ///< the wait is over, for better or worse
      kNotYet,  ///< what it waits for is not to be had
      kLocked,  ///< it may be to be had, but somebody has it locked
    };
    Kind kind = Kind::kNotYet;
    /// When the first of its lines asks by itself. After kEnd: the first of those who are left.
    std::optional<std::int64_t> ask_in_ms{};
    /// kEnd: so many of each of its lines ask at once, since there may be more.
    std::size_t successors = 0;
    /// The policy looks within this time.
    std::optional<std::int64_t> look_in_ms{};
  };

  struct Place {
    std::vector<std::string> keys{};  ///< of the signals that it waits for: a line each; each once
    /// What requests have in common that a client repeated: their place in the store's line, for
    /// one. What one of them is given is for all of them. Empty: nothing.
    std::string ticket{};
    base::Executor* home = nullptr;  ///< where Finish runs; null: wherever the wait ends
  };

  explicit Waiter(Place place) : place_(std::move(place)) {}
  virtual ~Waiter() = default;
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  const Place& place() const { return place_; }

  /// Asks the store, and keeps what it says. `answered` is called once, from any thread, now or
  /// later, and is the last thing that the question does with this object.
  /// `last`: the time is over, and nobody will ask again.
  virtual void Ask(bool last, base::UniqueFunction<Answer> answered) = 0;
  /// Answers the client: with `fault`, or with what the store said last.
  virtual void Finish(const base::Fault* fault) = 0;
  /// The client has gone, or was sent away, while its question was under way: if that brought
  /// something, nobody is there to have it.
  virtual void GiveBack() = 0;
  /// The client has gone, or was sent away, and nobody else has its ticket. Calls `left` once, from
  /// any thread, now or later.
  virtual void Leave(base::Task left) { left(); }
  /// Whether it asks once more when its time is over; otherwise what was said last is the answer.
  virtual bool asks_last() const { return false; }

 private:
  const Place place_;
};

/// The requests of this process that wait for something that the store hands out: a lease,
/// messages. The room decides nothing. It makes waiters ask the store again when they may be
/// served, and sees to it that each client is answered once.
///
/// Those who wait for one key stand in a line, in order of arrival. Only the first of a line asks,
/// since what wakes a line is seldom more than one can have. It asks when
///  - it arrives (as everybody does);
///  - its key is signalled;
///  - the time has come that its last answer named, or, after kLocked, 10, 20, 40 … 500 ms later;
///  - the policy's look says so: what makes good for a signal that was lost with its sender;
///  - one before it was served and said that there may be more;
///  - its own time is over, if it is one that asks last.
///
/// Invariants:
///  (1) A waiter has at most one question under way.
///  (2) No signal is lost. A line is registered before its first question. A signal that comes
///      while the first of the line asks makes it ask again. Whoever leaves with such a signal, or
///      with its question under way, makes the next one ask; the time at which it was to ask by
///      itself is the next one's too.
///  (3) Finish is called once for each waiter that was added and not abandoned, and never for one
///      that was.
///  (4) A waiter is not sent away before its time, unless the room stops. When its time is over it
///      is answered without delay, or when the question that is under way is.
///  (5) Whoever goes while its question is under way is given the answer to give it back.
///  (6) Nothing outside is called under the room's lock, except the registry, the poller and
///      Policy::Counted. No call costs more than O(log n) for each key of the waiter.
///
/// Thousands may go together, when a proxy in front of them does. No more than kMaxLeaving leave the
/// store at the same time, and the others after them: the lanes' queues are for those who are here.
///
/// Failure: a question that fails ends its waiter, if the capability says kEnd, and the next one of
/// the line asks in its place. A question that is never answered keeps its waiter for ever: lanes
/// answer always. The number of keys is bounded; beyond it a waiter is answered kOverloaded.
///
/// Life: construct, Add and Abandon, Stop. REQUIRES: the policy, and what waiters refer to, outlive
/// the threads of the registry and of the lanes.
///
/// Threads: all functions from any, also from inside of a waiter's functions.
class WaitingRoom {
 public:
  /// Never 0, never used again.
  using Id = std::uint64_t;
  /// Half of a lane's batch.
  static constexpr std::size_t kMaxLeaving = 256;

  /// What a look found.
  struct Found {
    std::vector<std::string> keys{};  ///< the first of these lines asks
    bool everybody = false;           ///< the first of every line asks
    Poller::Next next{};
  };

  /// What a capability does for all of its waiters together.
  class Policy {
   public:
    virtual ~Policy() = default;
    /// Looks, in one go, who should ask, and keeps alive what the store knows of those who wait.
    /// Called when a waiter's answer or the last look named a time, and when `look_key` is
    /// signalled; one look at a time, never before the first waiter. Nobody may be waiting any
    /// more: then a look that names no next time ends the looks until somebody waits again.
    virtual void Look(Poller::Cause cause, base::UniqueFunction<Found> done) = 0;
    /// How many wait now. REQUIRES: it calls nobody.
    virtual void Counted(std::int64_t waiting) = 0;
  };

  struct Options {
    std::string look_key{};    ///< signalled when something may have happened; empty: none
    std::size_t max_keys = 0;  ///< each look may cost something for every key
  };

  WaitingRoom(Registry& registry, const base::Clock& clock, Policy& policy, Options options);
  ~WaitingRoom() { Stop(); }
  WaitingRoom(const WaitingRoom&) = delete;
  WaitingRoom& operator=(const WaitingRoom&) = delete;

  Id Add(std::shared_ptr<Waiter> waiter, std::int64_t wait_ms);
  /// The client has gone. Nothing happens if the waiter was answered meanwhile.
  void Abandon(Id id);
  /// Answers everybody with kStopping, and whoever comes later.
  void Stop();

  using WaiterPtr = std::shared_ptr<const Waiter>;
  /// Everybody, in order of arrival.
  std::vector<WaiterPtr> Waiting() const;
  /// The first of each line, with the line's key.
  std::vector<std::pair<std::string, WaiterPtr>> Firsts() const;

 private:
  struct State;
  const std::shared_ptr<State> state_;  // shared with what is under way
};

}  // namespace tenure::wake
