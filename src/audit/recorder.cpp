#include "audit/recorder.hpp"

#include <string>
#include <vector>

#include "audit_sql/queries.hpp"
#include "base/json_view.hpp"
#include "base/json_writer.hpp"

namespace tenure::audit {

namespace {

/// The event's detail, with why it was done where nothing else says so.
std::string DetailOf(const db::Act& act) {
  const std::string& detail = act.event->detail;
  if (act.actor->reason.empty()) return detail;
  const auto told = base::JsonView::Parse(detail);
  if (told && told->Find("reason")) return detail;
  std::string reason;
  base::JsonWriter(reason).BeginObject().Field("reason", std::string_view(act.actor->reason));
  if (!told || detail.size() <= 2) return reason + "}";
  return reason + "," + detail.substr(1);
}

}  // namespace

void Recorder::Record(db::Transaction& tx, std::span<const db::Act> acts) {
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  std::vector<std::string> details;
  details.reserve(acts.size());
  for (const db::Act& act : acts) details.push_back(DetailOf(act));
  tx.Queue(
      sql::kAddEntries, now_ms,
      db::Columns(acts,
                  db::Inside(&db::Act::actor, &base::Actor::tenant, &base::Actor::person,
                             &base::Actor::address, &base::Actor::request_id, &base::Actor::act),
                  db::Inside(&db::Act::event, &db::AuditEvent::object)),
      details);
}

void Recorder::Recorded(std::span<const db::Act> acts) {
  for (const db::Act& act : acts) probe_.Recorded(act.actor->act);
}

}  // namespace tenure::audit
