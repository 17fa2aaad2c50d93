#pragma once

#include <optional>

#include "base/clock.hpp"
#include "db/idempotency.hpp"
#include "db/method.hpp"
#include "jobs/change.hpp"
#include "jobs/fire.hpp"
#include "jobs/reads.hpp"
#include "jobs/run_ends.hpp"
#include "messages/messages.hpp"
#include "wake/poller.hpp"

namespace tenure::jobs {

std::optional<base::StoredAnswer> JobAnswer(const JobOutcome& outcome);

/// Jobs on a store: what routes, tasks and tests call.
///
/// Any number of processes may run this on one store: nothing is remembered here but the zones.
class Jobs {
  db::Store& store_;
  wake::Registry& wake_;
  messages::Messages& messages_;
  ZoneSource zones_;
  Probe probe_;
  RunEnds run_ends_{probe_};
  const Outbox outbox_;

 public:
  /// REQUIRES: before the first operation on `messages`, which outlive it.
  Jobs(db::Store& store, messages::Messages& messages, wake::Registry& wake,
       const ChangeLimits& limits, telemetry::Registry& metrics,
       std::string zones_folder = calendar::Zones::SystemFolder(),
       telemetry::Tracer* tracer = nullptr)
      : store_(store),
        wake_(wake),
        messages_(messages),
        zones_(std::move(zones_folder)),
        probe_(metrics),
        outbox_{messages.topic_cache(), messages.process(), tracer},
        Change(store, zones_, limits, outbox_, wake, probe_),
        Fire(store, zones_, limits.rules, outbox_, wake, probe_) {
    messages.Follow(run_ends_);
  }

  db::Method<ChangeHandler> Change;
  /// The same under an idempotency key; for what a POST asks for.
  db::Method<db::IdempotentHandler<JobCommand, JobOutcome>> ChangeOnce{
      store_, "jobs.change_once", Change.handler(), JobAnswer, db::LaneName::UserKeys()};

  db::List<QueueJobs, ReadJob> List{store_, "jobs.list"};
  db::List<QueueRuns, ReadRun> ListRuns{store_, "jobs.runs"};
  db::Look<FindFutureJobs> FindFuture{store_, "jobs.future"};
  db::Count<FindFileJobs> FindFromFile{store_, "jobs.from_file"};
  db::Count<CountJobs> Count{store_, "jobs.count"};
  db::Count<FindWatched> Watch{store_, "jobs.watched"};

  /// One bounded batch of background work. The caller repeats while `has_more`.
  db::Method<FireHandler> Fire;
  db::Sweep<ForgetRuns> ForgetSome{store_, "jobs.forget", db::LaneName::OfKey()};

  const ZoneSource& zones() const { return zones_; }
  ZoneSource& zones() { return zones_; }
  Probe& probe() { return probe_; }
  const base::Clock& clock() const { return messages_.clock(); }
  wake::Registry& wake() { return wake_; }
};

/// Fires in time, in every process: at the very moment when the next job is due, when a nearer one
/// is made here, and otherwise every `poll_max_ms`: a job that another process has made is known by
/// then (one that is due sooner is fired by the process that made it).
///
/// Threads: Start and Stop are the owner's; the rest runs on the registry's and the lanes' threads.
class Scheduler final : wake::Poller::Work {
 public:
  Scheduler(Jobs& jobs, std::int64_t poll_max_ms)
      : jobs_(jobs),
        poll_max_ms_(poll_max_ms),
        poller_(jobs.wake(), jobs.clock(), std::string(kLookKey), *this) {}

  void Start() { poller_.PollWithin(0); }
  void Stop() { poller_.Stop(); }

 private:
  void Poll(wake::Poller::Cause cause, base::UniqueFunction<wake::Poller::Next> done) override;

  Jobs& jobs_;
  const std::int64_t poll_max_ms_;
  wake::Poller poller_;
};

}  // namespace tenure::jobs
