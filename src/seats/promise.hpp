#pragma once

#include <cstdint>
#include <optional>
#include <string>

/// Heartbeats in a Redis beside the store (redis/README.md): who may still believe in a seat.
///
/// The seat's row is the truth, and says how far anybody may have promised the seat (its horizon). A Redis
/// holds a record for each seat and may promise within that horizon without asking. A row is given on
/// when nobody can believe in it any more: the store's own promise has passed, and either the horizon
/// has, or the Redis testifies that its own promise has, or nothing that any Redis ever promised can
/// still count. Not knowing a seat is no testimony: what a Redis forgot is asked from the store. So a
/// Redis needs no memory, and any request may go to the store at any time.
///
/// Invariants, argued at `IsOver`:
/// 1. Every promise of a Redis ends by the row's horizon, which only a release or the grant of a row that
///    is over lowers.
/// 2. A record of epoch e exists only for a row whose epoch is at least e, from before its put on.
/// 3. Promises under epoch k are made by the bump from k to k + 1 and one authority later, at the latest.
/// 4. A row's fence, and so the right to adopt it, changes only under its lock.
/// 5. A put takes effect within half a ttl of the adoption that allowed it; a row is a candidate for
///    testimony one ttl after its last adoption, at the earliest.
namespace tenure::seats {

/// The one row of `seat_ledger`: which Redis keeps heartbeats, and under which number.
struct RedisEpoch {
  std::int64_t epoch = 0;
  std::optional<std::string>
      identity{};  ///< of its process and its history; nothing: the store alone
  std::int64_t frozen_ms =
      0;  ///< until then nothing that was promised under an older epoch is over
  std::int64_t offset_ms = 0;  ///< its time less the store's when the epoch began
  std::int64_t used_ms = 0;    ///< when a process last said that it uses it
  std::int64_t lag_ms = 0;     ///< of its rules (LagMs); 0: there never was a Redis
  /// The store's when it began. Another one: the store has forgotten adoptions, so neither horizons nor
  /// epochs of rows are to be believed. Nothing is given on for as long as a promise may count
  /// (Limits::FrozenUntilMs), and the epoch is raised.
  std::int64_t incarnation = 0;

  friend bool operator==(const RedisEpoch&, const RedisEpoch&) = default;
};

/// What all processes of a store agree on.
struct RedisRules {
  std::int64_t authority_ms = 120'000;
  std::int64_t horizon_ms = 3'600'000;
  std::int64_t margin_ms = 5'000;
  std::int64_t tolerance_ms = 1'000;  ///< of clocks

  /// Whether a Redis keeps seats of such a ttl (and grace): others would be adopted all the time.
  bool MayKeep(std::int64_t ttl_ms) const { return ttl_ms <= horizon_ms / 4; }
};

/// How long after a bump a process that has not heard of it may begin a promise: whoever had authority had it
/// for so long, by a clock that is slow by 2 %.
std::int64_t LagMs(const RedisRules& rules);
/// How long after a bump a promise of the epoch before may still count: the longest ttl and grace that any
/// licence ever had more than that.
std::int64_t FreezeMs(const RedisRules& rules, std::int64_t longest_ms);

/// What a seat's row says of its promises.
struct Promise {
  std::int64_t fence = 0;
  std::int64_t expires_ms = 0;  ///< the store's own
  std::int64_t horizon_ms = 0;  ///< no Redis promised more; 0, or before `expires_ms`: none did
  std::int64_t epoch = 0;       ///< into which it was adopted last; 0: never

  friend bool operator==(const Promise&, const Promise&) = default;
};

/// Whether nobody can believe in the seat any more: the one rule. `is_dead`: the Redis testified so, and
/// that counts (`CountsFor`).
///
/// Why. Whoever believes at `now_ms` was promised by the store, and that is over by `expires_ms`, or by a
/// Redis under some epoch k:
///  (a) the horizon has passed: (1).
///  (b) k is older than the epoch: by (3) the promise ends by bump + authority + ttl, and the freeze is
///      longer than that.
///  (c) k is the epoch: then the row's epoch is k (2), and there is a Redis; so it testified. After
///      its look it can promise again only by a put; that of an adoption behind the reading changed
///      the row, and one of before the reading comes too late (5).
/// What was read of `epoch` may be old, since nothing locks it. An older epoch's freeze and identity are
/// as true as they were, and a row that is newer than what was read is never over by them.
bool IsOver(const Promise& promise, const RedisEpoch& epoch, std::int64_t now_ms, bool is_dead);

/// When a row may be over that nobody has renewed, if no Redis testifies; `IsOver` is false before.
std::int64_t OverAt(const Promise& promise, const RedisEpoch& epoch);

/// A look at a Redis: rows that only it keeps were read in the store first, and then it was asked.
struct RedisLook {
  std::int64_t epoch = 0;
  std::int64_t read_ms = 0;   ///< the store's time of the reading
  std::int64_t redis_ms = 0;  ///< the Redis's time of its answer
};

/// Whether what a look said counts now, in the transaction that would give seats on. Its clock must be
/// the one that it was: a jump that would make the testimony early is seen here, compared with the
/// store's time of before the look, so that no pause can hide it; one below the tolerance lies inside
/// of the margin.
bool Counts(const RedisLook& look, const RedisEpoch& epoch, std::int64_t now_ms,
            std::int64_t tolerance_ms);
/// And whether it counts for this row: nobody has touched it since it was read.
bool CountsFor(const Promise& read, const Promise& now);

}  // namespace tenure::seats
