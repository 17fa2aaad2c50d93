#include "audit/recorder.hpp"

#include <string_view>
#include <vector>

#include "audit_sql/queries.hpp"

namespace tenure::audit {

void Recorder::Record(db::Transaction& tx, std::span<const db::Act> acts) {
  std::vector<std::string_view> tenants, persons, addresses, request_ids, names, objects, details;
  for (const auto& [actor, deed] : acts) {
    tenants.push_back(actor->tenant);
    persons.push_back(actor->person);
    addresses.push_back(actor->address);
    request_ids.push_back(actor->request_id);
    names.push_back(actor->act);
    objects.push_back(deed->object);
    details.push_back(deed->detail);
  }
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  tx.Queue(sql::kAddEntries, now_ms, tenants, persons, addresses, request_ids, names, objects,
           details);
}

void Recorder::Recorded(std::span<const db::Act> acts) {
  for (const db::Act& act : acts) probe_.Recorded(act.actor->act);
}

}  // namespace tenure::audit
