#pragma once

#include <optional>
#include <vector>

#include "db/method.hpp"
#include "seats/seat.hpp"

namespace tenure::seats {

// Background work. Nothing that is decided depends on it: a lapsed seat is to be had at once, and a dead
// ticket is passed over; it only writes what has happened, and forgets.

struct DueRequest {
  base::Uuid after{};
};
struct DueReply {
  std::vector<base::Uuid>
      licenses{};  ///< in which something may have lapsed, in the order of their ids
  std::int64_t now_ms = 0;
};
void FindDue(db::Transaction& tx, db::Items<DueRequest, DueReply> items);

struct OldestLook {
  std::optional<std::int64_t> look_ms{};  ///< nothing: there is no licence
  std::int64_t now_ms = 0;
};
OldestLook ReadOldestLook(db::Transaction& tx, std::int64_t now_ms);

struct ForgetTicketsRequest {};
db::Swept ForgetTickets(db::Transaction& tx, const ForgetTicketsRequest& request,
                        std::int64_t now_ms);

/// The logs of a page of licences, as the retention sees them.
struct LogEndsRequest {
  base::Uuid after{};
  std::int64_t retention_ms = 0;
};
struct LogEnd {
  base::Uuid license{};
  std::int64_t base = 0;
  std::int64_t base_ms = 0;                      ///< when it was written
  std::optional<std::int64_t> checkpoint_ms{};   ///< when the last checkpoint was
  std::optional<std::int64_t> old_checkpoint{};  ///< the last one that is older than the retention
};
struct LogEndsReply {
  std::vector<LogEnd> ends{};
  std::int64_t now_ms = 0;
};
void FindLogEnds(db::Transaction& tx, db::Items<LogEndsRequest, LogEndsReply> items);

/// Makes a checkpoint the base of a log, and removes a batch of what lies before it.
struct ForgetLogRequest {
  base::Uuid license{};
  std::int64_t base = 0;
};
db::Swept ForgetLog(db::Transaction& tx, const ForgetLogRequest& request, std::int64_t now_ms);

/// How often checkpoints are written where logs have a retention: a log can be checked from its base on,
/// and everything younger than the retention is behind it. So entries go when they are older than the
/// retention, at most so much later.
std::int64_t CheckpointIntervalMs(std::int64_t retention_ms);

}  // namespace tenure::seats
