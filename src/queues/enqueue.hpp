#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "db/method.hpp"
#include "messages/enqueue/enqueue.hpp"
#include "queues/batch.hpp"
#include "queues/message.hpp"
#include "wake/registry.hpp"

namespace tenure::queues {

/// Puts messages into the sessions of ordered queues, in the transaction of somebody else.
///
/// Why the order is that of the commits (Q1): the session's row is locked, the next statement reads
/// `next`, and the lock lasts until the commit is over. So numbers follow commits, a rollback leaves
/// no gap, and whoever reads sees a prefix. Of two transactions that send to several sessions each
/// locks them in ascending order.
///
/// The bots lock is held, shared, before the queues are read: nothing enters a generation that an
/// apply has closed meanwhile.
class Enqueuer {
 public:
  explicit Enqueuer(std::string_view process) : batch_(process) {}

  /// REQUIRES: once per transaction, and the last thing in it: the counters are its last locks. Of
  /// the caller's own locks come before: idempotency names, webhook keys.
  std::vector<SendReply> Add(db::Transaction& tx, std::span<const SendRequest* const> requests);
  /// Puts in what users' transactions sent to a queue (tenure.queue_send), as far as a transaction
  /// should hold it. Of one that keeps no order any more it goes to the topic, by `to_topic`.
  /// REQUIRES: as Add, and instead of it.
  void Drain(db::Transaction& tx, const std::string& tenant, const std::string& queue,
             messages::Enqueuer& to_topic);
  /// For after COMMIT.
  const messages::Notifications& notifications() const { return effects().notifications; }
  const Effects& effects() const { return batch_.effects(); }

 private:
  using QueueName = std::pair<std::string, std::string>;  // tenant, name
  using DedupKey = std::pair<std::int64_t, std::string>;  // queue, key
  struct Known {
    base::Uuid id{};
    base::Uuid session{};
    std::int64_t sequence = 0;
    std::int64_t expires_ms = 0;
    bool is_new = false;
  };

  struct Staged {
    base::Uuid id{};
    NewMessage message{};
  };

  void LoadQueues(db::Transaction& tx, std::span<const SendRequest* const> requests);
  /// Why nothing of it is taken, if that is so.
  SendReply::Kind KindOf(const SendRequest& request) const;
  void LockAndLoad(db::Transaction& tx, std::span<const SendRequest* const> requests);
  void LoadKeys(db::Transaction& tx, const std::set<DedupKey>& keys);
  /// What was sent by users' transactions to the sessions that are locked goes in before anything
  /// else. A dedup key among it is locked only now, out of the usual order: two transactions that
  /// do so the other way round are a deadlock for the store, which ends one, and its lane runs it
  /// again.
  void EnterStaged(db::Transaction& tx);
  SendReply Put(const SendRequest& request);
  SentMessage PutOne(const QueueRow& queue, const NewMessage& message, const base::Uuid& id);
  void WriteKeys(db::Transaction& tx);

  Batch batch_;
  std::map<QueueName, QueueRow> queues_;
  std::map<std::int64_t, std::int64_t> bytes_;  // of queues with a limit
  std::map<DedupKey, Known> keys_;
  std::map<base::Uuid, std::vector<Staged>> staged_;  // by session
  std::int64_t now_ms_ = 0;
};

/// All sends that wait, in one transaction.
class SendHandler final : public ChangingHandler<SendRequest, SendReply> {
 public:
  using ChangingHandler::ChangingHandler;
  std::string_view name() const override { return "queues.send"; }
  std::size_t KeyHash(const SendRequest& request) const override {
    return std::hash<std::string>()(request.messages.empty() ? request.queue
                                                             : request.messages.front().key);
  }

 protected:
  Effects WriteItems(db::Transaction& tx, Items items) override;
};

/// What users' transactions sent to a queue enters it: before an accept looks.
struct DrainRequest {
  std::string tenant{};
  std::string queue{};

  std::size_t bytes() const { return db::BytesOf(tenant, queue); }
};
struct DrainReply {};
struct DrainEffects {
  Effects sessions{};
  messages::EnqueueEffect topic{};
};
class DrainHandler final : public db::TypedHandler<DrainRequest, DrainReply, DrainEffects> {
 public:
  DrainHandler(messages::TopicCache& topic_cache, Probe* probe, std::string_view process,
               wake::Registry& wake)
      : topic_cache_(topic_cache), probe_(probe), process_(process), wake_(wake) {}
  std::string_view name() const override { return "queues.drain"; }
  std::size_t KeyHash(const DrainRequest& request) const override {
    return std::hash<std::string>()(request.queue);
  }

 protected:
  /// One queue in a transaction.
  DrainEffects WriteItems(db::Transaction& tx, Items items) override;
  void DoneItems(Items items, const DrainEffects& effects) override;

 private:
  messages::TopicCache& topic_cache_;
  Probe* const probe_;
  const std::string_view process_;
  wake::Registry& wake_;
};

struct StagedReply {
  bool any = false;
};
/// Whether there is anything to drain.
void FindStaged(db::Transaction& tx, db::Items<DrainRequest, StagedReply> items);

}  // namespace tenure::queues
