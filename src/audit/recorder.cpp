#include "audit/recorder.hpp"

#include "audit_sql/queries.hpp"

namespace tenure::audit {

void Recorder::Record(db::Transaction& tx, std::span<const db::Act> acts) {
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  tx.Queue(
      sql::kAddEntries, now_ms,
      db::Columns(acts,
                  db::Inside(&db::Act::actor, &base::Actor::tenant, &base::Actor::person,
                             &base::Actor::address, &base::Actor::request_id, &base::Actor::act),
                  db::Inside(&db::Act::event, &db::AuditEvent::object, &db::AuditEvent::detail)));
}

void Recorder::Recorded(std::span<const db::Act> acts) {
  for (const db::Act& act : acts) probe_.Recorded(act.actor->act);
}

}  // namespace tenure::audit
