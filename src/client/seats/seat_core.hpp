#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "base/mutex.hpp"
#include "client/seats/acquisition.hpp"
#include "client/seats/seat_server.hpp"
#include "client/seats/state_file.hpp"
#include "tenure/leases/lease.hpp"
#include "tenure/seats/seat_holder.hpp"

namespace tenure::client {

/// One holder: how it gets its seat, and what it does when the seat is lost. Keeping it is the
/// server's business.
///
/// Invariants:
///  (1) At most one acquisition is under way: a second one of the same machine would end the first
///      one's session.
///  (2) A holding that was resumed elsewhere or revoked is not acquired again by itself.
///  (3) The session that is named as the former one is over: either this holder was told so (its
///      `IsHeld` is false), or it stood in the state file, which only one holder at a time has.
///  (4) `IsHeld` reads one number. All holdings of a holder publish there, one after another: the one
///      before is over when the next one is kept.
///
/// Life: `Shutdown` before the last owner lets go; afterwards the server is not touched. Handlers
/// may keep it alive for a moment longer.
/// Threads: any. Lock order: `acquiring_`, `mutex_`, the server's table.
class SeatCore : public std::enable_shared_from_this<SeatCore> {
 public:
  SeatCore(seats::SeatOptions options, seats::SeatEvents events, SeatServer& server,
           std::unique_ptr<StateFile> state_file, std::string machine_id);

  seats::AcquireOutcome Acquire(const std::stop_token& stop);
  seats::Released Close();
  void Shutdown() noexcept;

  bool IsHeld() const noexcept {
    return clock_.NowMs() < validity_->load(std::memory_order_acquire);
  }
  Milliseconds Remaining() const noexcept;
  seats::SeatState state() const;
  std::optional<seats::Seat> seat() const;
  std::optional<seats::SeatLost> loss() const;
  std::stop_token token() const;
  const std::string& machine_id() const { return machine_id_; }

 private:
  class Asking;

  /// REQUIRES: acquiring_ is held.
  seats::AcquireOutcome Ask(const SeatAcquisition::Rules& rules, const std::stop_token& stop);
  /// Empty: by our clock it is over already.
  std::optional<seats::Seat> Keep(const SeatGrant& grant, CallTimes times);
  leases::Events EventsOf(const std::string& session);

  void OnRenewed(const std::string& session);
  void OnFailed(const leases::RenewalFailed& failed, const std::string& session);
  void OnLost(const leases::Lost& lost, const std::string& session);
  template <class Event>
  void Post(const std::function<void(const Event&)>& handler, Event event);

  /// True: a thread will try.
  bool StartAgain();
  void EndAgain();
  void AcquireAgain(const std::stop_token& stop);

  std::string former() const;
  void Remember(const std::string& session);
  void Forget();

  const seats::SeatOptions options_;
  const seats::SeatEvents events_;
  SeatServer& server_;
  const Clock& clock_;
  const std::string machine_id_;
  const std::shared_ptr<Hold::Validity> validity_;

  base::Mutex acquiring_;
  std::unique_ptr<StateFile> state_file_;  // of who holds acquiring_

  mutable base::Mutex mutex_;
  leases::Lease lease_ TENURE_GUARDED_BY(mutex_);
  std::optional<seats::Seat> seat_ TENURE_GUARDED_BY(mutex_);
  std::optional<seats::SeatLost> loss_ TENURE_GUARDED_BY(mutex_);
  std::string former_ TENURE_GUARDED_BY(mutex_);
  bool was_closed_ TENURE_GUARDED_BY(mutex_) = false;
  bool is_at_risk_ TENURE_GUARDED_BY(mutex_) = false;
  // Of acquisitions under way; a new one after each Close.
  std::stop_source closing_ TENURE_GUARDED_BY(mutex_);

  std::atomic<int> callers_{0};  // of Acquire, for whom the thread makes room
  base::Mutex again_mutex_;
  std::thread again_ TENURE_GUARDED_BY(again_mutex_);
  std::stop_source again_stop_ TENURE_GUARDED_BY(again_mutex_);
  bool is_shut_down_ TENURE_GUARDED_BY(again_mutex_) = false;
};

/// A holder on a server that is there already; for tests, which bring one of their own.
std::unique_ptr<seats::SeatHolder> MakeSeatHolder(const seats::SeatOptions& options,
                                                  seats::SeatEvents events,
                                                  std::shared_ptr<SeatServer> server);

}  // namespace tenure::client
