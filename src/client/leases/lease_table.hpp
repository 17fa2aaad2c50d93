#pragma once

#include <condition_variable>
#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/mutex.hpp"
#include "client/leases/handlers.hpp"
#include "client/leases/hold.hpp"
#include "tenure/leases/manager.hpp"

namespace tenure::client {

/// Who is to be looked after when: a time per thing, found by the time. Not thread-safe.
template <class T>
class Agenda {
 public:
  /// kNever takes it off.
  void Set(T* thing, std::int64_t at_ms) {
    Remove(thing);
    if (at_ms == kNever) return;
    by_time_.emplace(at_ms, thing);
    times_.emplace(thing, at_ms);
  }
  void Remove(T* thing) {
    const auto found = times_.find(thing);
    if (found == times_.end()) return;
    by_time_.erase({found->second, thing});
    times_.erase(found);
  }
  std::int64_t NextMs() const { return by_time_.empty() ? kNever : by_time_.begin()->first; }
  /// (time, thing), the soonest first.
  const std::set<std::pair<std::int64_t, T*>>& entries() const { return by_time_; }

 private:
  std::set<std::pair<std::int64_t, T*>> by_time_;
  std::unordered_map<T*, std::int64_t> times_;
};

/// Leases that are renewed together, in one call.
struct Round {
  std::vector<HoldPtr> holds;
  std::vector<leases::RenewRequest> requests;  // one per hold, in their order
  std::int64_t sent_ms = 0;
  Milliseconds timeout{};
};

/// A try to renew that came to nothing.
struct FailedTry {
  std::string error;
  Milliseconds retry_after{0};  ///< the pause that the store asked for
};

/// All leases that a manager keeps, when each is to be renewed and when each will be over. It turns
/// answers of the store into the states of leases and into events; it makes no calls itself.
///
/// Invariants:
///  (1) One mutex guards every keeper. It is never held during a call to the provider, a handler or
///      a stop callback: a hanging renewal, a slow handler or a stuck callback stops nobody else
///      from seeing a state or a deadline.
///  (2) A hold is in the table while it is held and its manager lives. Whoever ends it takes it out
///      in the same critical section, so each loss is queued once, and `TakeLosses` hands it out
///      once.
///  (3) `Held` of a hold is false before its loss is queued.
///
/// Threads: any. Lock order: this mutex, then that of `Handlers`.
class LeaseTable {
 public:
  /// `round_max`: the most leases in one call.
  LeaseTable(const Clock& clock, Handlers& handlers, std::size_t round_max)
      : clock_(clock), handlers_(handlers), round_max_(round_max) {}

  void Add(const HoldPtr& hold);

  // Renewals.
  /// What is due now, and what may come along; empty when nothing is due. `sent_ms` is now.
  Round TakeRound();
  void Answered(const Round& round, const std::vector<leases::RenewOutcome>& outcomes);
  void Failed(const Round& round, const FailedTry& failure);
  /// Some were answered; the others failed.
  void AnsweredPartly(const Round& round, const leases::PartlyRenewed::Answers& answers,
                      const FailedTry& failure);
  /// The same for one lease, asked for by the user. True: its deadline was restarted.
  bool Answered(const HoldPtr& hold, const leases::RenewOutcome& outcome, CallTimes times);
  void Failed(const HoldPtr& hold, const FailedTry& failure);
  /// Sleeps until something is due, or `Stop`. False: stopped.
  bool AwaitRenewal();

  // The end of leases.
  /// Takes it out without a loss; false: it was over already.
  bool Release(Hold& hold);
  /// Ends those whose time is over.
  void ExpireOverdue();
  /// Ends this one if its time is over.
  void ExpireIfOverdue(const HoldPtr& hold);
  /// What was lost since the last call: each must be told (stop requested, event posted).
  std::vector<HoldPtr> TakeLosses();

  // The watchdog.
  /// Sleeps until `until_ms`, the next deadline, a loss that must be told, or an `Expect` of
  /// something sooner. Returns for how long the sleep was planned; false: stopped.
  struct Wake {
    bool running = true;
    std::int64_t planned_ms = 0;
  };
  Wake AwaitAlarm(std::int64_t until_ms);
  /// The watchdog should be awake at that time.
  void Expect(std::int64_t at_ms);

  /// After a stall: all are renewed as soon as possible, and hear of it.
  void Hasten(const leases::Stalled& stalled);

  std::int64_t NextMs() const;  ///< the next renewal or deadline
  std::int64_t NextRenewalMs() const;
  /// The shortest ttl that is held, and its margin; 0 when nothing is.
  struct Shortest {
    Milliseconds ttl{};
    Milliseconds margin{};
  };
  Shortest ShortestHeld() const;
  leases::ManagerStats stats() const;
  void CountAcquired();

  /// Reads or writes what is guarded of a hold.
  template <class F>
  auto With(const F& look) const {
    const base::Lock lock(mutex_);
    return look();
  }

  /// Nobody is kept any more: returns who was. Sleepers wake up and stay awake.
  std::vector<HoldPtr> Stop();

 private:
  bool Apply(const HoldPtr& hold, const leases::RenewOutcome& outcome, CallTimes times)
      TENURE_REQUIRES(mutex_);
  bool ApplyGrant(const HoldPtr& hold, const leases::Grant& grant, CallTimes times)
      TENURE_REQUIRES(mutex_);
  void ApplyFailure(const HoldPtr& hold, const FailedTry& failure, std::int64_t now_ms)
      TENURE_REQUIRES(mutex_);
  void AfterFailure(const HoldPtr& hold, const std::string& error, std::int64_t now_ms)
      TENURE_REQUIRES(mutex_);
  void Expire(std::int64_t now_ms) TENURE_REQUIRES(mutex_);
  void ObserveStoreClock(std::int64_t store_now_ms, CallTimes times) TENURE_REQUIRES(mutex_);
  void QueueLoss(const HoldPtr& hold, std::string detail, std::int64_t now_ms)
      TENURE_REQUIRES(mutex_);
  void Reschedule(Hold& hold) TENURE_REQUIRES(mutex_);
  HoldPtr Remove(Hold& hold) TENURE_REQUIRES(mutex_);
  void Nudge() TENURE_REQUIRES(mutex_);

  const Clock& clock_;
  Handlers& handlers_;
  const std::size_t round_max_;
  mutable base::Mutex mutex_;
  std::condition_variable renewals_changed_;
  std::condition_variable alarm_changed_;
  std::unordered_map<Hold*, HoldPtr> holds_ TENURE_GUARDED_BY(mutex_);
  Agenda<Hold> renewals_ TENURE_GUARDED_BY(mutex_);
  Agenda<Hold> deadlines_ TENURE_GUARDED_BY(mutex_);
  std::multiset<std::pair<Milliseconds, Milliseconds>> ttls_
      TENURE_GUARDED_BY(mutex_);  // (ttl, margin) of all holds
  std::vector<HoldPtr> losses_ TENURE_GUARDED_BY(mutex_);
  std::int64_t planned_ms_ TENURE_GUARDED_BY(mutex_) =
      kNever;  // when the watchdog means to wake up
  bool nudged_ TENURE_GUARDED_BY(mutex_) = false;
  bool stopping_ TENURE_GUARDED_BY(mutex_) = false;
  leases::ManagerStats stats_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure::client
