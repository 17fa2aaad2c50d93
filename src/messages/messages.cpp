#include "messages/messages.hpp"

#include <utility>

#include "db/submit.hpp"
#include "messages/json.hpp"

namespace tenure::messages {
namespace {

/// Claims share a lane, so that those of one process never look for messages at the same time;
/// reports have the other one.
constexpr std::size_t kClaimLane = 0;
constexpr std::size_t kReportLane = 1;
/// How often it is written down that a topic is asked for.
constexpr std::int64_t kTouchMs = 60'000;

using db::SubmitTo;

/// Of a result the part that the caller asked for.
template <class Reply, class Result, class Callback>
auto Only(Callback done) {
  return [done = std::move(done)](db::Result<Result> result) mutable {
    if (result.ok())
      done(std::move(result.value().reply));
    else
      done(result.fault());
  };
}

/// Under an idempotency key: the lane of keys is the one that may wait for it.
template <class Handler, class Request, class Callback>
void SubmitOnce(db::Store& store, Handler& handler, base::Caller caller, Request request,
                db::OnceKey key, Callback done) {
  const std::size_t hash = std::hash<std::string>()(key.name);
  SubmitTo(store.KeyLane(), handler, std::move(caller), hash,
           db::OnceRequest<Request>{std::move(request), std::move(key)}, std::move(done));
}

bool HasKeys(const EnqueueRequest& request) {
  for (const NewMessage& each : request.messages)
    if (!each.dedup_key.empty()) return true;
  return false;
}

}  // namespace

Messages::Messages(db::Store& store, wake::Registry& wake, std::string process,
                   const base::Clock& clock, telemetry::Registry& metrics, const Options& options)
    : store_(store),
      process_(std::move(process)),
      clock_(clock),
      probe_(metrics),
      directory_(store.engine(), clock),
      enqueue_("messages.enqueue", directory_, process_, wake, probe_),
      enqueue_keyed_("messages.enqueue_keyed", directory_, process_, wake, probe_),
      enqueue_once_("messages.enqueue_once", enqueue_, EnqueueAnswer),
      claim_(directory_, probe_),
      reports_(store, kReportLane, directory_, process_, wake, probe_),
      dead_change_(process_, wake),
      dead_change_once_("messages.dead_change_once", dead_change_, DeadChangeAnswer),
      topic_change_(process_, wake),
      topic_change_once_("messages.topic_change_once", topic_change_, TopicChangeAnswer),
      promote_(process_, wake, probe_),
      reap_(process_, wake, probe_),
      watch_(process_),
      consumers_({
                     .claim =
                         [this](ClaimRequest request, std::vector<base::Fence> fences,
                                Consumers::Callback done) {
                           Claim(std::move(request), {nullptr, std::move(fences)}, std::move(done));
                         },
                     .give_back =
                         [this](ReportRequest request) {
                           Report(std::move(request), nullptr, [](const auto&) {});
                         },
                     .watch =
                         [this](WatchRequest request, Callback<WatchReply> done) {
                           SubmitTo(store_.WriteLane(kReportLane), watch_, nullptr, 0,
                                    std::move(request), std::move(done));
                         },
                     .count = [this](std::int64_t count) { probe_.Waiting(count); },
                     .others_commit = store.engine().name() == "postgres",
                 },
                 wake, clock, options.poll_max_ms),
      clockwork_(
          {
              .promote = [this](Callback<PromoteReply> done) { PromoteSome(std::move(done)); },
              .reap = [this](ReapRequest request,
                             Callback<ReapReply> done) { ReapSome(request, std::move(done)); },
              .watch =
                  [this](WatchRequest request, Callback<WatchReply> done) {
                    SubmitTo(store_.WriteLane(kReportLane), watch_, nullptr, 0, std::move(request),
                             std::move(done));
                  },
              .others_commit = store.engine().name() == "postgres",
          },
          wake, clock, options.poll_max_ms) {}

void Messages::Enqueue(EnqueueRequest request, base::Caller caller, Callback<EnqueueReply> done) {
  const bool keyed = HasKeys(request);
  // A topic stays with its lane, so what one process puts into it is committed in the order in
  // which it came. (Somebody else's may commit in between: directory.hpp, 2.)
  const std::size_t turn = request.messages.empty()
                               ? 0
                               : directory_.TurnOf(request.tenant, request.messages.front().topic);
  SubmitTo(keyed ? store_.KeyLane() : store_.WriteLane(turn), keyed ? enqueue_keyed_ : enqueue_,
           std::move(caller), turn, std::move(request),
           Only<EnqueueReply, EnqueueResult>(std::move(done)));
}

void Messages::EnqueueOnce(EnqueueRequest request, db::OnceKey key, base::Caller caller,
                           Callback<db::OnceReply> done) {
  SubmitOnce(store_, enqueue_once_, std::move(caller), std::move(request), std::move(key),
             std::move(done));
}

void Messages::Claim(ClaimRequest request, base::Caller caller, Callback<ClaimReply> done) {
  Touch(request);
  SubmitTo(store_.WriteLane(kClaimLane), claim_, std::move(caller), 0, std::move(request),
           Only<ClaimReply, ClaimResult>(std::move(done)));
}

Consumers::Id Messages::ClaimWaiting(ClaimRequest request, std::int64_t wait_ms,
                                     base::Caller caller, Callback<ClaimReply> done) {
  return consumers_.Add(std::move(request), wait_ms, std::move(caller), std::move(done));
}

/// Once a minute it is written down that the topic is asked for; by itself, so that no claim waits
/// for a topic's row.
void Messages::Touch(const ClaimRequest& request) {
  TouchRequest touch;
  {
    const std::lock_guard lock(mutex_);
    const std::int64_t now_boot_ms = clock_.BootMs();
    for (const std::string& topic : request.topics) {
      std::int64_t& next = next_touch_[{request.tenant, topic}];
      if (now_boot_ms < next) continue;
      next = now_boot_ms + kTouchMs;
      touch.topics.emplace_back(request.tenant, topic);
    }
    if (next_touch_.size() > 100'000) next_touch_.clear();
  }
  if (touch.topics.empty()) return;
  SubmitTo(store_.WriteLane(kReportLane), touch_, nullptr, 0, std::move(touch), [](const auto&) {});
}

void Messages::Report(ReportRequest request, base::Caller caller, Callback<ReportResult> done) {
  reports_.Submit(std::move(request), std::move(caller), std::move(done));
}

void Messages::Heartbeat(HeartbeatRequest request, Callback<HeartbeatReply> done) {
  SubmitTo(store_.WriteLane(kReportLane), heartbeat_, nullptr, 0, std::move(request),
           std::move(done));
}

void Messages::Started(StartedRequest request, Callback<StartedReply> done) {
  SubmitTo(store_.WriteLane(kReportLane), started_, nullptr, 0, std::move(request),
           std::move(done));
}

void Messages::Find(FindRequest request, base::Caller caller, Callback<FindReply> done) {
  SubmitTo(store_.ReadLane(), find_, std::move(caller), 0, std::move(request), std::move(done));
}

void Messages::ListTopics(TopicsRequest request, base::Caller caller, Callback<TopicsReply> done) {
  SubmitTo(store_.ReadLane(), topics_, std::move(caller), 0, std::move(request), std::move(done));
}

void Messages::ListDead(DeadRequest request, base::Caller caller, Callback<DeadReply> done) {
  SubmitTo(store_.ReadLane(), dead_, std::move(caller), 0, std::move(request), std::move(done));
}

void Messages::Count(Callback<CountsReply> done) {
  SubmitTo(store_.ReadLane(), counts_, nullptr, 0, CountsRequest{}, std::move(done));
}

void Messages::Cancel(CancelRequest request, base::Caller caller, Callback<CancelReply> done) {
  const std::size_t hash = std::hash<base::Uuid>()(request.id);
  SubmitTo(store_.WriteLane(kReportLane), cancel_, std::move(caller), hash, std::move(request),
           std::move(done));
}

void Messages::ChangeDead(DeadChangeRequest request, base::Caller caller,
                          Callback<DeadChangeReply> done) {
  SubmitTo(store_.WriteLane(kReportLane), dead_change_, std::move(caller), 0, std::move(request),
           std::move(done));
}

void Messages::ChangeTopic(TopicChange change, base::Caller caller,
                           Callback<TopicChangeReply> done) {
  const std::size_t turn = directory_.TurnOf(change.tenant, change.name);
  SubmitTo(store_.KeyLane(), topic_change_, std::move(caller), turn, std::move(change),
           std::move(done));
}

void Messages::ChangeDeadOnce(DeadChangeRequest request, db::OnceKey key, base::Caller caller,
                              Callback<db::OnceReply> done) {
  SubmitOnce(store_, dead_change_once_, std::move(caller), std::move(request), std::move(key),
             std::move(done));
}

void Messages::ChangeTopicOnce(TopicChange change, db::OnceKey key, base::Caller caller,
                               Callback<db::OnceReply> done) {
  SubmitOnce(store_, topic_change_once_, std::move(caller), std::move(change), std::move(key),
             std::move(done));
}

void Messages::PromoteSome(Callback<PromoteReply> done) {
  SubmitTo(store_.WriteLane(kReportLane), promote_, nullptr, 0, PromoteRequest{}, std::move(done));
}

void Messages::ReapSome(ReapRequest request, Callback<ReapReply> done) {
  SubmitTo(store_.WriteLane(kReportLane), reap_, nullptr, 0, request, std::move(done));
}

void Messages::TidySome(TidyRequest request, base::Caller caller, Callback<TidyReply> done) {
  SubmitTo(store_.WriteLane(kReportLane), tidy_, std::move(caller), 0, request, std::move(done));
}

void Messages::Stop() {
  clockwork_.Stop();
  consumers_.Stop();
}

}  // namespace tenure::messages
