#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tenure/clock.hpp"
#include "tenure/leases/lease.hpp"
#include "tenure/leases/options.hpp"

namespace tenure::client {

using Milliseconds = std::chrono::milliseconds;

/// One call to the provider, by the holder's own clock.
struct CallTimes {
  std::int64_t sent_ms = 0;      ///< read before the request went out
  std::int64_t received_ms = 0;  ///< read after its answer came in
};

/// The judgement of one held lease: until when it may be trusted, when to renew it next, and what a
/// renewal's answer means. Pure: no I/O, no thread, no clock. The library's threads drive it, and
/// so does the simulation.
///
/// Invariants:
///  (1) valid_until <= send + 0.9 x waited + remaining - margin of some answer that granted. The
///      store's statement ran after the request was sent, so its deadline is at least the margin
///      later, as long as its clock gains less than the margin on ours (L3). How long the answer
///      took plays no part: a slow success does not extend trust.
///  (2) The ttl is the first grant's for ever. An answer that promises more is believed only up to
///      the ttl.
///  (3) valid_until never goes back while the lease is held, and the lease is over from valid_until
///      on, whether or not anybody noticed: an answer received later changes nothing. The
///      lease may then still be live in the store; the holder was told to stop and stays told.
///  (4) Lost and Released are final, and each lease reaches at most one of them. `Lose`, `Expire`
///      and `Release` return true for the call that ended it.
///  (5) While a lease is held and renews by itself, either a try is under way or the next one is
///      planned, unless it could not begin before valid_until any more. Tries end with the
///      validity, not after a count.
///
/// REQUIRES: options passed CheckOptions. Times passed in never go back.
class Keeper {
 public:
  Keeper(const leases::Grant& grant, CallTimes times, const leases::LeaseOptions& options,
         std::uint64_t seed);

  enum class Answer {
    kExtended,  ///< the deadline was restarted
    kTooSlow,   ///< it took so long that it gives nothing; counts as a failed try
    kIgnored,   ///< the lease was over before it came
  };

  /// A try goes out. False, and nothing is begun: it is over, or none is due.
  bool BeginRenewal(std::int64_t now_ms);
  /// The answers to a try (also to one that the user asked for, beside those that are planned).
  Answer Renewed(const leases::Grant& grant, CallTimes times);
  /// `retry_after`: the store asks for a pause. It is kept as far as a try still fits behind it.
  void Failed(std::int64_t now_ms, Milliseconds retry_after = Milliseconds(0));
  /// The store said that the grant is over.
  bool Lose(leases::LossReason verdict, std::int64_t now_ms);

  /// The local deadline has passed.
  bool Expire(std::int64_t now_ms);
  /// By its holder. Renewals end; the call to the store comes after this.
  bool Release(std::int64_t now_ms);

  /// Renew as soon as possible: this process did not run for a while.
  void Hasten(std::int64_t now_ms);

  /// Any answer of the store, also about other leases, shows its clock. A gain on ours of more than
  /// half the margin since this lease's last success puts it in jeopardy and renews it at once.
  /// Returns the gain where that happened, else 0.
  std::int64_t ObserveStoreClock(std::int64_t store_now_ms, CallTimes times);

  bool over() const;
  leases::HoldState state() const { return state_; }
  /// From here on the lease must not be trusted. In the past once it is over.
  std::int64_t valid_until_ms() const;
  /// When the next try is to begin; kNever: none is planned.
  std::int64_t next_renewal_ms() const;
  /// From when on a try does no harm if another lease's goes out anyway.
  std::int64_t may_renew_from_ms() const;
  Milliseconds ttl() const { return Milliseconds(ttl_ms_); }
  Milliseconds margin() const { return Milliseconds(margin_ms_); }
  /// When the last request that succeeded was sent (and had waited inside of the provider).
  std::int64_t last_success_ms() const { return anchor_ms_; }
  int failures() const { return failures_; }  ///< since the last success
  /// The verdict; empty unless the store gave one.
  std::optional<leases::LossReason> verdict() const { return verdict_; }
  /// The store's gain that the last success showed, if it was too much; else 0.
  std::int64_t clock_gain_ms() const { return clock_gain_ms_; }

 private:
  bool End(leases::HoldState state, std::int64_t now_ms);
  void TrustFrom(const leases::Grant& grant, CallTimes times);
  std::int64_t TrustedUntil(const leases::Grant& grant, CallTimes times) const;
  std::int64_t GainSinceSuccess(std::int64_t store_now_ms, CallTimes times) const;
  void PlanRenewal(std::int64_t remaining_ms);
  void PlanRetry(std::int64_t now_ms, Milliseconds retry_after = Milliseconds(0));
  /// `ms`, less up to `jitter` of it.
  std::int64_t Jittered(std::int64_t ms);
  std::int64_t LongestPause() const;

  std::int64_t ttl_ms_;
  std::int64_t margin_ms_;
  double renew_at_;
  double jitter_;
  std::int64_t backoff_ms_;
  bool auto_renew_;
  std::uint64_t random_;

  leases::HoldState state_ = leases::HoldState::kHeld;
  std::optional<leases::LossReason> verdict_;
  std::int64_t anchor_ms_ = 0;
  std::int64_t valid_until_ms_ = 0;
  std::int64_t next_ms_ = kNever;
  std::int64_t from_ms_ = kNever;
  bool under_way_ = false;
  int failures_ = 0;

  /// The most by which the store's clock can have been ahead of ours at the last success.
  std::optional<std::int64_t> store_ahead_ms_;
  std::int64_t clock_gain_ms_ = 0;
};

/// max(ttl x (1 - threshold), 5 ms), rounded up.
Milliseconds MarginOf(Milliseconds ttl, double safety_threshold);

/// How long a try to renew a lease of this ttl may take: an eighth of it, at least 50 ms.
Milliseconds RenewalTimeout(Milliseconds ttl);

/// Throws std::invalid_argument that names the number that cannot work.
void CheckOptions(const leases::LeaseOptions& options);
/// The same, and for a name that no lease can have.
void CheckLease(const std::string& name, const leases::LeaseOptions& options);

}  // namespace tenure::client
