#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>

#include "tenure/seats/errors.hpp"
#include "tenure/seats/options.hpp"

namespace tenure::seats {

enum class SeatState {
  kNone,      ///< nothing was acquired yet
  kOk,        ///< held
  kAtRisk,    ///< held; a heartbeat failed
  kLost,      ///< not held any more
  kReleased,  ///< by `Close`
};
std::string_view ToText(SeatState state);

/// Why the server ended a holding.
enum class LossReason {
  kExpired,           ///< no heartbeat arrived in time, and somebody else may have the seat
  kReleased,          ///< somebody released it in this holder's name
  kResumedElsewhere,  ///< a machine with the same id took it over
  kRevoked,           ///< by an operator
  kLicenseSuspended,
  kLicenseRevoked,
  kLicenseExpired,
  kUnknown,  ///< the server does not know it (any more)
};
std::string_view ToText(LossReason reason);

/// What is held. Times are milliseconds since 1970 by the server's clock, for people.
struct Seat {
  std::string session_id{};
  std::string license_id{};
  std::int64_t fence = 0;  ///< rises with every holding of the licence, for ever
  std::string machine_id{};
  std::int64_t started_at_ms = 0;
  std::int64_t expires_at_ms = 0;    ///< unless heartbeats arrive
  std::int64_t seats_used = 0;       ///< of the licence, when it was given
  std::int64_t seats_remaining = 0;  ///< the same
  bool resumed = false;              ///< this machine had it, under another session
};

/// Why there is no seat.
struct NoSeat {
  enum class Reason {
    kInUse,        ///< all are taken, for as long as we were willing to wait
    kRevoked,      ///< an operator revoked this machine's seat; until its deadline
    kFrozen,       ///< the server's store was restored; nothing is given for a while
    kMachineHeld,  ///< another person has a seat under this machine id
    kExpired,      ///< the licence
    kNotFound,     ///< the licence: unknown, suspended, revoked or not begun
    kStopped,      ///< the caller's stop token was requested, or `Close` called
    kRefused,      ///< for another reason: `detail`
  };
  Reason reason = Reason::kInUse;
  std::string detail{};          ///< the server's words
  std::int64_t seats_total = 0;  ///< of kInUse
  std::int64_t position = 0;     ///< in the line, when we stood in it last
  Milliseconds retry_after{};    ///< when asking again may help; 0: not known
};
std::string_view ToText(NoSeat::Reason reason);

using AcquireOutcome = std::variant<Seat, NoSeat>;

struct AtRisk {
  std::string session_id{};
  std::string error{};
  Milliseconds valid_for{};  ///< what is left
  int attempt = 1;           ///< since the last success
};
struct SeatLost {
  std::string session_id{};
  std::int64_t fence = 0;
  /// What the server said; empty when nothing was heard in time and the local deadline passed.
  std::optional<LossReason> verdict{};
  std::string detail{};
  Milliseconds since_last_success{};
  bool is_acquired_again = false;  ///< whether the holder tries now; `acquired` or `denied` follow
};
struct InLine {
  std::int64_t position = 0;  ///< in the line; 1: the next one
};

/// What a holder may listen to. Handlers run one after another on a thread of their own, which all
/// holders of one server share: a slow or throwing one delays other handlers, never a heartbeat.
struct SeatEvents {
  std::function<void(const Seat&)> acquired{};  ///< also when it is acquired again
  std::function<void(const Seat&)> ok{};        ///< a heartbeat arrived after one had failed
  std::function<void(const AtRisk&)> at_risk{};
  std::function<void(const SeatLost&)> lost{};
  std::function<void(const NoSeat&)> denied{};  ///< what was lost cannot be acquired again
  std::function<void(const InLine&)> waiting{};
};

/// How a release ended.
struct Released {
  bool released = false;                  ///< by this call
  std::optional<LossReason> reason = {};  ///< when not: how it had ended; empty: nothing was held
};

/// Holds one seat of a licence for this machine: acquires it, sends heartbeats, says when it is
/// lost.
///
///   tenure::seats::SeatHolder holder({.server = url, .license_key = key, .application = "cad"});
///   auto outcome = holder.Acquire();
///   if (!std::holds_alternative<tenure::seats::Seat>(outcome)) return Refuse();
///   while (holder.IsHeld()) Work();
///
/// `IsHeld` compares the clock with a local deadline, counted from before the last request that
/// succeeded was sent, on a clock that goes on while the machine sleeps. It lies before the server's
/// by a tenth: what two machines believe never adds up to more seats than were sold. Without a
/// connection the seat is held until that deadline.
///
/// All holders of a process that use one server share threads and connections, and their heartbeats
/// go out together.
///
/// Life: the destructor releases in the background (for the last holder of a server it waits for
/// the answer, no longer than one request may take). After `fork` a holder of the parent's is inert
/// in the child: it holds nothing, sends nothing and releases nothing.
/// Threads: any; the destructor must not be called by a handler or a stop callback.
class SeatHolder {
 public:
  /// Throws std::invalid_argument, StateFileError. Asks nothing yet.
  explicit SeatHolder(const SeatOptions& options, SeatEvents events = {});
  ~SeatHolder();
  SeatHolder(const SeatHolder&) = delete;
  SeatHolder& operator=(const SeatHolder&) = delete;

  /// Returns what is held already, or acquires; stands in line for `wait`. Throws Unavailable when
  /// the server cannot be reached (for as long as `wait`), AccessDenied, std::invalid_argument.
  AcquireOutcome Acquire(const std::stop_token& stop = {});

  /// No I/O, no lock, no allocation.
  bool IsHeld() const noexcept;
  /// What is left of the validity; 0 when nothing is held.
  Milliseconds Remaining() const noexcept;
  SeatState state() const;
  /// What is or was held last.
  std::optional<Seat> seat() const;
  /// How it was lost, once it was.
  std::optional<SeatLost> loss() const;
  const std::string& machine_id() const;

  /// Requested at the moment of the loss (or release) of what is held now. Its callbacks run on the
  /// thread that watches deadlines: let them be short.
  std::stop_token token() const;

  /// Releases and waits for the answer; a holder that acquires anew stops doing so. Afterwards
  /// `Acquire` may be called again. Throws Unavailable (the seat then ends by itself).
  Released Close();

  class Impl;
  explicit SeatHolder(std::shared_ptr<Impl> impl);  ///< for the library itself

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace tenure::seats
