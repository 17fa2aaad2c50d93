#include "sim/lease_book.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace tenure::sim {

bool LeaseBook::Granted(Instant at, const base::Uuid& term, const leases::Grant& grant) {
  if (grant.now_ms < at.store_ms) Wrong("granted by a time from before the transaction");
  if (grant.fence == last_fence_) {
    if (term_ != term) Wrong(fmt::format("L2: fence {} was granted to two terms", grant.fence));
    // An abandoned question of its own term may have renewed it, and nobody was told.
    if ((!IsLive(at) && !IsDoubtful()) || broken_)
      Wrong("L4: a grant that is over was given again to its term");
    deadline_ms_ = grant.expires_at_ms;
    return false;
  }
  if (grant.fence < last_fence_)
    Wrong(fmt::format("L2: fence {} was granted after {}", grant.fence, last_fence_));
  if (IsLive(at) && !IsDoubtful())
    Wrong(fmt::format("L1: fence {} was granted {} ms before the deadline of {}", grant.fence,
                      deadline_ms_ - at.store_ms, last_fence_));
  if (over_.contains(term)) Wrong("L4: a term that is over was granted again");
  if (term_) End();
  term_ = term;
  last_fence_ = grant.fence;
  deadline_ms_ = grant.expires_at_ms;
  broken_ = false;
  granted_boot_ms_[grant.fence] = at.boot_ms;
  return true;
}

void LeaseBook::NotGranted(Instant at, const base::Uuid& term,
                           const leases::AcquireOutcome& outcome) {
  const bool ended = std::holds_alternative<leases::TermEnded>(outcome);
  if (term_ == term && IsLive(at) && !broken_ && !IsDoubtful())
    Wrong("the live holder's repeated acquisition was refused");
  if (ended && term_ != term && !over_.contains(term) && !doubtful_.contains(term))
    Wrong("a term that was never granted was called over");
}

void LeaseBook::Renewed(Instant at, const leases::RenewCommand& command,
                        const leases::RenewOutcome& outcome) {
  const bool is_holder = term_ == command.term && last_fence_ == command.fence;
  const bool may_renew = is_holder && IsLive(at) && !broken_;
  const auto* grant = std::get_if<leases::Grant>(&outcome);
  if (!grant) {
    if (may_renew && !IsDoubtful()) Wrong("the live holder's renewal was refused");
    return;
  }
  if (!is_holder)
    Wrong(fmt::format("L4: fence {} was renewed by another than its holder", command.fence));
  else if (broken_)
    Wrong("L4: a broken lease was renewed");
  else if (!may_renew && !IsDoubtful())
    Wrong(fmt::format("L4: a lease was renewed {} ms after its end", at.store_ms - deadline_ms_));
  if (grant->now_ms < at.store_ms) Wrong("renewed by a time from before the transaction");
  if (is_holder) deadline_ms_ = grant->expires_at_ms;
}

void LeaseBook::Released(Instant at, const base::Uuid& term, std::optional<std::int64_t> fence,
                         bool released) {
  const bool is_holder = term_ == term && (!fence || *fence == last_fence_);
  const bool may_release = is_holder && IsLive(at);
  if (released ? !may_release : may_release && !IsDoubtful())
    Wrong(released ? "L4: a lease was released by another than its live holder"
                   : "the live holder's release was refused");
  if (released) End();
}

void LeaseBook::Broken(Instant at, const leases::BreakCommand& command,
                       const leases::BreakOutcome& outcome) {
  if (!outcome.broken) return;
  // An abandoned question was granted and not yet given back: nobody was told of that grant.
  if (outcome.fence > last_fence_) return;
  if (!IsLive(at)) Wrong("a lease was broken that nobody held");
  if (command.force) {
    forced_.insert(last_fence_);
    End();
    return;
  }
  broken_ = true;
  if (outcome.free_at_ms < deadline_ms_) Wrong("L1: a break without force shortened a grant");
  deadline_ms_ = outcome.free_at_ms;
}

void LeaseBook::Written(Instant at, std::int64_t fence, bool accepted) {
  const bool may_write = fence == last_fence_ && IsLive(at);
  if (accepted ? may_write : !may_write || IsDoubtful()) return;
  Wrong(accepted
            ? fmt::format("a write under fence {} was accepted at fence {}", fence, last_fence_)
            : "a write of the live holder was refused");
}

std::optional<base::Uuid> LeaseBook::term() const { return term_; }

std::optional<std::int64_t> LeaseBook::SupersededAt(std::int64_t fence) const {
  const auto next = granted_boot_ms_.upper_bound(fence);
  if (next == granted_boot_ms_.end()) return std::nullopt;
  return next->second;
}

void LeaseBook::End() {
  if (term_) over_.insert(*term_);
  term_.reset();
}

void TaskBook::Claimed(Instant at, const leases::TaskRun& run) {
  if (const auto known = nominal_.find(run.lock.fence);
      known != nominal_.end() && known->second != run.nominal_ms)
    complain_("T1: one claim was answered with two nominal times");
  nominal_[run.lock.fence] = run.nominal_ms;
  if (completed_.contains(run.nominal_ms)) complain_("T1: a completed run was handed out again");
  if (at.store_ms < run.nominal_ms) complain_("T1: a run was handed out before its time");
  if (next_ms_ && run.nominal_ms != *next_ms_)
    complain_(fmt::format("T1: the run for {} is due and the one for {} was handed out", *next_ms_,
                          run.nominal_ms));
  if (!next_ms_) next_ms_ = run.nominal_ms;
}

void TaskBook::Finished(Instant at, std::int64_t fence, bool failed,
                        const leases::FinishOutcome& outcome) {
  if (!outcome.accepted || failed) return;
  const auto claimed = nominal_.find(fence);
  if (claimed == nominal_.end()) return complain_("T1: a run was completed that nobody had");
  if (fence != nominal_.rbegin()->first)
    complain_("T1: a run was completed by a process from which it had been taken over");
  const std::int64_t nominal_ms = claimed->second;
  if (!completed_.insert(nominal_ms).second)
    complain_("T1: a nominal time was completed a second time");
  const std::int64_t last_grid_ms = at.store_ms - at.store_ms % interval_ms_;
  skipped_ += std::max<std::int64_t>(0, (last_grid_ms - nominal_ms) / interval_ms_);
  next_ms_ = last_grid_ms + interval_ms_;
  if (outcome.next_ms != *next_ms_) complain_("T1: the next run is not the next grid time");
}

}  // namespace tenure::sim
