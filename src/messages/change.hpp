#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "db/transaction.hpp"
#include "messages/news.hpp"
#include "messages/topic.hpp"

namespace tenure::messages {

/// A message under lock, as far as reports and the reaper are concerned.
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
  bool is_buried = false;  ///< in this transaction

  bool IsHeldUnder(std::int64_t claim_fence) const {
    return lease_until_ms > 0 && fence == claim_fence;
  }
};

/// A message, and who says that it is his.
using MessageRef = std::pair<base::Uuid, std::string_view>;
/// A column each, ascending.
struct MessageColumns {
  explicit MessageColumns(const std::set<MessageRef>& messages);
  MessageRef At(std::size_t i) const { return {ids[i], tenants[i]}; }

  std::vector<base::Uuid> ids;
  std::vector<std::string_view> tenants;
};

/// Locks them; those that are not there, are another tenant's, or are locked by somebody else are
/// not in the result.
std::map<MessageRef, Held> LockMessages(db::Transaction& tx, const MessageColumns& wanted);

/// What is to become of messages that are locked, written in a few statements at the end.
///
/// REQUIRES: each message once.
class Changes {
 public:
  explicit Changes(std::string_view process) : process_(process) {}

  /// Nobody has it any more; ready at `due_ms`.
  void PutBack(const base::Uuid& id, const Held& message, std::int64_t due_ms, std::string error);
  void Bury(const base::Uuid& id, const Held& message, DeathReason reason, std::string error);
  void Extend(const base::Uuid& id, std::int64_t lease_until_ms);

  /// Queues everything; it goes out with COMMIT.
  void Apply(db::Transaction& tx, std::int64_t now_ms);
  /// For after COMMIT.
  const News& news() const { return news_; }

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
  std::vector<Back> back_;
  std::vector<Buried> buried_;
  std::vector<base::Uuid> extended_;
  std::vector<std::int64_t> until_;
  News news_;
};

}  // namespace tenure::messages
