#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "client/address.hpp"
#include "client/failure.hpp"
#include "tenure/seats/seat_holder.hpp"

namespace tenure::client {

using Milliseconds = std::chrono::milliseconds;

/// One question for a seat.
struct SeatRequest {
  std::string license_key{};
  std::string machine_id{};
  std::string user_agent{};
  std::string metadata{};
  std::string former_session{};  ///< of this machine, and over; empty: none is known
  int wait_seconds = 0;
  std::string once{};  ///< its idempotency key
};

/// A seat was given.
struct SeatGrant {
  seats::Seat seat{};
  Milliseconds remaining{};  ///< until the deadline, at the granting statement
  Milliseconds waited{};     ///< inside of the server, before that statement was sent
};
/// The wait is over, and the place in the line is kept for a moment.
struct SeatTicket {
  std::string ticket{};
  std::int64_t position = 0;
};
/// None is to be had now; it may be asked for again.
struct SeatsInUse {
  seats::NoSeat why{};
  std::string ticket{};  ///< of the place that is kept, if there is one
};
/// None is to be had, and asking again does not help.
struct SeatDenied {
  seats::NoSeat why{};
};
using SeatAnswer = std::variant<SeatGrant, SeatTicket, SeatsInUse, SeatDenied>;

/// The answer to a heartbeat.
struct SeatBeat {
  Milliseconds remaining{};
};
struct SeatGone {
  seats::LossReason reason = seats::LossReason::kUnknown;
  std::string detail{};
};
/// The server says neither: a store that was restored may have forgotten it.
struct SeatUnheard {};
using BeatAnswer = std::variant<SeatBeat, SeatGone, SeatUnheard>;

/// A call that came to no outcome, and when the server wants to be asked again.
class SeatCallFailed : public CallFailed {
 public:
  SeatCallFailed(const CallFailed& failed, Milliseconds retry_after)
      : CallFailed(failed), retry_after_(retry_after) {}

  Milliseconds retry_after() const { return retry_after_; }  ///< 0: it did not say

 private:
  Milliseconds retry_after_;
};

/// Who gives seats. Every call throws SeatCallFailed when it comes to no outcome; soon after `stop`
/// was requested, too.
///
/// Threads: any, at once.
class SeatBackend {
 public:
  virtual ~SeatBackend() = default;

  /// Takes up to `timeout` longer than it waits.
  virtual SeatAnswer Acquire(const SeatRequest& request, Milliseconds timeout,
                             const std::stop_token& stop) = 0;
  /// An answer per session, in their order.
  virtual std::vector<BeatAnswer> Beat(std::span<const std::string> sessions, Milliseconds timeout,
                                       const std::stop_token& stop) = 0;
  /// False: it was over.
  virtual bool Release(const std::string& session, Milliseconds timeout,
                       const std::stop_token& stop) = 0;
  virtual void LeaveLine(const std::string& ticket, Milliseconds timeout) = 0;
};

/// A Tenure server.
std::shared_ptr<SeatBackend> MakeHttpSeats(const ServerAddress& address);

/// "resumed_elsewhere", as the server has it.
seats::LossReason ParseSeatLoss(std::string_view text);

}  // namespace tenure::client
