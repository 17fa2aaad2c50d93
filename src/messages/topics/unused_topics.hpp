#pragma once

#include "db/operation.hpp"
#include "db/sweep.hpp"

/// Topics that nobody uses go, so that a program which makes up names does not fill the store.
///
/// A plain DELETE would lose messages. A user's own transaction (tenure.enqueue) reads a topic's
/// number without a lock, and may insert and commit minutes later; a process remembers numbers
/// (topic_cache.hpp). So it takes two steps, and the second one minutes after the first:
///
///  1. A topic that has been empty, and that nobody has asked for or changed, for `retention_ms` is
///     closed: no line of it may be used. Whoever sends to it then must open it: a user's transaction
///     puts its message aside (0012_bounds.sql), a server takes the row's lock (open_topics.sql).
///     What had seen it open may still put something in; then it is opened again.
///  2. A topic that has stayed closed and empty for kClosedMs is deleted when all who may have seen
///     it open are gone: processes have forgotten it (TopicCache::kValidMs), a server's transaction
///     does not live that long (idle_in_transaction_session_timeout, statement_timeout), and of
///     users' transactions none is left that began before `closed_xid` was noted, which was after
///     the closing was committed. tenure.put_message takes its transaction's number before it reads
///     the topic, so it counts among them.
///
/// On SQLite transactions follow one another, and only the memory of processes is waited for.
namespace tenure::messages {

struct UnusedTopicsRequest {
  std::int64_t retention_ms = 30LL * 86'400'000;
  std::int64_t closed_ms = 600'000;  ///< between the steps; tests know what they do
};
/// One bounded batch of both steps.
db::Swept SweepUnusedTopics(db::Transaction& tx, const UnusedTopicsRequest& request,
                            std::int64_t now_ms);

}  // namespace tenure::messages
