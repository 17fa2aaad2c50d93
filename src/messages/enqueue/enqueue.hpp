#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "db/operation.hpp"
#include "messages/message.hpp"
#include "messages/probe.hpp"
#include "messages/topics/topic_cache.hpp"
#include "messages/waiting/notifications.hpp"
#include "wake/registry.hpp"

namespace tenure::messages {

/// What enqueuing brought besides the messages.
struct EnqueueEffect {
  Notifications notifications{};
  std::vector<TopicCache::Known> opened{};  ///< topics that were not known to this process

  /// After COMMIT.
  void Publish(TopicCache& topic_cache, wake::Registry& wake) const {
    for (const TopicCache::Known& topic : opened) topic_cache.Learn(topic);
    notifications.Signal(wake);
  }
};

/// Puts messages into the transaction of somebody else: what another capability sends goes out when
/// and if its own change is committed (M1). Signal the notifications after COMMIT.
///
///   Enqueuer enqueuer(topic_cache, process);
///   auto sent = enqueuer.Add(tx, {&request});
///   … COMMIT …
///   enqueuer.effect().Publish(topic_cache, wake);
class Enqueuer {
 public:
  Enqueuer(TopicCache& topic_cache, std::string_view process)
      : topic_cache_(topic_cache), process_(process) {}

  /// REQUIRES: once per transaction; the locks that the caller takes on its own come before.
  std::vector<EnqueueReply> Add(db::Transaction& tx,
                                std::span<const EnqueueRequest* const> requests);
  /// For after COMMIT.
  const EnqueueEffect& effect() const { return effect_; }

 private:
  struct Arrival;
  using TopicName = std::pair<std::string_view, std::string_view>;  // tenant, topic
  void OpenTopics(db::Transaction& tx, std::span<const EnqueueRequest* const> requests);
  bool StillKnown() const;
  void FindDuplicates(db::Transaction& tx, std::vector<Arrival>& arrivals, std::int64_t now_ms);
  void Insert(db::Transaction& tx, const std::vector<Arrival>& arrivals, std::int64_t now_ms);

  TopicCache& topic_cache_;
  const std::string_view process_;
  std::map<TopicName, std::int64_t> topic_ids_;
  std::map<TopicName, std::int64_t> remembered_;  // of them those that are from memory: lines' bits
  EnqueueEffect effect_;
};

/// A handler whose transactions also enqueue.
template <class Request, class Reply>
class EnqueuingHandler : public db::TypedHandler<Request, Reply, EnqueueEffect> {
 public:
  using Items = typename db::TypedHandler<Request, Reply, EnqueueEffect>::Items;
  EnqueuingHandler(TopicCache& topic_cache, std::string_view process, wake::Registry& wake)
      : topic_cache_(topic_cache), process_(process), wake_(wake) {}

 protected:
  void DoneItems(Items, const EnqueueEffect& effect) override {
    effect.Publish(topic_cache_, wake_);
  }

  TopicCache& topic_cache_;
  const std::string_view process_;
  wake::Registry& wake_;
};

/// All enqueues that wait, in one transaction.
class EnqueueHandler final : public EnqueuingHandler<EnqueueRequest, EnqueueReply> {
 public:
  EnqueueHandler(std::string_view name, db::LaneName lane, TopicCache& topic_cache,
                 std::string_view process, wake::Registry& wake, Probe& probe)
      : EnqueuingHandler(topic_cache, process, wake), name_(name), lane_(lane), probe_(probe) {}
  std::string_view name() const override { return name_; }
  db::LaneName lane() const override { return lane_; }
  /// A topic stays with its lane, so what one process puts into it is committed in the order in
  /// which it came. (Somebody else's may commit in between: topic_cache.hpp, 2.)
  std::size_t KeyHash(const EnqueueRequest& request) const override {
    return request.messages.empty()
               ? 0
               : topic_cache_.TurnOf(request.tenant, request.messages.front().topic);
  }

 protected:
  EnqueueEffect WriteItems(db::Transaction& tx, Items items) override;
  void DoneItems(Items items, const EnqueueEffect& effect) override;

 private:
  const std::string_view name_;
  const db::LaneName lane_;
  Probe& probe_;
};

}  // namespace tenure::messages
