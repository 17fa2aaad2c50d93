#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "base/uuid.hpp"
#include "seats/log_entry.hpp"
#include "seats/promise.hpp"

/// Licence seats: a licence has so many rows in `seats`, and whoever uses it holds one of them until a
/// deadline. Times are milliseconds of the store's clock.
namespace tenure::seats {

inline constexpr std::int64_t kMaxSeats = 100'000;
inline constexpr std::int64_t kMinTtlMs = 2'000;
inline constexpr std::int64_t kMaxTtlMs = 86'400'000;
inline constexpr std::int64_t kMaxGraceMs = 86'400'000;
inline constexpr std::size_t kMaxMachineBytes = 255;
inline constexpr std::size_t kMaxMetadataBytes = 16 << 10;
inline constexpr std::size_t kMaxUserAgentBytes = 500;
inline constexpr std::int64_t kMaxWaitMs = 30'000;

/// How long a ticket lives whose request is open: its process refreshes it every third of this.
inline constexpr std::int64_t kOpenTicketMs = 3'000;
/// How long a dead ticket keeps its place for one that comes back.
inline constexpr std::int64_t kDeadTicketMs = 60'000;

/// A time that does not come.
inline constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

enum class LicenseState : std::uint8_t { kActive = 0, kSuspended = 1, kRevoked = 2 };

/// What a licence is worth at an instant.
enum class Standing { kActive, kSuspended, kRevoked, kExpired, kNotYetValid };
/// As answers have it: "active", "not_yet_valid".
std::string_view ToText(Standing standing);

struct LicenseRow {
  base::Uuid id{};
  std::string tenant{};
  std::string name{};
  LicenseState state = LicenseState::kActive;
  std::int64_t seats = 0;
  std::int64_t ttl_ms = 0;
  std::int64_t interval_ms = 0;  ///< how often its holders are told to send heartbeats
  std::int64_t grace_ms = 0;
  std::int64_t valid_from_ms = 0;   ///< 0: always
  std::int64_t valid_until_ms = 0;  ///< 0: for ever
  std::string metadata{};           ///< a JSON object, or empty
  std::string key_hint{};           ///< the last symbols of its latest key
  std::int64_t revision = 1;
  std::int64_t created_ms = 0;
  std::int64_t row_count = 0;  ///< of its rows in seats
  std::int64_t held = 0;       ///< those of them that are not open, offers included
  std::int64_t holders = 0;    ///< those of them that are somebody's holding
  std::int64_t peak = 0;       ///< the most holders at once,
  std::int64_t peak_ms = 0;    ///< and when
  std::int64_t last_slot = 0;  ///< the highest one that was ever used
  std::int64_t next_ticket = 1;
  std::int64_t fence = 0;
  std::int64_t last_ms = 0;  ///< of the latest entry of the log that is no expiry
  /// No deadline of a row that is not open lies before it. What gives a row a deadline lowers it, a
  /// scan of the rows computes it anew, heartbeats leave it: while it lies ahead nothing has lapsed.
  std::int64_t look_ms = kNever;
  std::int64_t longest_ms = 0;   ///< the longest ttl and grace that it ever had
  std::int64_t born = 1;         ///< the store's incarnation when it was made
  std::int64_t incarnation = 1;  ///< the same when it was changed last
  std::int64_t log_seq = 0;
  std::string log_hash = std::string(32, '\0');  ///< of its log's last entry: 32 bytes
  std::int64_t log_base = 1;                     ///< the first entry that is still there

  Standing StandingAt(std::int64_t now_ms) const;
  /// What a holder is told who is granted or renewed now.
  std::int64_t DeadlineFrom(std::int64_t now_ms) const;

  friend bool operator==(const LicenseRow&, const LicenseRow&) = default;
};

/// One seat. What it is at an instant follows from its columns:
///   free     open, without a session;
///   lapsed   open with a session: its deadline has passed, and nobody has taken it;
///   held     not open, with a session;
///   offered  not open, with a ticket;
///   kept     not open, neither: it was released while a former process of its machine may believe
///            until `prior_ms` that it has it. Nobody else gets it before.
struct SeatRow {
  std::int64_t slot = 0;
  bool open = true;
  std::int64_t lapsed_ms = 0;  ///< of an open one: since when; 0: it is free
  std::optional<base::Uuid> session{};
  std::optional<std::string> machine{};
  std::string person{};
  std::int64_t fence = 0;
  std::int64_t started_ms = 0;
  std::int64_t beat_ms = 0;
  std::int64_t expires_ms = 0;  ///< the deadline that was told; of an offer its end
  std::int64_t prior_ms = 0;
  bool revoked = false;
  std::optional<base::Uuid> ticket{};
  std::string address{};
  std::string user_agent{};
  std::string metadata{};
  // What a Redis may have promised (promise.hpp).
  std::int64_t horizon_ms = 0;
  std::int64_t epoch = 0;

  Promise promise() const { return {fence, expires_ms, horizon_ms, epoch}; }
  bool is_free() const { return open && !session; }
  bool is_lapsed() const { return open && session; }
  bool is_held() const { return !open && session; }
  bool is_offered() const { return !open && ticket; }
  bool is_kept() const { return !open && !session && !ticket; }

  friend bool operator==(const SeatRow&, const SeatRow&) = default;
};

/// A place in the line.
struct TicketRow {
  std::int64_t number = 0;
  base::Uuid id{};
  std::string machine{};
  std::string person{};
  std::string process{};  ///< where its request waits; empty: none is open
  std::int64_t expires_ms = 0;
  std::optional<std::int64_t> slot{};  ///< that is offered to it
  std::int64_t placed_ms = 0;

  bool IsWaitingAt(std::int64_t now_ms) const { return !slot && expires_ms > now_ms; }

  friend bool operator==(const TicketRow&, const TicketRow&) = default;
};

/// Why a holding is over.
enum class EndReason {
  kExpired,
  kReleased,
  kResumedElsewhere,
  kRevoked,
  kLicenseSuspended,
  kLicenseRevoked,
  kLicenseExpired,
};
std::string_view ToText(EndReason reason);

/// How a holding ended that has no row any more, as the log tells it.
struct Ended {
  EndReason reason = EndReason::kExpired;
  std::int64_t ended_ms = 0;
  std::int64_t beat_ms = 0;  ///< its last heartbeat; 0: the log does not tell
  std::string person{};
};

/// What holds for the whole store.
struct Limits {
  std::int64_t incarnation = 1;
  std::int64_t frozen_ms = 0;  ///< since when licences are frozen (docs/ground.md); 0: they are not
  std::int64_t freeze_ms = 0;  ///< for how long at least
  RedisEpoch redis{};          ///< which Redis keeps heartbeats

  /// Until when nothing of this licence is granted, offered or revived: whoever the store has
  /// forgotten believes in its seat no longer than for the longest ttl and grace that the licence ever
  /// had, and that begins later where a Redis promises for the store. A licence that was made since has nobody who was forgotten.
  std::int64_t FrozenUntilMs(const LicenseRow& license) const;
};

/// What settings say.
struct Rules {
  std::int64_t offer_ms = 15'000;
  std::int64_t ticket_ms = 10'000;
  std::int64_t line_max = 1'000;
};

/// Under which key the request that waits for a seat of a licence for this machine is woken; also the
/// payload of its notification.
std::string WakeKey(const base::Uuid& license, std::string_view machine);
/// Signalled when something may have happened of which nobody told: those who wait look again.
inline constexpr const char* kRecheckKey = "seats";

}  // namespace tenure::seats
