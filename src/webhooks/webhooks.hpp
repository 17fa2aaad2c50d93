#pragma once

#include "db/idempotency.hpp"
#include "db/method.hpp"
#include "messages/messages.hpp"
#include "webhooks/apply.hpp"
#include "webhooks/hooks.hpp"
#include "webhooks/reads.hpp"
#include "webhooks/receive.hpp"
#include "webhooks/replay.hpp"
#include "webhooks/secrets.hpp"

namespace tenure::webhooks {

/// Webhooks on a store: what routes, tasks and tests call. Every call returns at once; the callback
/// runs on the caller's executor (none: on a lane's thread) when the store has decided.
///
/// Any number of processes may run this on one store: what is remembered here, of bots and secrets,
/// decides nothing without a look into the store.
class Webhooks {
  Probe probe_;
  SnapshotCache bots_;
  SecretKeeper secrets_{probe_};
  HookNotes hooks_;
  FullTopics full_;

 public:
  Webhooks(db::Store& store, wake::Registry& wake, messages::Messages& messages,
           telemetry::Registry& metrics, const ReceiveOptions& options)
      : probe_(metrics),
        Receive(store, messages.topic_cache(), messages.process(), wake, bots_, full_, probe_,
                options),
        Replay(store, messages.topic_cache(), messages.process(), wake, bots_, full_, probe_,
               options),
        ReplayOnce(store, "webhooks.replay_once", Replay.handler(), ReplayAnswer,
                   db::LaneName::UserKeys()),
        Apply(store, messages.process(), wake),
        ListEvents(store, "webhooks.events"),
        Find(store, "webhooks.find"),
        Payload(store, "webhooks.payload"),
        InForce(store, "webhooks.bots"),
        Hooks(store, "webhooks.hooks"),
        TopicSizes(store, "webhooks.topic_sizes"),
        NoteHooksSeen(store, "webhooks.note_hooks", db::LaneName::Shared(0)),
        ForgetSomeDeliveries(store, "webhooks.forget_deliveries", db::LaneName::Shared(0)),
        ForgetSomeEvents(store, "webhooks.forget_events", db::LaneName::Shared(0)) {
    bots_.OnChange([this](const SnapshotPtr& bots) { secrets_.Read(*bots); });
  }

  db::Method<ReceiveHandler> Receive;
  db::Method<ReplayHandler> Replay;
  /// The same under an idempotency key.
  db::Method<db::IdempotentHandler<ReplayRequest, ReplayReply>> ReplayOnce;
  db::Method<ApplyHandler> Apply;
  db::List<QueueEvents, ReadEvent> ListEvents;
  db::Look<FindEvents> Find;
  db::Look<ReadPayloads> Payload;
  /// Whoever has it gives it to `bots`.
  db::Look<ReadInForce> InForce;
  db::Look<ReadHooks> Hooks;
  /// Whoever has them tells `full_topics`.
  db::Look<ReadTopicSizes> TopicSizes;
  /// What `hooks` has kept.
  db::Write<NoteHooks> NoteHooksSeen;

  /// One bounded batch of background work. The caller repeats while `has_more`.
  db::Sweep<ForgetDeliveries> ForgetSomeDeliveries;
  db::Sweep<ForgetEvents> ForgetSomeEvents;

  SnapshotCache& bots() { return bots_; }
  SecretKeeper& secrets() { return secrets_; }
  FullTopics& full_topics() { return full_; }
  HookNotes& hooks() { return hooks_; }
  Probe& probe() { return probe_; }
};

}  // namespace tenure::webhooks
