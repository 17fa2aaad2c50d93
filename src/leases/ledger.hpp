#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "leases/lease.hpp"

namespace tenure::leases {

/// The row of a name.
struct LeaseRow {
  std::int64_t fence = 0;
  std::optional<base::Uuid> term{};
  std::string holder{};
  std::string metadata{};
  std::int64_t ttl_ms = 0;
  std::int64_t granted_ms = 0;
  std::int64_t renewed_ms = 0;
  std::int64_t expires_ms = 0;
  std::int64_t longest_ttl_ms = 0;  ///< that was ever granted
  std::optional<std::string> break_reason{};
  std::int64_t next_ticket = 1;

  friend bool operator==(const LeaseRow&, const LeaseRow&) = default;
};

struct Ticket {
  std::int64_t number = 0;
  base::Uuid term{};
  std::string process{};
  std::int64_t expires_ms = 0;
};

/// What holds for the whole store.
struct Limits {
  std::int64_t incarnation = 1;
  /// Since when names are frozen, that is renewed and not granted (docs/ground.md, Incarnation);
  /// 0: they are not.
  std::int64_t frozen_ms = 0;
  std::int64_t freeze_ms = 0;  ///< for how long at least

  /// Until when a name is frozen: whoever the store has forgotten holds it no longer than for the
  /// longest ttl that it is known for. Tenure's own tasks (tenant '') ask for the same one always,
  /// and so need no least.
  std::int64_t FrozenUntilMs(std::string_view tenant, std::int64_t longest_ttl_ms) const;
};

/// A grant that this transaction ended.
struct EndedGrant {
  std::int64_t fence = 0;
  base::Uuid term{};
  std::string holder{};
  std::int64_t granted_ms = 0;
  std::int64_t ended_ms = 0;
  LossReason reason = LossReason::kReleased;
  std::string detail{};
};

/// What is known of one name inside of a transaction that holds its lock, and what the transaction
/// changes: the pure part of leases, without I/O. Commands on one name are decided one after
/// another on it, and only the net change is applied.
///
/// Why L1 holds: the name's lock is held from before the clock was read until COMMIT, so nobody
/// else grants meanwhile; a grant is made only when the one before has ended or its deadline is not
/// after the store's time. L2: the new fence is larger than the row's, than the floor of removed
/// names and than everything of earlier incarnations, and the row is never deleted without raising
/// the floor. L4: every change by a holder compares the term of the row, and the fence where it was
/// given; a term that is over is found among the ended ones and never granted again.
class Ledger {
 public:
  /// What was read under the name's lock.
  struct Loaded {
    LeaseRow row{};
    std::int64_t floor = 0;  ///< the highest fence of removed names of the tenant
    /// Somebody's transaction checked the fence and is still open: the fence must not move.
    bool guarded = false;
    std::vector<Ticket> tickets{};             ///< ascending by number; the lowest ones
    bool long_line = false;                    ///< there may be more tickets than were loaded
    std::map<base::Uuid, LossReason> ended{};  ///< of the terms that this batch asks about
  };

  Ledger(LeaseKey key, Loaded loaded, const Limits& limits, std::int64_t now_ms,
         std::string process);

  AcquireOutcome Acquire(const AcquireCommand& command);
  RenewOutcome Renew(const RenewCommand& command);
  ReleaseOutcome Release(const ReleaseCommand& command);
  BreakOutcome Break(const BreakCommand& command);

  // What is to be applied.
  const LeaseKey& key() const { return key_; }
  bool changed() const { return changed_; }
  const LeaseRow& row() const { return loaded_.row; }
  /// That the name was ever given, as far as the store knows.
  std::int64_t highest_fence() const { return std::max(loaded_.row.fence, loaded_.floor); }
  const std::vector<EndedGrant>& ended() const { return ended_; }
  const std::vector<Ticket>& placed_tickets() const { return placed_; }
  const std::vector<base::Uuid>& removed_tickets() const { return removed_; }

  /// Whose turn it is now because of this transaction: the process of the lowest live ticket of a
  /// name that became free, or whose line moved.
  std::optional<std::string> NextProcess() const;

  std::int64_t now_ms() const { return now_ms_; }
  bool IsLive() const { return loaded_.row.term && loaded_.row.expires_ms > now_ms_; }

 private:
  const Ticket* LowestLive() const;
  std::optional<HeldByAnother> WhyNot(const AcquireCommand& command) const;
  HeldByAnother Held(HeldReason reason, std::int64_t retry_ms) const;
  Grant GrantOf() const;
  /// From now on for `ttl_ms`.
  void HoldFor(std::int64_t ttl_ms);
  /// Now, but later than the grant: who released it `unless_renewed` can tell.
  std::int64_t RenewalMs() const;
  Grant GrantTo(const AcquireCommand& command);
  void EndGrant(LossReason reason, std::int64_t ended_ms, std::string detail);
  void PlaceTicket(const base::Uuid& term);
  void RemoveTicket(const base::Uuid& term);
  void RemoveDeadTickets();
  /// How a term ended that is not the row's.
  LossReason FateOf(const base::Uuid& term, std::optional<std::int64_t> fence) const;

  LeaseKey key_;
  Loaded loaded_;
  Limits limits_;
  std::int64_t now_ms_;
  std::string process_;

  bool changed_ = false;
  bool line_moved_ = false;
  std::vector<EndedGrant> ended_;
  std::vector<Ticket> placed_;
  std::vector<base::Uuid> removed_;
};

}  // namespace tenure::leases
