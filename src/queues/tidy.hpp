#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "db/method.hpp"
#include "queues/enqueue.hpp"

/// What a reliable task does for all processes: history ends, sessions that nobody uses go, queues
/// of bots that were removed are dropped when they are empty.
namespace tenure::queues {

/// A part of the sessions, in the order of their ids.
struct TidyRequest {
  base::Uuid after{};
  std::int64_t session_retention_ms = 30LL * 86'400'000;
};
struct TidyReply {
  std::int64_t messages = 0;  ///< whose history is over
  std::int64_t sessions = 0;  ///< that are gone
  bool has_more = false;      ///< sessions follow behind `last`
  base::Uuid last{};          ///< where it goes on
};
void TidySessions(db::Transaction& tx, db::Items<TidyRequest, TidyReply> items);

/// Dedup keys and replayed letters whose time is over.
struct ForgetRequest {
  std::int64_t letters_ms = 90LL * 86'400'000;
};
db::Swept ForgetKeys(db::Transaction& tx, const ForgetRequest& request, std::int64_t now_ms);

/// Queues whose bots were removed, and that are empty.
struct DropRequest {};
db::Swept DropDrained(db::Transaction& tx, const DropRequest& request, std::int64_t now_ms);

/// Where something waits that users' transactions sent.
struct DrainsReply {
  std::vector<DrainRequest> queues{};
};
DrainsReply FindDrains(db::Transaction& tx, std::int64_t now_ms);

/// What a queue has, for gauges.
struct QueueFigures {
  std::string tenant{};
  std::string name{};
  Scope scope = Scope::kNone;
  std::int64_t max_sessions = 0;
  std::int64_t depth_threshold = 0;
  std::int64_t messages = 0;
  std::int64_t bytes = 0;
  std::int64_t ready = 0;
  std::int64_t held = 0;
  std::int64_t parked = 0;
  std::int64_t oldest_ms = 0;
  std::int64_t max_bytes = 0;
  std::int64_t older_parked =
      0;                    ///< sessions of an older generation, which the newer one waits for
  std::int64_t staged = 0;  ///< of users' transactions, not yet in their sessions
};
struct FiguresReply {
  std::vector<QueueFigures> queues{};
  std::int64_t now_ms = 0;
};
FiguresReply CountQueues(db::Transaction& tx, std::int64_t now_ms);

}  // namespace tenure::queues
