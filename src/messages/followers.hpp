#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/uuid.hpp"
#include "db/transaction.hpp"
#include "messages/waiting/notifications.hpp"

namespace tenure::messages {

/// A message whose headers begin with this is followed: who wrote it is told in the transaction that
/// ends it, puts it back, or redrives it. (lock_messages.sql and its like compare with the same
/// text.) Anybody may send such headers: a follower asks its own tables whether the message is its.
inline constexpr std::string_view kFollowedHeaders = R"({"tenure-job")";

/// How a followed message ended.
struct EndedMessage {
  base::Uuid id{};
  bool dead = false;  ///< else acknowledged
  std::int64_t claimed_ms = 0;
  std::int64_t worker = 0;
  std::int64_t attempts = 0;
  std::int64_t crashes = 0;
  std::string output{};
  std::string error{};
};

/// A followed message that was begun, and goes back into its line.
struct ReturnedMessage {
  base::Uuid id{};
  std::int64_t claimed_ms = 0;  ///< the claim that is over
};

/// Who follows messages. Messages know nothing else of it; a message that is not followed costs it
/// nothing. `tenure.acknowledge` tells it, too (db/migrations/postgres/0014_jobs.sql).
///
/// The calls come from inside of a transaction that holds the messages' locks. They must wait for
/// nobody who waits for messages, and wake whom they make something ready for by `notifications`.
class Follower {
 public:
  virtual ~Follower() = default;
  virtual void Ended(db::Transaction& tx, std::span<const EndedMessage> ended, std::int64_t now_ms,
                     Notifications& notifications) = 0;
  /// To be tried again, after a failure or a crash. What is given back untouched is not among them.
  virtual void Returned(db::Transaction& tx, std::span<const ReturnedMessage> returned) = 0;
  /// Dead ones that are to be done after all.
  virtual void Revived(db::Transaction& tx, const std::vector<base::Uuid>& ids) = 0;
};

/// Where the follower stands. REQUIRES: set before the first operation.
struct FollowerSlot {
  Follower* follower = nullptr;

  void Ended(db::Transaction& tx, std::span<const EndedMessage> ended, std::int64_t now_ms,
             Notifications& notifications) const {
    if (follower && !ended.empty()) follower->Ended(tx, ended, now_ms, notifications);
  }
  void Returned(db::Transaction& tx, std::span<const ReturnedMessage> returned) const {
    if (follower && !returned.empty()) follower->Returned(tx, returned);
  }
  void Revived(db::Transaction& tx, const std::vector<base::Uuid>& ids) const {
    if (follower && !ids.empty()) follower->Revived(tx, ids);
  }
};

// What a follower may do with messages that nobody has claimed yet.

/// A message that waits for its follower's word and for nothing else is due then.
inline constexpr std::int64_t kWaitsForFollowerMs = 253'402'300'799'999;  // kLastDueMs
/// Those that wait so are ready.
void MakeReady(db::Transaction& tx, const std::vector<base::Uuid>& ids, std::int64_t now_ms,
               Notifications& notifications);
/// Takes those back that are in nobody's hands; returns which. One that another transaction has
/// locked stays.
std::vector<base::Uuid> Withdraw(db::Transaction& tx, const std::vector<base::Uuid>& ids);

}  // namespace tenure::messages
