#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/caller.hpp"
#include "base/clock.hpp"
#include "db/once.hpp"
#include "db/store.hpp"
#include "messages/admin.hpp"
#include "messages/claim.hpp"
#include "messages/clockwork.hpp"
#include "messages/consumers.hpp"
#include "messages/enqueue.hpp"
#include "messages/heartbeat.hpp"
#include "messages/look.hpp"
#include "messages/probe.hpp"
#include "messages/reports.hpp"
#include "messages/upkeep.hpp"
#include "messages/watch.hpp"
#include "wake/registry.hpp"

namespace tenure::messages {

struct Options {
  std::int64_t poll_max_ms = 1'000;  ///< how seldom those who wait look by themselves
};

/// Messages on a store: what routes, workers, other capabilities and tests call. Every call returns
/// at once; the callback runs on the caller's executor (none: on a lane's thread) when the store
/// has decided.
///
/// Any number of processes may run this on one store: nothing is remembered here but who waits, and
/// what saves work (directory.hpp).
class Messages {
 public:
  template <class Reply>
  using Callback = base::UniqueFunction<db::Result<Reply>>;

  /// `process` names this process among those of the store ("host:pid:random").
  Messages(db::Store& store, wake::Registry& wake, std::string process, const base::Clock& clock,
           telemetry::Registry& metrics, const Options& options = {});

  void Enqueue(EnqueueRequest request, base::Caller caller, Callback<EnqueueReply> done);
  /// The same under an idempotency key.
  void EnqueueOnce(EnqueueRequest request, db::OnceKey key, base::Caller caller,
                   Callback<db::OnceReply> done);

  /// One try.
  void Claim(ClaimRequest request, base::Caller caller, Callback<ClaimReply> done);
  /// Tries until there is something, or `wait_ms` have passed.
  Consumers::Id ClaimWaiting(ClaimRequest request, std::int64_t wait_ms, base::Caller caller,
                             Callback<ClaimReply> done);
  /// Whoever waited has gone. The callback is dropped.
  void Abandon(Consumers::Id id) { consumers_.Abandon(id); }

  void Report(ReportRequest request, base::Caller caller, Callback<ReportResult> done);
  void Heartbeat(HeartbeatRequest request, Callback<HeartbeatReply> done);
  void Started(StartedRequest request, Callback<StartedReply> done);

  void Find(FindRequest request, base::Caller caller, Callback<FindReply> done);
  void ListTopics(TopicsRequest request, base::Caller caller, Callback<TopicsReply> done);
  void ListDead(DeadRequest request, base::Caller caller, Callback<DeadReply> done);
  void Count(Callback<CountsReply> done);

  void Cancel(CancelRequest request, base::Caller caller, Callback<CancelReply> done);
  void ChangeDead(DeadChangeRequest request, base::Caller caller, Callback<DeadChangeReply> done);
  void ChangeTopic(TopicChange change, base::Caller caller, Callback<TopicChangeReply> done);
  /// The same under an idempotency key.
  void ChangeDeadOnce(DeadChangeRequest request, db::OnceKey key, base::Caller caller,
                      Callback<db::OnceReply> done);
  void ChangeTopicOnce(TopicChange change, db::OnceKey key, base::Caller caller,
                       Callback<db::OnceReply> done);

  /// One bounded batch of background work. The caller repeats while `has_more`.
  void PromoteSome(Callback<PromoteReply> done);
  void ReapSome(ReapRequest request, Callback<ReapReply> done);
  void TidySome(TidyRequest request, base::Caller caller, Callback<TidyReply> done);

  /// Promotes and reaps from now on, by the registry's timers.
  void StartClockwork() {
    has_clockwork_ = true;
    clockwork_.Start();
  }
  bool HasClockwork() const { return has_clockwork_; }
  /// Answers everybody who waits with kStopping, and promotes and reaps no more.
  void Stop();

  /// For a capability that enqueues in a transaction of its own (enqueue.hpp).
  Directory& directory() { return directory_; }
  Probe& probe() { return probe_; }
  const std::string& process() const { return process_; }
  const base::Clock& clock() const { return clock_; }

 private:
  void Touch(const ClaimRequest& request);

  db::Store& store_;
  const std::string process_;
  const base::Clock& clock_;
  Probe probe_;
  Directory directory_;
  EnqueueHandler enqueue_;
  EnqueueHandler enqueue_keyed_;
  db::OnceHandler<EnqueueRequest, EnqueueResult> enqueue_once_;
  ClaimHandler claim_;
  Reports reports_;
  HeartbeatHandler heartbeat_;
  StartedHandler started_;
  FindHandler find_;
  TopicsHandler topics_;
  DeadHandler dead_;
  CountsHandler counts_;
  CancelHandler cancel_;
  DeadChangeHandler dead_change_;
  db::OnceHandler<DeadChangeRequest, DeadChangeReply> dead_change_once_;
  TopicChangeHandler topic_change_;
  db::OnceHandler<TopicChange, TopicChangeReply> topic_change_once_;
  PromoteHandler promote_;
  ReapHandler reap_;
  TidyHandler tidy_;
  TouchHandler touch_;
  WatchHandler watch_;
  std::mutex mutex_;
  std::map<TopicKey, std::int64_t> next_touch_;  // guarded by mutex_; boot time
  Consumers consumers_;
  Clockwork clockwork_;
  std::atomic<bool> has_clockwork_{false};
};

}  // namespace tenure::messages
