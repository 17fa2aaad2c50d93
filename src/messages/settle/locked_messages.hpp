#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "db/evidence.hpp"
#include "db/keys.hpp"
#include "db/transaction.hpp"
#include "messages/followers.hpp"
#include "messages/message.hpp"
#include "messages/topics/topic_row.hpp"
#include "messages/waiting/notifications.hpp"

namespace tenure::messages {

/// A message under lock, as far as settlements and the reaper are concerned.
struct Held {
  std::int64_t fence = 0;
  std::int64_t lease_until_ms = 0;  ///< 0: nobody has it
  std::int64_t worker = 0;
  std::int64_t line = 0;
  std::int64_t attempts = 0;
  std::int64_t crashes = 0;
  std::int64_t claimed_ms = 0;
  std::int64_t enqueued_ms = 0;
  std::string trace{};
  std::string tenant{};
  std::string topic_name{};
  TopicRow topic{};
  bool is_followed = false;  ///< followers.hpp
  bool is_buried = false;    ///< in this transaction

  bool IsHeldUnder(std::int64_t claim_fence) const {
    return lease_until_ms > 0 && fence == claim_fence;
  }
};

/// A message, and who says that it is his.
using MessageRef = std::pair<base::Uuid, std::string_view>;
inline constexpr auto kMessageRefColumns = db::Members(&MessageRef::first, &MessageRef::second);
using MessageRefs = db::UniqueKeys<MessageRef>;

/// Locks them; those that are not there, are another tenant's, or are locked by somebody else are
/// not in the result.
std::map<MessageRef, Held> LockMessages(db::Transaction& tx, const MessageRefs& wanted);
/// Those that are not in the result.
MessageRefs MissingIn(const std::map<MessageRef, Held>& held, const MessageRefs& wanted);

/// For those who wait: all that they ask for is locked by this transaction, or not there.
void AwaitMessages(db::Transaction& tx, const MessageRefs& wanted);

/// What the store says of a message that is not in the hands of whoever settles it.
struct Whereabouts {
  std::int64_t fence = 0;
  std::int64_t lease_until_ms = 0;  ///< -1: it is dead
  DeathReason reason = DeathReason::kFailed;

  SettleOutcome For(std::int64_t claim_fence) const;
};
using WhereaboutsOf = std::map<MessageRef, Whereabouts>;

/// Those that are neither to be done nor dead are not in the result.
WhereaboutsOf LoadWhereabouts(db::Transaction& tx, const MessageRefs& wanted);

/// What whoever settles is told of a message that was not to be had: it is not there, it is in
/// other hands, or it is in these and was passed over, because some transaction has it locked.
SettleOutcome OutcomeFor(const WhereaboutsOf& whereabouts, const MessageRef& message,
                         std::int64_t claim_fence);
/// Of a message that is under a lower fence than whoever settles it names.
void LookForEvidence(db::ForgottenEvidence& evidence, const MessageRef& message,
                     std::int64_t claim_fence, std::int64_t fence);

/// What is to become of messages that are locked, written in a few statements at the end.
///
/// REQUIRES: each message once.
class Changes {
 public:
  Changes(std::string_view process, const FollowerSlot& followers)
      : process_(process), followers_(followers) {}

  /// Nobody has it any more; ready at `due_ms`.
  void PutBack(const base::Uuid& id, const Held& message, std::int64_t due_ms, std::string error);
  void Bury(const base::Uuid& id, const Held& message, DeathReason reason, std::string error);
  void Extend(const base::Uuid& id, std::int64_t lease_until_ms);

  /// Queues everything; it goes out with COMMIT.
  void Apply(db::Transaction& tx, std::int64_t now_ms);
  /// For after COMMIT.
  const Notifications& notifications() const { return notifications_; }

 private:
  struct Back {
    base::Uuid id{};
    const Held* message = nullptr;
    std::int64_t due_ms = 0;
    std::string error{};
  };
  struct Buried {
    base::Uuid id{};
    const Held* message = nullptr;
    DeathReason reason = DeathReason::kFailed;
    std::string error{};
  };

  const std::string_view process_;
  const FollowerSlot& followers_;
  std::vector<Back> back_;
  std::vector<Buried> buried_;
  struct Extended {
    base::Uuid id{};
    std::int64_t lease_until_ms = 0;
  };
  std::vector<Extended> extended_;
  Notifications notifications_;
};

}  // namespace tenure::messages
