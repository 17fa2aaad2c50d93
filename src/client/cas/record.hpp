#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tenure/leases/types.hpp"

namespace tenure::client {

/// A lease as one record of a store that has compare-and-swap, a stamp of each write, and nothing
/// that is conditional on the time (a blob, a document). There is no deadline in it: the deadline
/// is the store's stamp of the last write plus the ttl.
struct CasRecord {
  std::int64_t fence = 0;
  std::string term{};  ///< as holder and metadata: of the last grant, kept after its end
  std::string holder{};
  std::string metadata{};
  std::int64_t ttl_ms = 0;
  std::int64_t granted_ms = 0;
  leases::LeaseState state = leases::LeaseState::kFree;
  std::string reason{};                   ///< of a break
  std::int64_t free_at_s = 0;             ///< of a break: not before this by the store's clock…
  std::int64_t drain_ms = 0;              ///< …and not before the stamp of the break plus this
  std::vector<leases::PastGrant> past{};  ///< newest first, at most kPastGrants
};
inline constexpr std::size_t kPastGrants = 8;

/// What a read brought, all of it from one reply.
struct CasSight {
  std::optional<CasRecord> record{};  ///< empty: there is none
  std::int64_t stamp_s = 0;           ///< the store's, of the record's last write
  std::int64_t now_s = 0;             ///< the store's, of the reply
};

/// The rules by which a record changes: pure, without I/O, memory or a clock of ours.
///
///  R1 A grant is over when `now - stamp >= ttl + 1 s + skew`. Both stamps are cut to whole seconds:
///     the write was before stamp + 1 s, and now is not before its stamp, so at least ttl has
///     passed. `skew` bounds what the service's machines that stamp differ by.
///  R2 A takeover is a write that is conditional on the version that was judged, or on there being
///     none. "Over" stays true while the version stays, so judging before the write is as good as
///     judging in it.
///  R3 A renewal is one write on the version of the session's own last write, without a read. Where
///     that version is gone, a read tells whose write it was: with fence and term still ours and
///     the grant not over, it is written again; a lost reply is no loss.
///  R4 A session whose own clock says that the ttl has passed since its last write was sent reads
///     first.
///  R5 A record is never deleted; the fence is max(last + 1, the store's time in microseconds).
///  R6 A break moves the stamp, so it writes down when the old deadline would have been.
///
/// Why it holds. L1, L2: the store orders the writes of one record, and each takeover replaces
/// exactly the version that it judged. L3: the holder stops at its send + 0.9 ttl, the stamp is of
/// after the send, and others wait for stamp + ttl + 1 s + skew.
class CasRules {
 public:
  explicit CasRules(std::int64_t skew_ms) : skew_ms_(skew_ms) {}

  /// What is to be written, or the outcome without a write.
  using AcquireStep = std::variant<CasRecord, leases::HeldByAnother, leases::TermEnded>;
  AcquireStep Acquire(const CasSight& sight, const leases::AcquireRequest& request) const;
  using RenewStep = std::variant<CasRecord, leases::Loss>;
  RenewStep Renew(const CasSight& sight, const leases::RenewRequest& request) const;
  /// R3, by what the session itself wrote last.
  static CasRecord RenewOwn(CasRecord own, const leases::RenewRequest& request);
  using ReleaseStep = std::variant<CasRecord, leases::ReleaseOutcome>;
  ReleaseStep Release(const CasSight& sight, const leases::ReleaseRequest& request) const;
  /// REQUIRES: there is a record.
  struct BreakStep {
    std::optional<CasRecord> write{};
    leases::BreakOutcome outcome{};
  };
  BreakStep Break(const CasSight& sight, const leases::BreakRequest& request) const;

  /// What a write that the store took means to who wrote it.
  static leases::Grant GrantOf(const std::string& name, const CasRecord& written,
                               std::int64_t stamp_s);
  leases::LeaseView ViewOf(const std::string& name, const CasSight& sight) const;

 private:
  /// From when on, by the store's clock, the record's grant is over.
  std::int64_t OverAtMs(const CasRecord& record, std::int64_t stamp_s) const;
  /// The record as it is now: a grant whose time is over has ended.
  CasRecord Settled(const CasSight& sight) const;

  std::int64_t skew_ms_;
};

}  // namespace tenure::client
