#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "db/weight.hpp"
#include "seats/seat.hpp"

namespace tenure::seats {

// What is decided under the lock of one licence, and what it comes to. `tenant` is the asker's
// organisation: of another one's licence nothing is told. An operator with `admin` names none.

/// What a Redis said of seats of a licence that only it keeps (promise.hpp).
struct Testimony {
  struct Dead {
    std::int64_t slot = 0;
    Promise read{};            ///< as the row was before the look
    std::int64_t soft_ms = 0;  ///< until when the Redis had promised it, by its own clock
  };
  RedisLook look{};
  std::int64_t tolerance_ms = 0;
  std::vector<Dead> dead{};

  std::size_t bytes() const { return dead.size() * sizeof(Dead); }
};
using TestimonyPtr = std::shared_ptr<const Testimony>;
inline std::size_t BytesOfTestimony(const TestimonyPtr& testimony) {
  return testimony ? testimony->bytes() : 0;
}

struct AcquireCommand {
  enum class Wait {
    kNo,    ///< one try; a place in the line is kept, none is taken
    kOpen,  ///< stand in line; the request stays open
    kLast,  ///< the same, and the request ends now: the place waits for whoever asks next
  };
  base::Uuid license{};
  std::string tenant{};
  std::string person{};
  std::string machine{};
  std::string address{};
  std::string user_agent{};
  std::string metadata{};
  std::optional<base::Uuid>
      former{};              ///< a holding of this machine that is over, says its successor
  bool former_gone = false;  ///< and no Redis has a record of it
  Wait wait = Wait::kNo;
  base::Uuid new_session{};  ///< of the holding, if there will be one
  base::Uuid new_ticket{};
  std::int64_t received_boot_ms = 0;  ///< when the request came; `waited` counts from here
  TestimonyPtr testimony{};           ///< null: none

  std::size_t bytes() const {
    return db::BytesOf(tenant, person, machine, address, user_agent, metadata) +
           BytesOfTestimony(testimony);
  }
};

struct Grant {
  base::Uuid session{};
  base::Uuid license{};
  std::int64_t fence = 0;
  std::int64_t started_ms = 0;
  std::int64_t expires_ms = 0;
  std::int64_t now_ms = 0;
  std::int64_t used = 0;
  std::int64_t remaining = 0;
  std::int64_t interval_ms = 0;
  std::int64_t waited_ms = 0;  ///< of the request, before this transaction began
  bool resumed = false;        ///< it goes on under a new session id
  bool picked_up = false;      ///< it was offered
  bool former_vouched = false;
};

/// Nothing is to be had now.
struct Full {
  enum class Reason { kFull, kRevoked, kFrozen };
  Reason reason = Reason::kFull;
  base::Uuid license{};
  std::int64_t total = 0;
  std::int64_t retry_ms = 0;  ///< when something may change
  // Its place in the line, if it has one.
  std::optional<base::Uuid> ticket{};
  std::int64_t position = 0;
};
std::string_view ToText(Full::Reason reason);

/// It stands in line.
struct Waiting {
  base::Uuid ticket{};
  base::Uuid license{};
  std::int64_t position = 0;
  std::int64_t expires_ms = 0;  ///< unless somebody asks again before
  std::int64_t look_ms = 0;     ///< in so many milliseconds a deadline passes; for the first one
};

/// Another person has a seat, or a place in the line, under this machine's id.
struct MachineHeld {
  std::int64_t retry_ms = 0;
};

/// The licence is not to be used, whoever asks.
struct Inactive {
  Standing standing = Standing::kRevoked;
  std::int64_t expired_ms = 0;
};
struct NoLicense {};

using AcquireOutcome = std::variant<Grant, Full, Waiting, MachineHeld, Inactive, NoLicense>;

/// Heartbeats that the holdings' rows alone could not answer.
struct HeartbeatCommand {
  base::Uuid license{};
  std::string tenant{};
  std::string person{};
  std::vector<base::Uuid> sessions{};

  std::size_t bytes() const { return db::BytesOf(tenant, person, sessions); }
};
struct Beat {
  std::int64_t beat_ms = 0;
  std::int64_t expires_ms = 0;
  bool revived = false;
  base::Uuid license{};  ///< known where its row was at hand
};
struct Lost {
  EndReason reason = EndReason::kExpired;
  std::int64_t beat_ms = 0;
  std::int64_t ended_ms = 0;
  std::int64_t ttl_ms = 0;  ///< of the licence
};
/// It never existed, is another's, or is older than the log.
struct NoSession {};
/// The store may have forgotten it: it is neither renewed nor lost.
struct Forgotten {
  std::int64_t retry_ms = 0;
};
/// Among others that were: its licence could not be asked, as while somebody else holds its lock. It may
/// be asked for again.
struct Unheard {};
using HeartbeatOutcome = std::variant<Beat, Lost, NoSession, Forgotten, Unheard>;

struct ReleaseCommand {
  base::Uuid license{};  ///< nil: that of the session, which the transaction looks up
  std::string tenant{};
  std::string person{};
  base::Uuid session{};

