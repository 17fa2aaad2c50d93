#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "db/operation.hpp"
#include "messages/message.hpp"
#include "wake/registry.hpp"

namespace tenure::messages {

/// What a transaction brought for those who wait: topics with messages that became ready, and that
/// something waits for its time. Other processes are told inside of the transaction, this one after
/// COMMIT.
class Notifications {
 public:
  /// A message that is ready at `due_ms`.
  void Add(std::string_view tenant, std::string_view topic, std::int64_t due_ms,
           std::int64_t now_ms);

  /// Queues the notification of other processes, for those topics that one of them waits for.
  void Tell(db::Transaction& tx, std::string_view process, std::int64_t now_ms) const;
  /// After COMMIT.
  void Signal(wake::Registry& wake) const;

 private:
  std::set<std::pair<std::string, std::string>> topics_;  // tenant, topic
  bool timers_ = false;                                   // something waits for its time
  bool soon_ = false;                                     // and it comes soon
};

/// A handler whose transactions bring something for those who wait.
template <class Request, class Reply>
class NotifyingHandler : public db::TypedHandler<Request, Reply, Notifications> {
 public:
  using Items = typename db::TypedHandler<Request, Reply, Notifications>::Items;
  NotifyingHandler(std::string_view process, wake::Registry& wake)
      : process_(process), wake_(wake) {}

 protected:
  void DoneItems(Items, const Notifications& notifications) override {
    notifications.Signal(wake_);
  }

  const std::string_view process_;
  wake::Registry& wake_;
};

using TopicKey = std::pair<std::string, std::string>;  ///< tenant, topic
inline constexpr auto kTopicColumns = db::Members(&TopicKey::first, &TopicKey::second);

/// A process says which topics it wants to be told of, or looks which transactions are under way.
///
/// The trap (docs/ground.md, Waiting): a producer that looked before the flag was committed tells
/// nobody, and commits after the consumer looked. So, once its flag is committed, a consumer takes
/// `xmax` of a snapshot: every producer that may have missed the flag has a lower number. It goes on
/// looking every few milliseconds until `xmin` has reached that: then all of them have ended, and
/// what they brought is there to be seen. Whoever comes later sees the flag.
struct WatchRequest {
  std::vector<TopicKey> watch{};  ///< flags that are set, or live on
  std::vector<TopicKey> leave{};  ///< flags that are taken back
  std::int64_t for_ms = 0;

  std::size_t bytes() const { return db::BytesOf(watch, leave); }
};
struct WatchReply {
  std::int64_t xmin = 0;  ///< with nothing to set or take back; 0 where nobody else commits
  std::int64_t xmax = 0;
};
class WatchHandler final : public db::TypedHandler<WatchRequest, WatchReply> {
 public:
  explicit WatchHandler(std::string_view process) : process_(process) {}
  std::string_view name() const override { return "messages.watch"; }
  db::LaneName lane() const override { return kSettleLane; }
  bool reads() const override { return true; }

 protected:
  void ReadItems(db::Transaction& tx, Items items) override;
  void WriteItems(db::Transaction& tx, Items items) override;

 private:
  const std::string_view process_;
};

}  // namespace tenure::messages
