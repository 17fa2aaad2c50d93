#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/clock.hpp"
#include "base/mutex.hpp"
#include "db/idempotency.hpp"
#include "db/method.hpp"
#include "messages/claim/claim.hpp"
#include "messages/dead_groups.hpp"
#include "messages/dead_letters.hpp"
#include "messages/enqueue/enqueue.hpp"
#include "messages/enqueue/sort.hpp"
#include "messages/followers.hpp"
#include "messages/hold/heartbeat.hpp"
#include "messages/hold/reap.hpp"
#include "messages/http/json.hpp"
#include "messages/probe.hpp"
#include "messages/reads.hpp"
#include "messages/settle/settler.hpp"
#include "messages/topics/topics.hpp"
#include "messages/topics/unused_topics.hpp"
#include "messages/waiting/consumers.hpp"
#include "messages/waiting/notifications.hpp"
#include "messages/waiting/scheduler.hpp"
#include "messages/waiting/timers.hpp"
#include "wake/registry.hpp"

namespace tenure::messages {

struct TidyRequest {
  std::int64_t redriven_ms = 90LL * 24 * 3'600'000;  ///< how long a redriven dead letter is kept
};
/// One bounded batch of forgetting: finished messages, dedup keys, redriven dead letters, owners
/// and waiters of long ago.
db::Swept Tidy(db::Transaction& tx, const TidyRequest& request, std::int64_t now_ms);

struct Options {
  std::int64_t poll_max_ms = 1'000;  ///< how seldom those who wait look by themselves
  bool show_topics = false;          ///< in the operators' metrics
};

/// Messages on a store: what routes, workers, other capabilities and tests call.
///
/// Any number of processes may run this on one store: nothing is remembered here but who waits, and
/// what saves work (topic_cache.hpp).
class Messages {
  db::Store& store_;
  wake::Registry& wake_;
  const std::string process_;
  const base::Clock& clock_;
  Probe probe_;
  TopicCache topic_cache_;
  FollowerSlot followers_;
  db::Method<EnqueueHandler> enqueue_{
      store_, "messages.enqueue", db::LaneName::OfKey(), topic_cache_, process_, wake_, probe_};
  db::Method<EnqueueHandler> enqueue_keyed_{
      store_, "messages.enqueue_keyed", db::LaneName::UserKeys(), topic_cache_, process_, wake_,
      probe_};
  db::Method<ClaimHandler> claim_{store_, topic_cache_, probe_};
  Settler settler_{store_, topic_cache_, process_, wake_, followers_, probe_};
  db::Write<TouchTopics> touch_{store_, "messages.touch", kSettleLane};
  template <class Request, class Reply>
  using Once = db::Method<db::IdempotentHandler<Request, Reply>>;

 public:
  template <class Reply>
  using Callback = base::UniqueFunction<db::Result<Reply>>;

  /// `process` names this process among those of the store ("host:pid:random").
  Messages(db::Store& store, wake::Registry& wake, std::string process, const base::Clock& clock,
           telemetry::Registry& metrics, const Options& options = {});

  void Enqueue(EnqueueRequest request, base::Caller caller, Callback<EnqueueReply> done);
  /// The same under an idempotency key.
  Once<EnqueueRequest, EnqueueReply> EnqueueOnce{
      store_, "messages.enqueue_once", enqueue_.handler(), EnqueueAnswer, db::LaneName::UserKeys()};

  /// One try.
  void Claim(ClaimRequest request, base::Caller caller, Callback<ClaimReply> done);
  /// Tries until there is something, or `wait_ms` have passed.
  Consumers::Id ClaimWaiting(ClaimRequest request, std::int64_t wait_ms, base::Caller caller,
                             Callback<ClaimReply> done) {
    return consumers_.Add(std::move(request), wait_ms, std::move(caller), std::move(done));
  }
  /// Whoever waited has gone. The callback is dropped.
  void Abandon(Consumers::Id id) { consumers_.Abandon(id); }
  /// Where claims wait, for what else is waited for in the same way (ordered queues).
  Consumers& consumers() { return consumers_; }

  void Settle(SettleRequest request, base::Caller caller, Callback<SettleResult> done) {
    settler_.Submit(std::move(request), std::move(caller), std::move(done));
  }
  db::Write<BeatWorkers> Heartbeat{store_, "messages.heartbeat", kSettleLane};
  db::Write<MarkStarted> Started{store_, "messages.started", kSettleLane};

  db::Look<FindMessages> Find{store_, "messages.find"};
  db::Look<ListMessages> List{store_, "messages.list"};
  db::List<QueueTopics, ReadTopicView> ListTopics{store_, "messages.topics"};
  db::Look<messages::FindTopics> FindTopics{store_, "messages.find_topics"};
  db::List<QueueDead, ReadDeadLetter> ListDead{store_, "messages.dead"};
  db::Look<GroupDeadLetters> GroupDead{store_, "messages.dead_groups"};
  db::Count<CountMessages> Count{store_, "messages.counts"};

  db::Method<CancelHandler> Cancel{store_};
  db::Method<DeadChangeHandler> ChangeDead{store_, process_, wake_, followers_};
  db::Method<TopicChangeHandler> ChangeTopic{store_, process_, wake_};
  /// The same under an idempotency key.
  Once<DeadChangeRequest, DeadChangeReply> ChangeDeadOnce{store_, "messages.dead_change_once",
                                                          ChangeDead.handler(), DeadChangeAnswer,
                                                          db::LaneName::UserKeys()};
  Once<TopicChange, TopicChangeReply> ChangeTopicOnce{store_, "messages.topic_change_once",
                                                      ChangeTopic.handler(), TopicChangeAnswer,
                                                      db::LaneName::UserKeys()};

  /// Says what this process wants to be told of, or looks who is under way.
  db::Method<WatchHandler> Watch{store_, process_};

  // One bounded batch of background work. The caller repeats while `has_more`.
  db::Method<PromoteHandler> PromoteSome{store_, process_, wake_, probe_};
  db::Method<SortHandler> SortSome{store_, process_, wake_};  ///< PostgreSQL only
  db::Method<ReapHandler> ReapSome{store_, process_, wake_, followers_, probe_};
  db::Sweep<Tidy> TidySome{store_, "messages.tidy", kSettleLane};
  db::Sweep<SweepUnusedTopics> ForgetTopics{store_, "messages.forget_topics", kSettleLane};

  /// Promotes and reaps from now on, by the registry's timers.
  void StartScheduler() { scheduler_.Start(); }
  bool HasScheduler() const { return scheduler_.is_running(); }
  /// Answers everybody who waits with kStopping, and promotes and reaps no more.
  void Stop();

  /// For a capability whose messages tell it how they ended (followers.hpp).
  /// REQUIRES: before the first operation, and it outlives the store's lanes.
  void Follow(Follower& follower) { followers_.follower = &follower; }
  /// For a capability that enqueues in a transaction of its own (enqueue.hpp).
  TopicCache& topic_cache() { return topic_cache_; }
  Probe& probe() { return probe_; }
  const std::string& process() const { return process_; }
  const base::Clock& clock() const { return clock_; }

 private:
  void Touch(const ClaimRequest& request);

  base::Mutex mutex_;
  std::map<TopicKey, std::int64_t> next_touch_ TENURE_GUARDED_BY(mutex_);  // boot time
  Consumers consumers_;
  Scheduler scheduler_;
};

}  // namespace tenure::messages