  std::size_t bytes() const { return db::BytesOf(tenant, person); }
};
struct ReleaseOutcome {
  bool released = false;
  // Of what was released; 0: the seat waits for what a former process may believe.
  std::int64_t slot = 0;
  std::int64_t fence = 0;
  base::Uuid license{};  ///< where it was looked for
};

/// An operator ends a holding.
struct RevokeSeatCommand {
  base::Uuid license{};
  std::string tenant{};  ///< empty: any
  base::Uuid session{};
  std::string reason{};
  bool force = false;
  std::string by{};

  std::size_t bytes() const { return db::BytesOf(tenant, reason, by); }
};
/// A holding as people see it.
struct Holding {
  base::Uuid license{};
  SeatRow row{};
  std::int64_t ended_ms = 0;  ///< 0: it is not over
  std::optional<EndReason> end{};
  std::int64_t now_ms = 0;
  /// Until when a Redis promises it, and its last heartbeat there; 0: none was asked, or does not know.
  std::int64_t redis_ms = 0;
  std::int64_t redis_beat_ms = 0;
};
struct RevokeSeatOutcome {
  std::optional<Holding> holding{};  ///< nothing: there is none
  bool changed = false;
};

struct TicketCommand {
  enum class Kind {
    kSee,   ///< looks, and keeps it alive
    kOpen,  ///< the same; a request waits for it
    kLeave,
  };
  base::Uuid license{};
  std::string tenant{};                 ///< empty: any
  std::optional<std::string> person{};  ///< nothing: an operator, for whom every ticket is there
  base::Uuid ticket{};
  Kind kind = Kind::kSee;

  std::size_t bytes() const { return db::BytesOf(tenant, person); }
};
struct TicketView {
  base::Uuid license{};
  TicketRow row{};
  std::int64_t position = 0;  ///< 0: a seat is offered to it
  std::int64_t offer_ends_ms = 0;
  std::int64_t look_ms = 0;  ///< as Waiting has it
};
struct TicketLeft {};
struct NoTicket {};
using TicketOutcome = std::variant<TicketView, TicketLeft, Inactive, NoTicket>;

/// What an operator changes about a licence; what is not there stays.
struct ChangeCommand {
  base::Uuid license{};
  std::string tenant{};  ///< empty: any
  std::optional<std::int64_t> if_revision{};
  std::optional<std::int64_t> seats{};
  std::optional<bool> suspended{};
  std::optional<std::int64_t> ttl_ms{};
  std::optional<std::int64_t> interval_ms{};
  std::optional<std::int64_t> grace_ms{};
  std::optional<std::int64_t> valid_from_ms{};
  std::optional<std::int64_t> valid_until_ms{};
  std::optional<std::string> name{};
  std::optional<std::string> metadata{};
  std::string reason{};
  std::string by{};

  std::size_t bytes() const { return db::BytesOf(tenant, name, metadata, reason, by); }
};
struct RevokeLicenseCommand {
  base::Uuid license{};
  std::string tenant{};  ///< empty: any
  std::string reason{};
  std::string by{};

  std::size_t bytes() const { return db::BytesOf(tenant, reason, by); }
};
struct RotateKeyCommand {
  base::Uuid license{};
  std::string tenant{};  ///< empty: any
  std::string key_hash{};
  std::string key_hint{};
  std::int64_t overlap_ms = 0;
  std::string by{};

  std::size_t bytes() const { return db::BytesOf(tenant, key_hash, key_hint, by); }
};
struct AdminOutcome {
  enum class Kind {
    kDone,
    kNoLicense,
    kOtherRevision,
    kRevoked,   ///< nothing can be changed about it any more
    kKeyTaken,  ///< by another licence of the organisation
    kRefused,   ///< what it would become makes no sense: `refused` says why
  };
  Kind kind = Kind::kDone;
  LicenseRow license{};
  std::int64_t now_ms = 0;
  std::int64_t offered = 0;
  std::int64_t waiting = 0;
  std::string refused_field{};
  std::string refused{};
  bool changed = false;
};

/// Background work: expiries, offers that ran out, draining.
struct SweepCommand {
  base::Uuid license{};
  TestimonyPtr testimony{};  ///< null: none

  std::size_t bytes() const { return BytesOfTestimony(testimony); }
};
struct SweepOutcome {
  bool more = false;  ///< there is more to do than one transaction should hold
};

/// What this process denied within a while.
struct NoteDenialsCommand {
  base::Uuid license{};
  std::int64_t count = 0;
  std::int64_t machines = 0;
  std::int64_t from_ms = 0;
  std::int64_t to_ms = 0;
};

/// Makes a new base of the log: what stands before it and is older than `before_ms` may go.
struct CheckpointCommand {
  base::Uuid license{};
  std::int64_t before_ms = 0;
};

}  // namespace tenure::seats
