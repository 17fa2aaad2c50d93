#pragma once

#include <set>
#include <span>
#include <vector>

#include "jobs/job.hpp"
#include "jobs/probe.hpp"
#include "messages/followers.hpp"

namespace tenure::jobs {

/// What runs of jobs are not over, as it is committed and as this transaction left it: by job.
std::vector<LiveRuns> LoadLive(db::Transaction& tx, const std::vector<base::Uuid>& jobs);

/// The times from the job's next one on that have a run already (Ledger::KnowAhead).
std::set<std::int64_t> LoadAhead(db::Transaction& tx, const JobRow& job);

/// Runs end with their messages, in the same transaction; and the one that waits for a run
/// (`overlap: queue_one`) becomes ready in the transaction that ends it.
///
/// Why none waits for ever. The fire makes a run wait under the job's lock while another run is not
/// over; whoever ends a run does not lock the job (it is a settlement, which waits for nobody, or a
/// user's own transaction, which may stay open for minutes). Both meet at the row of the latest run:
///  (a) The fire has locked it: whoever ends it waits for the fire, and its next statement finds the
///      run that waits.
///  (b) Whoever ends it was first: the fire passes over the row (SKIP LOCKED), and notes that
///      somebody must look at the waiting run soon (`look_ms`).
/// Two who end the last two runs of a job at one instant may each see the other's run as not over.
/// So every run that waits has a time at which a fire looks whether it still has to, whatever else
/// happened: 50 ms after the fire in case (b), else a second, then ever more seldom up to a minute.
///
/// Lock order: messages, runs (all but the ended ones with SKIP LOCKED), and with those that waited
/// their messages, with SKIP LOCKED too: whoever removes the job withdraws such a message first, and
/// then drops its run.
class RunEnds final : public messages::Follower {
 public:
  explicit RunEnds(Probe& probe) : probe_(probe) {}

  void Ended(db::Transaction& tx, std::span<const messages::EndedMessage> ended,
             std::int64_t now_ms, messages::Notifications& notifications) override;
  /// When they were begun is kept for whoever looks at the run.
  void Returned(db::Transaction& tx, std::span<const messages::ReturnedMessage> returned) override;
  void Revived(db::Transaction& tx, const std::vector<base::Uuid>& ids) override;

 private:
  Probe& probe_;
};

}  // namespace tenure::jobs
