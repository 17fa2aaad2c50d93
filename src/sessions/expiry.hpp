#pragma once

#include "db/operation.hpp"
#include "sessions/session.hpp"

namespace tenure::sessions {

/// How many rows one transaction of a background run touches: short enough not to hold up the lane
/// it shares with requests.
inline constexpr std::int64_t kBackgroundBatch = 500;

struct ExpireRequest {};
struct RemoveRequest {
  std::int64_t retention_ms = 0;
};

struct BackgroundReply {
  std::int64_t rows = 0;
  bool has_more = false;  ///< the batch was full
};

/// Marks a batch of overdue sessions.
class ExpireHandler final : public db::TypedHandler<ExpireRequest, BackgroundReply> {
 public:
  std::string_view name() const override { return "sessions.expire"; }

 protected:
  void WriteItems(db::Transaction& tx, Items items) override;
};

/// Deletes a batch of sessions that ended longer ago than the retention period and whose usage is
/// settled, and keys that are left without.
class RemoveHandler final : public db::TypedHandler<RemoveRequest, BackgroundReply> {
 public:
  std::string_view name() const override { return "sessions.remove"; }

 protected:
  void WriteItems(db::Transaction& tx, Items items) override;
};

}  // namespace tenure::sessions
