#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "leases/lease.hpp"

namespace tenure::sim {

/// When a transaction happened, by the clocks themselves: what the store should have gone by, and
/// what the holders go by. Taken once the transaction had the write lock, not from its answers.
struct Instant {
  std::int64_t store_ms = 0;
  std::int64_t boot_ms = 0;
};

/// Takes what was found to be wrong.
using Complain = std::function<void(const std::string&)>;

/// The history of one lease name as its committed answers tell it, and the judge of L1, L2 and L4.
/// It shares no code with the rules that it checks: it knows only what the contract promises.
///
///  L1: no new grant before the deadline that any answer promised to the one before, unless that
///      one was released, or broken with force.
///  L2: every new grant has a higher fence than all before it.
///  L4: renewals, releases and writes succeed for the live grant's own term and fence and for
///      nobody else; a term that is over gets nothing any more. And the other way round: the live
///      holder is not refused.
///
/// REQUIRES: every committed answer is noted, in the order of the commits.
class LeaseBook {
 public:
  LeaseBook(std::string name, Complain complain)
      : name_(std::move(name)), complain_(std::move(complain)) {}

  /// Returns whether it is a new grant.
  bool Granted(Instant at, const base::Uuid& term, const leases::Grant& grant);
  void NotGranted(Instant at, const base::Uuid& term, const leases::AcquireOutcome& outcome);
  void Renewed(Instant at, const leases::RenewCommand& command,
               const leases::RenewOutcome& outcome);
  /// By a release, or by the end of a task's run.
  void Released(Instant at, const base::Uuid& term, std::optional<std::int64_t> fence,
                bool released);
  void Broken(Instant at, const leases::BreakCommand& command, const leases::BreakOutcome& outcome);
  /// A write under this fence was carried out, or refused.
  void Written(Instant at, std::int64_t fence, bool accepted);

  /// The server noticed that who waited under this term is gone, and released it on its own: from
  /// now on nobody here knows whether it is held.
  void Abandoned(const base::Uuid& term) { doubtful_.insert(term); }

  /// The term of the latest grant unless it was ended; it may be overdue.
  std::optional<base::Uuid> term() const;
  std::int64_t fence() const { return last_fence_; }
  std::int64_t deadline_ms() const { return deadline_ms_; }
  /// When the grant after this one was made, by the holders' clock; empty: there is none yet.
  std::optional<std::int64_t> SupersededAt(std::int64_t fence) const;
  /// Whether the grant ended by force: L3 is waived for it.
  bool WasForced(std::int64_t fence) const { return forced_.contains(fence); }
  std::int64_t grants() const { return static_cast<std::int64_t>(granted_boot_ms_.size()); }

 private:
  bool IsLive(Instant at) const { return term_ && at.store_ms < deadline_ms_; }
  bool IsDoubtful() const { return term_ && doubtful_.contains(*term_); }
  void End();
  void Wrong(const std::string& what) { complain_(name_ + ": " + what); }

  const std::string name_;
  const Complain complain_;
  std::optional<base::Uuid> term_;
  std::int64_t last_fence_ = 0;
  std::int64_t deadline_ms_ = 0;  // the latest that was promised
  bool broken_ = false;
  std::set<base::Uuid> over_;  // terms that must not be granted any more
  std::set<base::Uuid> doubtful_;
  std::set<std::int64_t> forced_;
  std::map<std::int64_t, std::int64_t> granted_boot_ms_;  // by fence
};

/// The history of one reliable task, and the judge of T1: each nominal time is completed at most
/// once, and every grid time is covered by the completion of a run or counted as skipped.
class TaskBook {
 public:
  TaskBook(std::int64_t interval_ms, Complain complain)
      : interval_ms_(interval_ms), complain_(std::move(complain)) {}

  void Claimed(Instant at, const leases::TaskRun& run);
  void Finished(Instant at, std::int64_t fence, bool failed, const leases::FinishOutcome& outcome);

  std::int64_t completed() const { return static_cast<std::int64_t>(completed_.size()); }
  std::int64_t skipped() const { return skipped_; }

 private:
  const std::int64_t interval_ms_;
  const Complain complain_;
  std::map<std::int64_t, std::int64_t> nominal_;  // by fence
  std::set<std::int64_t> completed_;
  std::optional<std::int64_t> next_ms_;  // the nominal time that must be handed out next
  std::int64_t skipped_ = 0;
};

}  // namespace tenure::sim
