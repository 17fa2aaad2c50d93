#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "queues/queue.hpp"

namespace tenure::queues {

/// Of a session. What waits for a back-off or is reserved is kReady with `due_ms`.
enum class State : std::uint8_t { kIdle, kReady, kHeld, kParked };
std::string_view ToText(State state);

/// How a hold ended.
enum class End : std::uint8_t {
  kNone,
  kDrained,
  kTurn,         ///< its turn had as many messages as one may have
  kMaxDuration,  ///< or was long enough
  kReleased,
  kTransferred,
  kAbandoned,
  kDead,
  kExpired,
  kBroken,
};
std::string_view ToText(End end);

/// A place in the line that whoever writes the row is to give it (line.hpp).
inline constexpr std::int64_t kNewPlace = -1;

/// The row of a session. Messages from `head` on, below `next`, are not done.
struct SessionRow {
  base::Uuid id{};
  std::int64_t queue = 0;
  std::int64_t generation = 1;
  std::string key{};
  std::string name{};
  std::string entity{};
  std::string share{};
  std::int64_t next = 0;  ///< 0: the row was made a moment ago, by this transaction
  std::int64_t head = 0;
  std::int64_t fence = 0;
  State state = State::kIdle;
  std::string consumer{};
  std::int64_t lease_until_ms = 0;
  std::int64_t lease_ms = 0;  ///< of the last hold
  std::int64_t turn_ms = 0;   ///< when it began
  std::int64_t turn_count = 0;
  std::int64_t handed = 0;    ///< the highest sequence that was given under this fence
  std::int64_t attempts = 0;  ///< of the head
  std::int64_t position = 0;  ///< in the line of what is ready; 0: not there
  std::int64_t due_ms = 0;    ///< when somebody must look: no later than what it is about; 0: never
  std::int64_t not_before_ms = 0;
  std::string reserved_for{};
  std::int64_t reserved_until_ms = 0;
  std::int64_t parked_ms = 0;
  DeathReason reason = DeathReason::kNone;  ///< why it is parked
  std::string error{};                      ///< of the head's last attempt
  std::string error_class{};
  std::optional<base::Uuid> accept_id{};
  End ended = End::kNone;     ///< how the last hold did
  std::int64_t ttl_free = 0;  ///< messages below never expire
  std::int64_t created_ms = 0;
  std::int64_t activity_ms = 0;

  bool HasWork() const { return head < next; }
  std::int64_t depth() const { return next - head; }
};

/// What a user's transaction said it completed (tenure.queue_complete).
struct Mark {
  std::int64_t fence = 0;
  std::int64_t sequence = 0;
};

/// What holds for the whole store.
struct Limits {
  std::int64_t incarnation = 1;
  std::int64_t frozen_ms = 0;  ///< since when names are frozen; 0: they are not
  std::int64_t freeze_ms = 0;  ///< for how long at least
};

/// A message that went to the dead letters.
struct Death {
  std::int64_t sequence = 0;
  std::int64_t attempts = 0;
  DeathReason reason = DeathReason::kNone;
  std::string error{};
  std::string error_class{};
};

enum class Completed { kDone, kGone, kStale, kOutOfOrder };
/// Why a hold goes on, or does not, after a completion.
enum class Hold { kHeld, kEnded, kDrained, kTurn, kMaxDuration };
enum class Lost { kHeld, kExpired, kTakenOver, kBroken, kTooLong, kReleased };
/// What became of a session whose head failed.
enum class Then { kBackoff, kParked, kSkipped, kStopped };

struct Failure {
  std::int64_t fence = 0;
  std::int64_t sequence = 0;
  bool rejected = false;  ///< dead at once
  std::string error{};
  std::string error_class{};
  std::optional<std::int64_t> retry_after_ms{};
};
struct Failed {
  Completed outcome = Completed::kStale;
  Then then = Then::kBackoff;
  std::int64_t until_ms = 0;  ///< kBackoff
};

struct Claim {
  std::string consumer{};
  std::int64_t lease_ms = 0;
  std::optional<base::Uuid> accept_id{};
};

/// The rule book: what may happen to a session, and what is then written. Pure: the row, the
/// queue's settings and the time come in, the changed row and what else must be written come out.
/// Whoever calls holds the row's lock, read the row after that, and the time after that.
///
/// What holds (Q1 of docs/invariants.md):
///  (1) The fence rises in Accept, Break and Rewind and nowhere else; every report compares it.
///  (2) A hold begins in Accept and nowhere else: a report after the end of a hold may complete,
///      and does not hold.
///  (3) The head moves over what was handed out under the latest fence, over what goes to the dead
///      letters, and over what an operator discards.
///  (4) Whoever ends a hold decides ready or idle by `next` of the locked row.
///  (5) After a failure `handed` is the head: the rest of the slice is void.
class Session {
 public:
  /// `holds_drained`: a drained session may stay with its consumer (never where there is a cap).
  Session(SessionRow row, const QueueRow& queue, std::int64_t now_ms);

