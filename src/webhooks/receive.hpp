#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "db/operation.hpp"
#include "messages/enqueue/enqueue.hpp"
#include "messages/waiting/notifications.hpp"
#include "webhooks/delivery.hpp"
#include "webhooks/fan_out.hpp"
#include "webhooks/probe.hpp"
#include "webhooks/snapshot.hpp"

namespace tenure::webhooks {

struct ReceiveRequest {
  DeliveryPtr delivery{};

  /// The body lies in the connection's memory, which counts it (`webhooks.bytes_in_flight`). It is here
  /// for the batch's bounds, in which a larger one stands alone: a queue of large ones has room.
  std::size_t bytes() const {
    constexpr std::size_t kStandsAlone = 4 << 20;
    return delivery ? std::min(delivery->body.size(), kStandsAlone) : 0;
  }
};
struct ReceiveReply {
  enum class Kind {
    kStored,
    kNoSource,
    kJudgeAgain,  ///< its source is another one than when it was let in
  };
  Kind kind = Kind::kStored;
  base::Uuid event_id{};
  bool duplicate = false;
  std::int64_t messages = 0;
};

struct ReceiveOptions {
  std::int64_t dedup_ms = 8LL * 86'400'000;
  /// The largest payload that stands in a message itself.
  std::size_t inline_payload_bytes = 1024 * 1024;
};

/// What a transaction brought besides the replies.
struct ReceiveEffect {
  messages::EnqueueEffect sent{};
  messages::Notifications ordered{};     ///< of the ordered queues
  SnapshotPtr bots{};                    ///< newer ones than this process knew; null: it knew them
  std::vector<std::string> fallbacks{};  ///< the events that fell back, each as often as it did

  /// After COMMIT.
  void Publish(messages::TopicCache& topics, wake::Registry& wake, SnapshotCache& cache,
               Probe& probe) const {
    sent.Publish(topics, wake);
    ordered.Signal(wake);
    if (bots) cache.Put(bots);
    for (const std::string& event : fallbacks) probe.FellBack(event);
  }
};

/// Stores what arrived, once, and gives each bot that wants it its messages: delivery key, event and
/// all messages in one transaction (Q2).
///
/// Lock order: the bots lock (shared), delivery keys, messages of topics, and the ordered queues
/// last, whose counters nobody locks anything behind. A concurrent
/// repetition waits for the key's row and shares the fate of the first one: it finds its event when
/// that was committed, and takes its place when it was not.
///
/// What the bots are is read under the bots lock, in a later statement than the lock: an apply waits
/// for this transaction, or this one sees it. So no message is routed by two revisions, and none
/// by one that was not in force when it was committed. One that was let in by another source than
/// is in force then, by a secret that was taken away for one, is judged again.
class ReceiveHandler final : public db::TypedHandler<ReceiveRequest, ReceiveReply, ReceiveEffect> {
 public:
  ReceiveHandler(messages::TopicCache& topics, std::string_view process, wake::Registry& wake,
                 SnapshotCache& bots, const FullTopics& full, Probe& probe,
                 const ReceiveOptions& options)
      : topics_(topics),
        process_(process),
        wake_(wake),
        bots_(bots),
        full_(full),
        probe_(probe),
        options_(options) {}
  std::string_view name() const override { return "webhooks.receive"; }
  /// What one repository sends to a process is decided in the order in which it came.
  std::size_t KeyHash(const ReceiveRequest& request) const override;

 protected:
  ReceiveEffect WriteItems(db::Transaction& tx, Items items) override;
  void DoneItems(Items, const ReceiveEffect& effect) override {
    effect.Publish(topics_, wake_, bots_, probe_);
  }

 private:
  class Batch;

  messages::TopicCache& topics_;
  const std::string_view process_;
  wake::Registry& wake_;
  SnapshotCache& bots_;
  const FullTopics& full_;
  Probe& probe_;
  const ReceiveOptions options_;
};

}  // namespace tenure::webhooks
