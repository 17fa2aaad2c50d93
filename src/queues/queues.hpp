#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/caller.hpp"
#include "base/clock.hpp"
#include "base/mutex.hpp"
#include "db/idempotency.hpp"
#include "db/method.hpp"
#include "messages/messages.hpp"
#include "queues/accept.hpp"
#include "queues/declare.hpp"
#include "queues/enqueue.hpp"
#include "queues/events.hpp"
#include "queues/letters.hpp"
#include "queues/probe.hpp"
#include "queues/reads.hpp"
#include "queues/report.hpp"
#include "queues/tidy.hpp"
#include "queues/waiters.hpp"
#include "wake/registry.hpp"

namespace tenure::queues {

/// Ordered queues on a store: what routes, push, webhooks and tests call. Every call returns at
/// once; the callback runs on the caller's executor (none: on a lane's thread) when the store has
/// decided.
///
/// Any number of processes may run this on one store: nothing is remembered here but who waits.
class Queues {
  const std::unique_ptr<Probe> probe_;

 public:
  template <class Reply>
  using Callback = base::UniqueFunction<db::Result<Reply>>;

  /// `messages` tells of what others commit, and is where accepts wait. `metrics` null: nobody
  /// counts. `tracer` null: no spans.
  Queues(db::Store& store, wake::Registry& wake, messages::Messages& messages,
         const base::Clock& clock, telemetry::Registry* metrics = nullptr,
         telemetry::Tracer* tracer = nullptr);

  // Owners.

  db::Method<DeclareHandler> Declare;
  db::Method<PauseHandler> Pause;

  // Producers.

  db::Method<SendHandler> Send;
  /// The same under an idempotency key.
  db::Method<db::IdempotentHandler<SendRequest, SendReply>> SendOnce;

  // Consumers.

  /// One try. What users' transactions sent enters before it looks.
  void Accept(AcceptRequest request, base::Caller caller, Callback<AcceptReply> done);
  /// Tries until there is something, or `wait_ms` have passed.
  Waiters::Id AcceptWaiting(AcceptRequest request, std::int64_t wait_ms, base::Caller caller,
                            Callback<AcceptReply> done) {
    return waiters_.Add(std::move(request), wait_ms, std::move(caller), std::move(done));
  }
  /// One item, kReceive: until there is something, the hold is over, or `wait_ms` have passed.
  Waiters::Id ReceiveWaiting(ReportRequest request, std::int64_t wait_ms, base::Caller caller,
                             Callback<ReportReply> done) {
    return waiters_.Add(std::move(request), wait_ms, std::move(caller), std::move(done));
  }
  /// Whoever waited has gone. The callback is dropped.
  void Abandon(Waiters::Id id) { waiters_.Abandon(id); }

  /// Of holders and operators. What a user's transaction has locked is asked again for a moment,
  /// and is then `kContended`.
  /// REQUIRES: all items need the same locks (ReportHandler::LockingOf).
  void Report(ReportRequest request, base::Caller caller, Callback<ReportReply> done);

  /// The same of one act of an operator, under an idempotency key.
  /// REQUIRES: one item.
  void ActOnce(db::IdempotentRequest<ReportRequest> act, base::Caller caller,
               Callback<base::IdempotentReply<ReportReply>> done);

  // Messages once more.

  db::Method<AgainHandler> Again;
  db::Method<db::IdempotentHandler<AgainRequest, AgainReply>> AgainOnce;

  // What the reliable task does.

  db::Write<TidySessions> Tidy;
  db::Sweep<ForgetKeys> ForgetSome;
  db::Sweep<DropDrained> DropSome;
  db::Count<FindDrains> FindQueuesToDrain;
  /// What users' transactions sent to a queue enters it.
  db::Method<DrainHandler> Drain;
  db::Count<CountQueues> Count;

  // Looks.

  db::List<QueueQueues, ReadQueueView> List;
  db::List<QueueConsumers, ReadConsumer> ListConsumers;
  db::List<QueueSessions, ReadSessionView> ListSessions;
  db::List<QueuePeek, ReadPeeked> Peek;
  db::List<QueueLetters, ReadLetter> ListLetters;
  db::List<QueueLetterSums, ReadLetterSum> SumLetters;
  db::Look<FindStates> FindState;
  db::Look<FindOwners> FindOwner;
  db::Look<FindHeldBy> FindHolds;
  db::Look<queues::FindLeft> FindLeft;

  /// Who says what a consumer is handed in place of an event.
  /// REQUIRES: before the first call.
  void ShowEventsBy(EventsPtr events) { events_ = std::move(events); }

  /// Null: nobody counts.
  Probe* probe() const { return probe_.get(); }
  const base::Clock& clock() const { return clock_; }
  const std::string& process() const { return process_; }

 private:
  class Seizing;
  class ActingOnce;

  void Touch(const AcceptRequest& request);

  wake::Registry& wake_;
  const base::Clock& clock_;
  const std::string process_;
  const bool drains_;  // there are users' transactions
  EventsPtr events_;
  db::Look<FindStaged> find_staged_;
  db::Write<TouchQueues> touch_;
  db::Method<AcceptHandler> accept_;
  db::Method<ReportHandler> report_;
  db::Method<ReportHandler> seize_;
  db::Method<db::IdempotentHandler<ReportRequest, ReportReply>> act_once_;
  Waiters waiters_;
  base::Mutex mutex_;
  // By tenant and queue: until when (boot time) it is known that it is asked for.
  std::map<std::pair<std::string, std::string>, std::int64_t> touched_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure::queues
