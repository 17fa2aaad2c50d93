#include "messages/topics/unused_topics.hpp"

#include "messages_sql/queries.hpp"

namespace tenure::messages {

db::Swept SweepUnusedTopics(db::Transaction& tx, const UnusedTopicsRequest& request,
                            std::int64_t now_ms) {
  db::Swept swept;
  // From the end to the beginning: no topic takes two steps in one transaction.
  swept.Add(tx.Run(sql::kReopenTopics, db::kSweepRows).size());
  swept.Add(tx.Run(sql::kDeleteTopics, now_ms - request.closed_ms, db::kSweepRows).size());
  tx.Run(sql::kNoteClosedTopics, db::kSweepRows);
  const db::Rows looked_at =
      tx.Run(sql::kCloseTopics, now_ms, now_ms - request.retention_ms, db::kSweepRows);
  for (const auto row : looked_at) swept.rows += row.Int(0);
  const std::size_t noted = tx.Run(sql::kNoteIdleTopics, now_ms, db::kSweepRows).size();
  swept.has_more |= db::Swept().Add(looked_at.size()).has_more || db::Swept().Add(noted).has_more;
  return swept;
}

}  // namespace tenure::messages