  const SessionRow& row() const { return row_; }
  const QueueRow& queue() const { return queue_; }
  std::int64_t now_ms() const { return now_ms_; }

  /// What users' transactions completed: before anything else.
  /// True: it counts.
  bool Apply(const Mark& mark);

  // Whoever may.

  /// What people see of it, which may change: a repository is renamed.
  void Describe(std::string_view name, std::string_view entity);
  /// `count` more messages. Returns the sequence of the first.
  std::int64_t Put(std::int64_t count);

  // Whoever accepts.

  /// Whether `consumer` may have it now.
  bool IsReadyFor(std::string_view consumer) const;
  /// It was looked at because its time may have come: a hold past its deadline ends; what waited is
  /// ready; whose time has not come gets the right one.
  void ComeDue();
  /// The head has expired at `expires_ms` (0: never)? Then it goes by policy. True: it did.
  bool ExpireHead(std::int64_t expires_ms);
  /// Until when it may not be given to anybody (docs/ground.md, Incarnation); 0: it may.
  std::int64_t FrozenUntilMs(const Limits& limits) const;
  /// REQUIRES: IsReadyFor(claim.consumer), not frozen.
  void Accept(const Claim& claim, const Limits& limits);
  /// How many messages may be handed out together, of `most`.
  std::int64_t SliceLimit(std::int64_t most) const;
  /// Those up to here were.
  void HandOut(std::int64_t through);

  // A holder. Every report that counts restarts the lease.

  Completed Complete(std::int64_t fence, std::int64_t through);
  /// After Complete: whether the hold goes on, with what was not done or without.
  /// `lease_ms`: 0: as before.
  Hold GoOn(std::int64_t fence, bool keep, bool linger);
  /// The same for one that is held: why not, if it is not.
  Lost Renew(std::int64_t fence, std::int64_t lease_ms);
  Failed Fail(const Failure& failure);
  bool Release(std::int64_t fence);
  bool Transfer(std::int64_t fence, std::string_view to, std::int64_t for_ms);
  /// Whether a report of this fence still speaks for the hold.
  bool IsHeldBy(std::int64_t fence) const;

  // An operator. False: it is not as it must be.

  bool Break();
  /// `at_ms`: not before; 0: at once.
  bool Resume(std::int64_t at_ms = 0);
  bool Skip(std::int64_t sequence, std::string_view reason);
  bool Discard();
  /// Back to a message behind which everything went to the dead letters. Its last holder must not
  /// complete what it never had: the fence rises.
  /// REQUIRES: 0 < `sequence` < head, and all from there to the head are in the store.
  bool Rewind(std::int64_t sequence);
  /// Its queue is no more: all that waits are dead letters.
  bool Drop();
  /// Its queue is to go: whoever holds it loses it, and what waits is put away. False: there was nothing.
  bool Clear();

  // What is to be written besides the row, and who is to be told.

  const std::vector<Death>& deaths() const { return deaths_; }
  bool changed() const { return changed_; }
  /// How many messages were completed.
  std::int64_t completed() const { return completed_; }
  /// Somebody may have it now who could not before, or a place under the cap is free.
  bool tells_queue() const { return tells_queue_; }
  /// There is something new for whoever holds it.
  bool tells_session() const { return tells_session_; }
  bool pauses_queue() const { return pauses_queue_; }
  /// From here, to row().head, messages were done, died or were discarded.
  std::int64_t old_head() const { return old_.head; }
  const SessionRow& old() const { return old_; }
  void PlaceAt(std::int64_t position) { row_.position = position; }

 private:
  void Wait();
  void EndHold(End end);
  void Unpark();
  bool FailHead(DeathReason at_budget, bool at_once);
  void Die(DeathReason reason);
  Lost WhyLost(std::int64_t fence) const;
  std::int64_t BackoffMs() const;

  SessionRow row_;
  const QueueRow& queue_;
  const std::int64_t now_ms_;
  SessionRow old_;
  std::vector<Death> deaths_;
  std::int64_t completed_ = 0;
  bool changed_ = false;
  bool tells_queue_ = false;
  bool tells_session_ = false;
  bool pauses_queue_ = false;
  Then then_ = Then::kParked;
};

}  // namespace tenure::queues
