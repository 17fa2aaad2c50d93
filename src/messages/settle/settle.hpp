#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/random_bits.hpp"
#include "db/evidence.hpp"
#include "db/operation.hpp"
#include "messages/followers.hpp"
#include "messages/message.hpp"
#include "messages/probe.hpp"
#include "messages/topics/topic_cache.hpp"
#include "messages/waiting/notifications.hpp"
#include "wake/registry.hpp"

namespace tenure::messages {

/// What was done with a message that somebody had in his hands, for metrics and traces.
struct Finished {
  std::string topic{};
  std::int64_t claimed_ms = 0;
  std::int64_t enqueued_ms = 0;
  std::int64_t attempts = 0;
  std::string trace{};
};

/// What became of settlements.
struct SettleResult {
  SettleReply reply;
  std::vector<Finished> finished{};  ///< of those that have left the holder's hands
  std::int64_t now_ms = 0;
  SettleRequest passed_over{};  ///< those with the outcome kPassedOver, to be asked again
};

/// What to do about a message that some transaction has locked.
enum class Locked {
  kPassOver,  ///< leave it out, so that nobody else waits
  kAwait,     ///< wait a moment for that transaction; then kContended
};

inline db::Access AccessFor(Locked locked) {
  return locked == Locked::kAwait ? db::Access::kImpatientWrite : db::Access::kWrite;
}

/// Adds to an answer; what was passed over is noted, to be asked again. Whoever waited for the lock
/// has it: one who is passed over all the same named a fence that was given out meanwhile
/// (kContended).
void AddOutcome(SettleOutcome outcome, Locked locked, const SettleRequest& request,
                const Settlement& settlement, SettleResult& result);

/// Only the lane of keys may wait.
inline db::LaneName LaneFor(Locked locked) {
  return locked == Locked::kAwait ? db::LaneName::UserKeys() : kSettleLane;
}
inline std::size_t KeyHashOf(const SettleRequest& request) {
  return request.settlements.empty() ? 0 : base::RandomBitsOf(request.settlements.front().id);
}

/// What acknowledgements brought besides their answers.
struct AcknowledgeEffect {
  std::vector<TopicCache::Known> used{};  ///< topics that were not known to be in use
  Notifications notifications{};          ///< of what a follower made ready
};

/// Acknowledges all that wait to be.
///
/// M2: the delete names the fence of the claim that is under way. Ack, retry and reap of one
/// message meet at its row lock; whoever comes second finds another state, and says so.
///
/// On PostgreSQL one statement for all is enough when they are of one tenant and of topics that
/// this process knows (finish_known.sql); what that did not find is asked for once more, message by
/// message (finish_messages.sql). Each of the two compares tenant, id and fence under the row's
/// lock, so it does not matter which of them finds a message, nor what happens in between. Each
/// locks in ascending order, both together do not: if the same messages are acknowledged in two
/// processes at once of which each knows what the other does not, PostgreSQL may end one of the
/// transactions, and the lane runs it again.
class AcknowledgeHandler final
    : public db::TypedHandler<SettleRequest, SettleResult, AcknowledgeEffect> {
 public:
  /// What ended messages have to do with others.
  struct Parts {
    std::string_view process;
    wake::Registry& wake;
    const FollowerSlot& followers;
  };
  AcknowledgeHandler(std::string_view name, Locked locked, const Parts& parts,
                     TopicCache& topic_cache, Probe& probe, db::ForgottenEvidence& evidence)
      : name_(name),
        locked_(locked),
        parts_(parts),
        topic_cache_(topic_cache),
        probe_(probe),
        evidence_(evidence) {}
  std::string_view name() const override { return name_; }
  db::LaneName lane() const override { return LaneFor(locked_); }
  std::size_t KeyHash(const SettleRequest& request) const override { return KeyHashOf(request); }
  db::Access access() const override { return AccessFor(locked_); }

 protected:
  AcknowledgeEffect WriteItems(db::Transaction& tx, Items items) override;
  void DoneItems(Items items, const AcknowledgeEffect& effect) override;

 private:
  const std::string_view name_;
  const Locked locked_;
  const Parts parts_;
  TopicCache& topic_cache_;
  Probe& probe_;
  db::ForgottenEvidence& evidence_;
};

/// Everything else that a holder says: retry, dead, untouched, extend. Lock, load, decide in order
/// of arrival, apply.
class SettleHandler final : public NotifyingHandler<SettleRequest, SettleResult> {
 public:
  SettleHandler(std::string_view name, Locked locked, std::string_view process,
                wake::Registry& wake, const FollowerSlot& followers, Probe& probe,
                db::ForgottenEvidence& evidence)
      : NotifyingHandler(process, wake),
        name_(name),
        locked_(locked),
        followers_(followers),
        probe_(probe),
        evidence_(evidence) {}
  std::string_view name() const override { return name_; }
  db::LaneName lane() const override { return LaneFor(locked_); }
  std::size_t KeyHash(const SettleRequest& request) const override { return KeyHashOf(request); }
  db::Access access() const override { return AccessFor(locked_); }

 protected:
  Notifications WriteItems(db::Transaction& tx, Items items) override;
  void DoneItems(Items items, const Notifications& notifications) override;

 private:
  const std::string_view name_;
  const Locked locked_;
  const FollowerSlot& followers_;
  Probe& probe_;
  db::ForgottenEvidence& evidence_;
};

}  // namespace tenure::messages
